// Imports of links: the file is read at once, checked without changes, and then created in charged slices. Each slice is one
// transaction with its charge and the results of its rows, so every row is created and paid once, whatever is killed when.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { decodeFile, readCsv } from '../../../contract/csv-reader.ts'
import { importLimits } from '../../../contract/link-import.ts'
import { shortlink } from '../../../contract/shortlink.ts'
import { dayMs } from '../../../contract/time.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { isStorableText } from '../../../contract/values.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { findById } from '../../accounts/store.ts'
import { AppError } from '../../http/errors.ts'
import { type InvalidParameter, problemTexts } from '../../http/parameters.ts'
import type { Services } from '../../services.ts'
import type { CheckedLink, LinkInput, Links } from '../links.ts'
import type { Lookup, Pools } from '../redirect/lookup-store.ts'
import { findColumns, type ImportInput } from './columns.ts'
import {
  claimImport,
  deleteImport,
  endCheck,
  findImport,
  findOldImports,
  type Import,
  type ImportRow,
  insertImport,
  insertImportRows,
  listImports,
  listRows,
  moveImport,
  type NewImportRow,
  recordSlice,
  releaseLease,
  renewLease,
  type RowResult,
  SliceLost,
} from './store.ts'

export interface ImportOptions {
  /** Codes of the file, or new ones. */
  readonly codes: 'keep' | 'new'
  /** Added to every link. */
  readonly tag: string
  readonly language: Language
}

export interface ImportFile {
  readonly name: string
  readonly bytes: Buffer
}

export interface Imports {
  /** Stores the rows of the file for the dry run. */
  upload(accountId: number, file: ImportFile, options: ImportOptions): Promise<number>
  start(accountId: number, id: number): Promise<void>
  cancel(accountId: number, id: number): Promise<void>
  /** Works on imports that no other process works on, until there are none. */
  work(signal: AbortSignal): Promise<void>
  deleteOld(signal: AbortSignal): Promise<void>
}

const rowsPerWrite = 500
const leaseMs = 15_000

