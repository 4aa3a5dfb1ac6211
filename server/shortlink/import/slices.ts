// The work on an import, in slices of rows: the dry run checks them, a started import charges and creates them. A slice is one
// transaction with its charge and the results of its rows, so every row is created and charged once, also after a crash at any time.
import { setTimeout as sleep } from 'node:timers/promises'
import { importAction } from '../../../contract/console/credits.ts'
import { shortlink } from '../../../contract/shortlink.ts'
import type { Language } from '../../../contract/text.ts'
import { pricesOf } from '../../accounts/prices.ts'
import { writeAll } from '../../credits/batch-writer.ts'
import { findById } from '../../accounts/store.ts'
import { AppError } from '../../http/errors.ts'
import { type InvalidParameter, problemTexts } from '../../http/parameters.ts'
import type { Services } from '../../services.ts'
import type { CheckedLink, LinkInput, Links } from '../links.ts'
import type { Lookup } from '../redirect/lookup-store.ts'
import { CodeTaken } from '../store.ts'
import type { ImportInput } from './columns.ts'
import type { ImportOptions } from './file.ts'
import { createSliceSize, type SliceSize } from './slice-size.ts'
import {
  claimImport,
  endCheck,
  type Import,
  type ImportRow,
  listRows,
  moveImport,
  recordSlice,
  releaseLease,
  renewLease,
  type RowResult,
  SliceLost,
} from './store.ts'

const leaseMs = 15_000

/** Then the import of another account has its turn. */
const turnMs = 2_000

/** After a slice the import waits as long as the event loop worked on it, so that it has half of it at most. */
const maxPauseMs = 25

/** Attempts at one slice whose rows turned out to be in conflict with something that was created meanwhile. */
const maxAttempts = 10

interface CheckedRow {
  readonly row: ImportRow
  readonly link: CheckedLink
  readonly problem: string
}

