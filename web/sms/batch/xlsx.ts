// Reads the first visible sheet of an XLSX file as text. No library that we know stops unpacking at a limit.
import { formatTime, shanghaiOffsetMs } from '../../../contract/time.ts'
import { recipientFileLimits as limits } from '../../../contract/sms-text.ts'
import { BadFile, type FileNotice, type Row, type Table } from './file-problems.ts'
import { attribute, decodeXml, walkXml } from './xml.ts'
import { type Archive, openArchive } from './zip.ts'

export function isZip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4
}

export async function readXlsx(bytes: Uint8Array): Promise<Table> {
  const archive = openArchive(bytes, limits.unpackedBytes)
  if (!archive.has('xl/workbook.xml')) throw new BadFile('notTable')
  const { path, is1904, sheets } = await findSheet(archive)
  const strings = archive.has('xl/sharedStrings.xml')
    ? readStrings(await archive.read('xl/sharedStrings.xml'))
    : []
  const dateStyles = archive.has('xl/styles.xml') ? readDateStyles(await archive.read('xl/styles.xml')) : []
  const { rows, notices } = readSheet(await archive.read(path), { strings, dateStyles, is1904 })
  return { rows, format: 'XLSX', notices: sheets > 1 ? [...notices, 'sheets'] : notices }
}

async function findSheet(archive: Archive): Promise<{ path: string; is1904: boolean; sheets: number }> {
  let relation: string | undefined
  let sheets = 0
  let is1904 = false
  walkXml(await archive.read('xl/workbook.xml'), {
    open(name, attributes) {
      if (name === 'workbookPr') is1904 = /date1904\s*=\s*["'](?:1|true)["']/.test(attributes)
      if (name !== 'sheet') return
      const state = attribute(attributes, 'state')
      if (state === 'hidden' || state === 'veryHidden') return
      sheets += 1
      relation ??= /\s\w+:id\s*=\s*["']([^"']+)["']/.exec(attributes)?.[1]
    },
  })
  let target: string | undefined
  walkXml(await archive.read('xl/_rels/workbook.xml.rels'), {
    open(name, attributes) {
      if (name === 'Relationship' && attribute(attributes, 'Id') === relation)
        target = attribute(attributes, 'Target')
    },
  })
  if (target === undefined) throw new BadFile('noSheet')
  const path = target.startsWith('/') ? target.slice(1) : `xl/${target}`
  if (!archive.has(path)) throw new BadFile('noSheet')
  return { path, is1904, sheets }
}

/** Phonetic texts (`rPh`) are not part of the value. */
function readStrings(xml: string): string[] {
  const strings: string[] = []
  let text = ''
  let isValue = false
  let isPhonetic = false
  walkXml(xml, {
    open(name) {
      if (name === 'si') text = ''
      else if (name === 't') isValue = true
      else if (name === 'rPh') isPhonetic = true
    },
    text(part) {
      if (isValue && !isPhonetic && text.length <= limits.cellLength) text += decodeXml(part)
    },
    close(name) {
      if (name === 'si') strings.push(text)
      else if (name === 't') isValue = false
      else if (name === 'rPh') isPhonetic = false
    },
  })
  return strings
}

/** Which of the styles of cells show a number as a date or time. */
function readDateStyles(xml: string): boolean[] {
  const formats = new Map<string, string>()
  const styles: boolean[] = []
  let isCellStyles = false
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'numFmt')
        formats.set(attribute(attributes, 'numFmtId') ?? '', attribute(attributes, 'formatCode') ?? '')
      else if (name === 'cellXfs') isCellStyles = true
      else if (name === 'xf' && isCellStyles) {
        const id = attribute(attributes, 'numFmtId') ?? '0'
        styles.push(isDateFormat(Number(id), formats.get(id)))
      }
    },
    close(name) {
      if (name === 'cellXfs') isCellStyles = false
    },
  })
  return styles
}

/** The built-in formats of dates and times, also those of the Chinese editions. */
function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) {
    return (
      (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58)
    )
  }
  return /[ymdhs]/i.test(code.replaceAll(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|general/gi, ''))
}

interface Workbook {
  readonly strings: readonly string[]
  readonly dateStyles: readonly boolean[]
  readonly is1904: boolean
}

function readSheet(xml: string, workbook: Workbook): { rows: Row[]; notices: FileNotice[] } {
  const rows: Row[] = []
  const notices = new Set<FileNotice>()
  let line = 0
  let cells: string[] = []
  let isCut = false
  let column = 0
  let type = ''
  let style = 0
  let value = ''
  let isValue = false
  let isCell = false

  const endCell = () => {
    isCell = false
    const shown = cellText(type, value, style, workbook)
    if (column >= limits.columns) isCut ||= shown !== ''
    else if (shown !== '') {
      while (cells.length < column) cells.push('')
      if (shown.length > limits.cellLength) isCut = true
      cells[column] = shown.slice(0, limits.cellLength)
    }
    column += 1
  }
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'c') {
        column = columnOf(attribute(attributes, 'r')) ?? column
        type = attribute(attributes, 't') ?? 'n'
        style = Number(attribute(attributes, 's') ?? 0)
        value = ''
        isCell = true
      } else if (isCell && (name === 'v' || name === 't')) isValue = true
      else if (name === 'row') {
        line = Number(attribute(attributes, 'r')) || line + 1
        cells = []
        isCut = false
        column = 0
        if (/\shidden\s*=\s*["'](?:1|true)["']/.test(attributes)) notices.add('hidden')
      } else if (isCell && name === 'f') notices.add('formulas')
      else if (name === 'mergeCell') notices.add('merged')
    },
    text(part) {
      if (isValue && value.length <= limits.cellLength) value += decodeXml(part)
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false
      else if (name === 'c') endCell()
      else if (name === 'row' && cells.length > 0) {
        if (rows.length > limits.rows) throw new BadFile('rows')
        rows.push({ line, cells, isCut })
      }
    },
  })
  return { rows, notices: [...notices] }
}

/** `AB12` is the 28th column, counted from 0. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = reference === undefined ? undefined : /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return undefined
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
}

/** Errors such as #N/A are empty, so that nobody receives them. */
function cellText(type: string, value: string, style: number, workbook: Workbook): string {
  if (value === '' || type === 'e') return ''
  if (type === 's') return (workbook.strings[Number(value)] ?? '').trim()
  if (type === 'n') return numberText(value, workbook.dateStyles[style] === true, workbook.is1904)
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  return value.trim()
}

/** The days up to 9999-12-31. A phone number in a cell with a date format is beyond them. */
const maxSerial = 2_958_465

/** A phone number is stored as 13800138000 or 1.3800138E10, whatever the cell shows. */
function numberText(value: string, isDate: boolean, is1904: boolean): string {
  const number = Number(value)
  if (!Number.isFinite(number)) return value
  if (isDate && number >= 0 && number <= maxSerial) return dateText(number, is1904)
  // Spreadsheets calculate with 15 digits: 0.1 + 0.2 is shown as 0.3.
  return Number.isSafeInteger(number) ? String(number) : String(Number(number.toPrecision(15)))
}

function dateText(serial: number, is1904: boolean): string {
  const daysTo1970 = is1904 ? 24_107 : 25_569
  // A sheet has no time zone: the shown day and time are meant.
  const ms = Math.round((serial - daysTo1970) * 86_400) * 1000 - shanghaiOffsetMs
  const [day = '', time = ''] = formatTime(ms).split(' ')
  if (serial < 1) return time
  return time === '00:00:00' ? day : `${day} ${time}`
}