export function createImports(
  services: Pick<Services, 'db' | 'credits' | 'config' | 'log'>,
  links: Links,
  lookup: Lookup,
): Imports {
  const { db, credits, config } = services

  async function checkSlice(one: Import, rows: readonly ImportRow[], pools: Pools): Promise<RowResult[]> {
    const ready = rows.filter(({ state }) => state === 'ready')
    const checked = ready.map((row) => links.check(toLinkInput(one, row), pools))
    const conflicts = await links.findConflicts(one.account_id, checked)
    const { language } = readOptions(one)
    return ready.flatMap(({ row_index: rowIndex }, index) => {
      const problem = describeProblems([...checked[index]!.problems, ...conflicts[index]!], language)
      return problem === '' ? [] : [{ rowIndex, state: 'invalid' as const, problem, linkId: null }]
    })
  }

  /** Returns why the import has to wait, if it does. */
  async function createSlice(
    one: Import,
    rows: readonly ImportRow[],
    to: number,
    pools: Pools,
  ): Promise<string | undefined> {
    const problems = new Map((await checkSlice(one, rows, pools)).map((row) => [row.rowIndex, row.problem]))
    const failed = [...problems].map(([rowIndex, problem]) => ({
      rowIndex,
      state: 'failed' as const,
      problem,
      linkId: null,
    }))
    const good = rows.filter((row) => row.state === 'ready' && !problems.has(row.row_index))
    const progress = { id: one.id, state: 'running' as const, from: one.next_row, to }
    if (good.length === 0) {
      await db.write((tx) => recordSlice(tx, { ...progress, results: failed }))
      return undefined
    }
    const account = await findById(db, one.account_id)
    if (!account) return 'suspended'
    const list: CheckedLink[] = good.map((row) => links.check(toLinkInput(one, row), pools))
    let created: readonly number[] = []
    const write = await links.prepareBatch(one.account_id, list, (addresses) => {
      created = addresses.map(({ link_id: id }) => id)
      const answer = { status: 200, body: {} }
      return { value: answer, response: answer }
    })
    const result = await credits.charge({
      accountId: one.account_id,
      apiType: 'short_link',
      action: 'shortlink.generate_batch',
      cost: pricesOf(account, config.PRICES).generate * good.length,
      requestId: `import-${one.id}-${one.next_row}`,
      inSameTransaction: async (tx, charge) => {
        if (typeof write !== 'function') throw new Error('a batch is written by a function')
        const written = await write(tx, charge)
        const done = good.map((row, index) => ({
          rowIndex: row.row_index,
          state: 'created' as const,
          problem: '',
          linkId: created[index] ?? null,
        }))
        await recordSlice(tx, { ...progress, results: [...failed, ...done] })
        return written
      },
    })
    if (result.kind === 'charged') return undefined
    if (result.kind === 'capped') return `${result.period}_cap`
    return result.kind === 'not_allowed' ? result.reason : 'insufficient'
  }

  /** One slice; false when the import has to stop here. */
  async function step(one: Import): Promise<boolean> {
    const limit = one.state === 'checking' ? rowsPerWrite : importLimits.slice
    const rows = await listRows(db, one.id, one.next_row, limit)
    const pools = lookup.cachedPools() ?? (await lookup.pools())
    const last = rows.at(-1)
    if (last === undefined) {
      await db.write(async (tx) => {
        if (one.state === 'checking') await endCheck(tx, one.id)
        else await moveImport(tx, one.id, ['running'], 'finished')
      })
      return false
    }
    const to = last.row_index + 1
    if (one.state === 'checking') {
      const results = await checkSlice(one, rows, pools)
      await db.write((tx) =>
        recordSlice(tx, { id: one.id, state: 'checking', from: one.next_row, to, results }),
      )
      return true
    }
    const reason = await createSlice(one, rows, to, pools).catch((error: unknown) => {
      // A code was taken between the check and the transaction: the next attempt finds it.
      if (error instanceof AppError && error.status === 400) return undefined
      throw error
    })
    if (reason === undefined) return true
    await db.write((tx) => moveImport(tx, one.id, ['running'], 'paused', reason))
    return false
  }

  async function workOn(claimed: Import, signal: AbortSignal): Promise<void> {
    for (let current: Import | undefined = claimed; current && !signal.aborted;) {
      if (current.state !== 'checking' && current.state !== 'running') return
      try {
        if (!(await step(current))) return
      } catch (error) {
        if (!(error instanceof SliceLost)) throw error
      }
      current = await db.write((tx) => renewLease(tx, claimed.id, leaseMs))
      await nextTurn()
    }
    await db.write((tx) => releaseLease(tx, claimed.id))
  }

  async function requireImport(accountId: number, id: number): Promise<Import> {
    const one = await findImport(db, accountId, id)
    if (!one) throw refused({ zh: '没有这个导入', en: 'no such import' })
    return one
  }

  return {
    async upload(accountId, file, options) {
      const { rows, format, encoding } = await readFile(file.bytes, options)
      await makeRoom(accountId)
      const invalid = rows.filter(({ state }) => state === 'invalid').length
      const id = await db.write((tx) =>
        insertImport(tx, {
          account_id: accountId,
          file_name: fileNameOf(file.name),
          format,
          encoding,
          options: JSON.stringify(options),
          total: rows.length,
          invalid,
        }),
      )
      for (let start = 0; start < rows.length; start += rowsPerWrite) {
        const some = rows.slice(start, start + rowsPerWrite).map((row) => ({ ...row, import_id: id }))
        await db.write((tx) => insertImportRows(tx, some))
      }
      await db.write((tx) => moveImport(tx, id, ['uploading'], 'checking'))
      return id
    },

    async start(accountId, id) {
      await requireImport(accountId, id)
      const isStarted = await db.write((tx) => moveImport(tx, id, ['checked', 'paused'], 'running'))
      if (!isStarted) throw refused({ zh: '当前状态不能开始导入', en: 'the import cannot be started now' })
    },

    async cancel(accountId, id) {
      await requireImport(accountId, id)
      const isCancelled = await db.write((tx) =>
        moveImport(tx, id, ['checking', 'checked', 'running', 'paused'], 'cancelled'),
      )
      if (!isCancelled) throw refused({ zh: '导入已经结束', en: 'the import has ended' })
    },

    async work(signal) {
      while (!signal.aborted) {
        const claimed = await db.write((tx) => claimImport(tx, leaseMs))
        if (!claimed) return
        await workOn(claimed, signal)
      }
    },

    async deleteOld(signal) {
      for (const id of await findOldImports(db, importLimits.keepDays * dayMs, 100))
        await deleteImport(db, id, signal)
    },
  }

  /** The oldest ended import makes room; without one the account has to wait or cancel. */
  async function makeRoom(accountId: number): Promise<void> {
    const all = await listImports(db, accountId, importLimits.perAccount + 1)
    if (all.length < importLimits.perAccount) return
    const old = all.findLast(({ state }) => !['checking', 'running', 'uploading'].includes(state))
    if (!old)
      throw refused({
        zh: `最多保留 ${importLimits.perAccount} 个导入，请等待或取消`,
        en: `an account has at most ${importLimits.perAccount} imports; wait or cancel one`,
      })
    await deleteImport(db, old.id)
  }
}

