// Reads an uploaded file into rows, with the problems that the file alone shows. Other work runs in between.
import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CsvRow, type DecodedFile, encodingOf, readCsvInSteps } from '../../../contract/csv-reader.ts'
import { importLimits } from '../../../contract/link-import.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { isStorableText } from '../../../contract/values.ts'
import { AppError } from '../../http/errors.ts'
import { findColumns } from './columns.ts'
import type { NewImportRow } from './store.ts'

export interface ImportOptions {
  /** Codes of the file, or new ones. */
  readonly codes: 'keep' | 'new'
  /** Added to every link. */
  readonly tag: string
  readonly language: Language
}

export type FileRow = Omit<NewImportRow, 'import_id'>

export interface ReadRows {
  readonly rows: readonly FileRow[]
  readonly format: string
  readonly encoding: string
}

/** What one turn of the event loop decodes, and how long it reads rows. */
const bytesPerTurn = 262_144
const msPerTurn = 4

export async function readRows(bytes: Uint8Array, options: ImportOptions): Promise<ReadRows> {
  const { text, encoding } = await decode(bytes)
  const lines = rowsInTurns(text)
  const first = await lines.next()
  const columns = first.done === true ? undefined : findColumns(first.value.cells)
  if (!columns) throw refused(noTargets)
  const say = (problem: Text) => problem[options.language]
  const rows: FileRow[] = []
  const seen = new Set<string>()
  for await (const { line, cells, isCut } of lines) {
    if (rows.length >= importLimits.rows) throw refused(tooManyRows)
    const input = columns.read(cells)
    const code = options.codes === 'keep' ? input?.short_code : undefined
    const problem = isCut
      ? say(cutCell)
      : input === undefined
        ? say(noTarget)
        : cells.some((cell) => !isStorableText(cell) || cell.includes('\ufffd'))
          ? say(brokenText)
          : columns.hasPassword(cells)
            ? say(protectedLink)
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

async function* rowsInTurns(text: string): AsyncGenerator<CsvRow, void> {
  let turnEndsAt = performance.now() + msPerTurn
  for (const row of readCsvInSteps(text, importLimits)) {
    if (performance.now() > turnEndsAt) {
      await nextTurn()
      turnEndsAt = performance.now() + msPerTurn
    }
    if (row !== undefined) yield row
  }
}

/** The same as `decodeFile`, in pieces. */
async function decode(bytes: Uint8Array): Promise<DecodedFile> {
  const { encoding, label } = encodingOf(bytes, isUtf8)
  const decoder = new TextDecoder(label)
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += bytesPerTurn) {
    pieces.push(decoder.decode(bytes.subarray(at, at + bytesPerTurn), { stream: true }))
    await nextTurn()
  }
  pieces.push(decoder.decode())
  return { text: pieces.join(''), encoding }
}

export function refused(text: Text): AppError {
  return new AppError(1002, text, { status: 400 })
}

const noTargets: Text = {
  zh: '未找到目标地址列：第一行必须是列名，例如 target_url、url、longUrl、目标地址',
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
const protectedLink: Text = {
  zh: '原链接有访问密码，文件中不含密码；清空该列后将作为无密码的链接导入',
  en: 'the link had a password, which the file does not contain; empty this column to import it without a password',
}
const repeatedCode: Text = { zh: '短码在文件中重复', en: 'its code occurs in the file before' }
