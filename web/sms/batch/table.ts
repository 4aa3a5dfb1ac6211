// Reads a file of recipients, CSV or XLSX, in the browser. Everything is bounded, and a bad file is an error with a text.
import { decodeFile, readCsv } from '../../../contract/csv-reader.ts'
import { recipientFileLimits as limits } from '../../../contract/sms-text.ts'
import { BadFile, type Row, type Table } from './file-problems.ts'
import { isZip, readXlsx } from './xlsx.ts'

/** Of an XLS file, and of an XLSX file with a password. */
const compoundFile = [0xd0, 0xcf, 0x11, 0xe0]

export async function readTable(file: Blob): Promise<Table> {
  if (file.size > limits.bytes) throw new BadFile('size')
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (bytes.length === 0) throw new BadFile('empty')
  if (compoundFile.every((byte, index) => bytes[index] === byte)) throw new BadFile('oldFormat')
  const table = isZip(bytes) ? await readXlsx(bytes) : readText(bytes)
  if (table.rows.length === 0) throw new BadFile('empty')
  return table
}

function readText(bytes: Uint8Array): Table {
  const { text, encoding } = decodeFile(bytes)
  // No text file has this character: it is a picture, a program or another kind of archive.
  if (text.includes('\0')) throw new BadFile('notTable')
  // In place of bytes that are no text: a message with them would be wrong.
  if (text.includes('\ufffd')) throw new BadFile('encoding')
  const rows: Row[] = []
  for (const { line, cells, isCut } of readCsv(text, limits)) {
    if (rows.length > limits.rows) throw new BadFile('rows')
    rows.push({ line, cells, isCut })
  }
  return { rows, format: encoding, notices: [] }
}