type ReadRow = Omit<NewImportRow, 'import_id'>

/** The rows of the file, with the problems that the file alone shows. Other work runs in between. */
async function readFile(
  bytes: Buffer,
  options: ImportOptions,
): Promise<{ rows: ReadRow[]; format: string; encoding: string }> {
  const { text, encoding } = decodeFile(bytes)
  const lines = readCsv(text, importLimits)
  const first = lines.next()
  const columns = first.done === true ? undefined : findColumns(first.value.cells)
  if (!columns) throw refused(noTargets)
  const say = (problem: Text) => problem[options.language]
  const rows: ReadRow[] = []
  const seen = new Set<string>()
  for (const { line, cells, isCut } of lines) {
    if (rows.length >= importLimits.rows) throw refused(tooManyRows)
    if (rows.length % 1_000 === 999) await nextTurn()
    const input = columns.read(cells)
    const code = options.codes === 'keep' ? input?.short_code : undefined
    const problem = isCut
      ? say(cutCell)
      : input === undefined
        ? say(noTarget)
        : cells.some((cell) => !isStorableText(cell) || cell.includes('\ufffd'))
          ? say(brokenText)
          : code !== undefined && seen.has(code)
            ? say(repeatedCode)
            : ''
    if (code !== undefined) seen.add(code)
    const stored = isCut || problem === say(brokenText) ? {} : (input ?? {})
    rows.push({
      row_index: rows.length,
      line,
      input: JSON.stringify(stored),
      state: problem === '' ? 'ready' : 'invalid',
      problem,
    })
  }
  if (rows.length === 0) throw refused(emptyFile)
  return { rows, format: columns.format, encoding }
}

function readOptions(one: Import): ImportOptions {
  return JSON.parse(one.options) as ImportOptions
}

function toLinkInput(one: Import, row: ImportRow): LinkInput {
  const { codes, tag } = readOptions(one)
  const { max_clicks: max, short_code: code, tags = [], ...input } = JSON.parse(row.input) as ImportInput
  const all = tag === '' ? tags : [...tags, tag]
  return {
    ...input,
    title: titleOf(input),
    ...(codes === 'keep' && code !== undefined && { short_code: code }),
    ...(all.length > 0 && { tags: all }),
    // A text that is not a number becomes NaN, which no limit allows.
    ...(max !== undefined && { max_clicks: /^\d{1,10}$/.test(max) ? Number(max) : Number.NaN }),
  }
}

/** Titles of other products can be longer; without one the host is the title. */
function titleOf({ title, target_url: target }: Pick<ImportInput, 'title' | 'target_url'>): string {
  const text = title ?? URL.parse(target)?.host ?? target
  return [...text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ')]
    .slice(0, shortlink.operations.generate.parameters.title.maxLength)
    .join('')
}

function describeProblems(problems: readonly InvalidParameter[], language: Language): string {
  return problemTexts(problems.slice(0, 10), language)
    .join(language === 'zh' ? '；' : '; ')
    .slice(0, 500)
}

function fileNameOf(name: string): string {
  const safe = name.replaceAll(/[\p{Cc}\p{Cf}/\\]/gu, '').trim()
  return (isStorableText(safe) ? safe : '').slice(0, importLimits.fileNameLength) || 'links.csv'
}

function refused(text: Text): AppError {
  return new AppError(1002, text, { status: 400 })
}

const noTargets: Text = {
  zh: '没有找到目标地址列：第一行须为列名，例如 target_url、url、longUrl、目标地址',
  en: 'no column of targets was found: the first line has the names of the columns, such as target_url, url or longUrl',
}
const emptyFile: Text = { zh: '文件中没有数据行', en: 'the file has no rows' }
const tooManyRows: Text = {
  zh: `最多 ${importLimits.rows} 行，请拆分文件`,
  en: `at most ${importLimits.rows} rows, please split the file`,
}
const noTarget: Text = { zh: '缺少目标地址', en: 'has no target' }
const cutCell: Text = {
  zh: `单元格超过 ${importLimits.cellLength} 个字符，或多于 ${importLimits.columns} 列`,
  en: `has a cell of more than ${importLimits.cellLength} characters, or more than ${importLimits.columns} columns`,
}
const brokenText: Text = {
  zh: '含无法识别的字符，请检查文件编码',
  en: 'has characters that cannot be read; check the encoding',
}
const repeatedCode: Text = { zh: '短码在文件中重复', en: 'its code occurs in the file before' }
