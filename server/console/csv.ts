// CSV as spreadsheets in China open it: UTF-8 with a byte order mark, lines ended by CRLF, and no cell that is a formula.
import { Readable } from 'node:stream'
import { formatTime } from '../../contract/time.ts'

export type Cell = string | number | boolean | null | undefined

/** A whole file as a stream: the heading, then the rows as they are read, a page at a time. */
export function csvStream(
  heading: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
): Readable {
  return Readable.from(textsOf(heading, pages), { objectMode: false })
}

async function* textsOf(
  heading: readonly string[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<string> {
  yield `\uFEFF${csvLine(heading)}`
  for await (const rows of pages) {
    if (rows.length > 0) yield rows.map(csvLine).join('')
  }
}

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  // Our own numbers may be negative; only text can hide a formula.
  if (typeof cell !== 'string') return String(cell)
  // Spreadsheets of East Asian editions take the full-width signs for formulas too.
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function csvTime(ms: number | null): string {
  return ms === null ? '' : formatTime(ms)
}
