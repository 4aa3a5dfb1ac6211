// Reads CSV of any origin: finds the encoding and the separator, and never holds a cell that is too long.
export interface DecodedFile {
  readonly text: string
  readonly encoding: 'UTF-8' | 'UTF-16' | 'GBK'
}

/** GB 18030 contains GBK and GB 2312. Bytes that are no text become U+FFFD, which is a problem of their row. */
export function decodeFile(bytes: Uint8Array): DecodedFile {
  const { encoding, label } = encodingOf(bytes, isUtf8)
  return { text: new TextDecoder(label).decode(bytes), encoding }
}

/** `label` is what a TextDecoder is created with. */
export function encodingOf(
  bytes: Uint8Array,
  isValidUtf8: (bytes: Uint8Array) => boolean,
): Pick<DecodedFile, 'encoding'> & { readonly label: string } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: 'UTF-16', label: 'utf-16le' }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'UTF-16', label: 'utf-16be' }
  // A byte order mark says UTF-8 even if some bytes are broken.
  const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb
  return isMarked || isValidUtf8(bytes)
    ? { encoding: 'UTF-8', label: 'utf-8' }
    : { encoding: 'GBK', label: 'gb18030' }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

export interface CsvLimits {
  readonly columns: number
  /** Longer cells are cut. */
  readonly cellLength: number
}

export interface CsvRow {
  /** Where the row starts, from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** A cell or the row was cut. */
  readonly isCut: boolean
}

/** The most frequent one of the first line. */
function findSeparator(text: string): string {
  const end = text.search(/[\r\n]/)
  const head = text.slice(0, Math.min(end === -1 ? text.length : end, 10_000))
  const count = (separator: string) => head.split(separator).length
  return [',', ';', '\t'].reduce((best, one) => (count(one) > count(best) ? one : best))
}

/**
 * Rows with a cell at least, one by one. Quotes follow RFC 4180; a quote inside of an unquoted cell is a character. A quote that
 * is never closed takes the rest of the file as one cell, which is cut.
 */
export function* readCsv(text: string, limits: CsvLimits): Generator<CsvRow, void> {
  for (const row of readCsvInSteps(text, limits)) if (row !== undefined) yield row
}

/** Cells and blank lines from one step to the next: about a millisecond. */
const stepLength = 10_000

/** The same, with `undefined` whenever other work should run: a file can have millions of cells and blank lines without a row. */
export function* readCsvInSteps(
  text: string,
  { cellLength, columns }: CsvLimits,
): Generator<CsvRow | undefined, void> {
  const separator = findSeparator(text)
  let at = text.codePointAt(0) === 0xfeff ? 1 : 0
  let line = 1
  let read = 0
  while (at < text.length) {
    if ((read += 1) % stepLength === 0) yield undefined
    const blank = text.charCodeAt(at)
    if (blank === 0x0a || blank === 0x0d) {
      at += blank === 0x0d && text.charCodeAt(at + 1) === 0x0a ? 2 : 1
      line += 1
      continue
    }
    const startLine = line
    const cells: string[] = []
    let isCut = false
    let isRowOver = false
    while (!isRowOver) {
      if ((read += 1) % stepLength === 0) yield undefined
      const { cell, next, lines, isLong } = readCell(text, at, separator, cellLength)
      if (cells.length < columns) cells.push(cell)
      else isCut = true
      isCut ||= isLong
      line += lines
      at = next
      if (text[at] === separator) at += 1
      else isRowOver = true
    }
    if (text[at] === '\r') at += 1
    if (text[at] === '\n') at += 1
    line += 1
    if (cells.length > 1 || cells[0] !== '') yield { line: startLine, cells, isCut }
  }
}

interface CsvValue {
  readonly cell: string
  /** The separator, the line break or the end after the cell. */
  readonly next: number
  readonly lines: number
  readonly isLong: boolean
}

function readCell(text: string, start: number, separator: string, max: number): CsvValue {
  if (text[start] !== '"') {
    let end = start
    while (end < text.length && text[end] !== separator && text[end] !== '\n' && text[end] !== '\r') end += 1
    return {
      cell: text.slice(start, Math.min(end, start + max)),
      next: end,
      lines: 0,
      isLong: end - start > max,
    }
  }
  let cell = ''
  let lines = 0
  let isLong = false
  let at = start + 1
  for (;;) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    // Never looks beyond the cell: a file without line breaks would be searched again and again.
    for (let index = at; index < end; index += 1) if (text.charCodeAt(index) === 0x0a) lines += 1
    if (cell.length + end - at > max) isLong = true
    if (cell.length < max) cell += text.slice(at, Math.min(end, at + max - cell.length))
    if (quote === -1) return { cell, next: end, lines, isLong }
    at = quote + 1
    if (text[at] !== '"') break
    if (cell.length < max) cell += '"'
    at += 1
  }
  // What follows a closed quote up to the separator belongs to no cell.
  while (at < text.length && text[at] !== separator && text[at] !== '\n' && text[at] !== '\r') at += 1
  return { cell, next: at, lines, isLong }
}