/** Works on imports that no other process works on, until there are none. */
export function createImportWork(
  { db, credits, config, log }: Pick<Services, 'db' | 'credits' | 'config' | 'log'>,
  links: Links,
  lookup: Lookup,
): (signal: AbortSignal) => Promise<void> {
  async function checkRows(one: Import, rows: readonly ImportRow[]): Promise<CheckedRow[]> {
    const options = JSON.parse(one.options) as ImportOptions
    const pools = lookup.cachedPools() ?? (await lookup.pools())
    const ready = rows.filter(({ state }) => state === 'ready')
    const list = ready.map((row) => links.check(toLinkInput(options, row), pools))
    const conflicts = await links.findConflicts(one.account_id, list)
    return ready.map((row, index) => {
      const link = list[index]!
      return { row, link, problem: describeProblems(link.problems, conflicts[index]!, options.language) }
    })
  }

  /** Returns the import as it is after the slice. */
  async function checkSlice(one: Import, rows: readonly ImportRow[], to: number): Promise<Import> {
    const results = wrongRows(await checkRows(one, rows), 'invalid')
    return db.write((tx) => recordSlice(tx, one, { to, results, leaseMs }))
  }

  /** Returns the import as it is after the slice; undefined when it has to wait for the account. */
  async function createSlice(
    one: Import,
    rows: readonly ImportRow[],
    to: number,
    size: SliceSize,
  ): Promise<Import | undefined> {
    const checked = await checkRows(one, rows)
    const failed = wrongRows(checked, 'failed')
    const good = checked.filter(({ problem }) => problem === '')
    if (good.length === 0) return db.write((tx) => recordSlice(tx, one, { to, results: failed, leaseMs }))
    const account = await findById(db, one.account_id)
    if (!account) return pause(one, 'suspended')
    let created: readonly number[] = []
    const write = await links.prepareBatch(
      one.account_id,
      good.map(({ link }) => link),
      (addresses) => {
        created = addresses.map(({ link_id: id }) => id)
        const answer = { status: 200, body: {} }
        return { value: answer, response: answer }
      },
    )
    let after: Import | undefined
    const cost = pricesOf(account, config.PRICES).generate * good.length
    const result = await credits.charge({
      accountId: one.account_id,
      apiType: 'short_link',
      action: importAction,
      cost,
      // A transaction of its own: charges of other accounts do not wait for it.
      costs: [cost],
      requestId: `import-${one.id}-${one.next_row}`,
      inSameTransaction: async (tx, charge) => {
        const [written] = await writeAll(tx, [{ write, result: charge }])
        const done = good.map(({ row }, index) => ({
          rowIndex: row.row_index,
          state: 'created' as const,
          problem: '',
          linkId: created[index] ?? null,
        }))
        after = await recordSlice(tx, one, { to, results: [...failed, ...done], leaseMs })
        return written!
      },
    })
    if (result.kind === 'charged') return after
    if (result.kind === 'not_allowed') return pause(one, result.reason)
    // As many rows are created as the account can pay.
    if (good.length > 1) {
      size.halve()
      return one
    }
    return pause(one, result.kind === 'capped' ? `${result.period}_cap` : 'insufficient')
  }

  async function pause(one: Import, reason: string): Promise<undefined> {
    await db.write((tx) => moveImport(tx, one.id, ['running'], 'paused', reason))
    return undefined
  }

  async function finish(one: Import): Promise<undefined> {
    await db.write(async (tx) => {
      if (one.state === 'checking') await endCheck(tx, one.id)
      else await moveImport(tx, one.id, ['running'], 'finished')
    })
    return undefined
  }

  async function step(one: Import, size: SliceSize): Promise<Import | undefined> {
    const rows = await listRows(db, one.id, one.next_row, size.rows())
    const last = rows.at(-1)
    if (last === undefined) return finish(one)
    const work = one.state === 'checking' ? checkSlice : createSlice
    const before = cpuMs()
    const after = await work(one, rows, last.row_index + 1, size)
    const took = cpuMs() - before
    if (after && after.next_row > one.next_row) size.record(rows.length, took)
    await sleep(Math.min(took, maxPauseMs))
    return after
  }

  /** The row gets a problem and the import continues. */
  async function skipRow(one: Import, error: unknown): Promise<Import | undefined> {
    const [row] = await listRows(db, one.id, one.next_row, 1)
    if (!row) return one
    log.error({ err: error, import: one.id, row: row.row_index }, 'a row of an import cannot be processed')
    const { language } = JSON.parse(one.options) as ImportOptions
    const state = one.state === 'checking' ? 'invalid' : 'failed'
    const results = [
      { rowIndex: row.row_index, state, problem: unreadableRow[language], linkId: null },
    ] as const
    return db.write((tx) => recordSlice(tx, one, { to: row.row_index + 1, results, leaseMs }))
  }

  async function workOn(claimed: Import, signal: AbortSignal): Promise<void> {
    const size = createSliceSize(db.maxWorkMs)
    const endsAt = performance.now() + turnMs
    let attempts = 0
    for (let current: Import | undefined = claimed; current;) {
      if (current.state !== 'checking' && current.state !== 'running') return
      if (signal.aborted || performance.now() > endsAt) {
        await db.write((tx) => releaseLease(tx, claimed.id))
        return
      }
      try {
        current = await step(current, size)
        attempts = 0
      } catch (error) {
        if (isFaultOfRow(error)) {
          if (size.rows() === 1) current = await skipRow(current!, error)
          else size.halve()
          continue
        }
        attempts += 1
        if (!mayWorkNextTime(error) || attempts > maxAttempts) throw error
        current = await db.write((tx) => renewLease(tx, claimed.id, leaseMs))
      }
    }
  }

  return async (signal) => {
    while (!signal.aborted) {
      const claimed = await db.write((tx) => claimImport(tx, leaseMs))
      if (!claimed) return
      await workOn(claimed, signal)
    }
  }
}

/** Of the event loop. Unlike the time of day, it does not make slices small when other programs use the machine. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** The slice was taken by another process, or a code was taken between the check and the transaction: the next check finds it. */
function mayWorkNextTime(error: unknown): boolean {
  return (
    error instanceof SliceLost ||
    error instanceof CodeTaken ||
    (error instanceof AppError && error.status === 400)
  )
}

/**
 * Whether a row caused the error: errors of the database have a code, or their name is `DatabaseUnavailable`. The error would occur
 * at every attempt, so the slice becomes smaller until the row is found.
 */
function isFaultOfRow(error: unknown): boolean {
  return (
    error instanceof Error &&
    !(error instanceof AppError || error.name === 'DatabaseUnavailable' || 'code' in error) &&
    !mayWorkNextTime(error)
  )
}

const unreadableRow = {
  zh: '该行无法处理（系统内部错误）',
  en: 'this row cannot be processed (internal error)',
}

function wrongRows(checked: readonly CheckedRow[], state: 'invalid' | 'failed'): RowResult[] {
  return checked.flatMap(({ row, problem }) =>
    problem === '' ? [] : [{ rowIndex: row.row_index, state, problem, linkId: null }],
  )
}

function toLinkInput({ codes, tag }: ImportOptions, row: ImportRow): LinkInput {
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

function describeProblems(
  own: readonly InvalidParameter[],
  conflicts: readonly InvalidParameter[],
  language: Language,
): string {
  if (own.length === 0 && conflicts.length === 0) return ''
  return problemTexts([...own, ...conflicts].slice(0, 10), language)
    .join(language === 'zh' ? '；' : '; ')
    .slice(0, 500)
}
