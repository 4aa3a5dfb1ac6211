// CSV as spreadsheets in China open it: UTF-8 with a byte order mark, lines that end in CRLF, no cell that runs as a formula.
export type CsvCell = string | number | boolean | null | undefined

export function formatCsv(rows: readonly (readonly CsvCell[])[]): string {
  return `\uFEFF${rows.map(csvLine).join('')}`
}

export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return ''
  // Numbers may be negative; only text can hide a formula.
  if (typeof cell !== 'string') return String(cell)
  // East Asian editions of spreadsheets read full-width signs as the start of a formula too.
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
