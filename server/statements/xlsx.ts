// A statement as an XLSX file: one sheet in an uncompressed ZIP, because a statement has a dozen rows and a package would add megabytes.
import { crc32 } from 'node:zlib'
import { escapeHtml } from '../http/html.ts'

type SheetCell = string | number

const files = (sheet: string): Readonly<Record<string, string>> => ({
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="statement" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
  'xl/worksheets/sheet1.xml': sheet,
})

/** Text is stored as text, so no cell can be a formula. */
export function formatXlsx(rows: readonly (readonly SheetCell[])[]): Buffer {
  const lines = rows.map((cells, row) => {
    const columns = cells.map((cell, column) => {
      const place = `${String.fromCharCode(65 + column)}${row + 1}`
      return typeof cell === 'number'
        ? `<c r="${place}"><v>${cell}</v></c>`
        : `<c r="${place}" t="inlineStr"><is><t xml:space="preserve">${escapeHtml(cell)}</t></is></c>`
    })
    return `<row r="${row + 1}">${columns.join('')}</row>`
  })
  const sheet = `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${lines.join('')}</sheetData></worksheet>`
  return zip(files(sheet))
}

/** 1 January 1980, the first day that ZIP knows: the same statement is the same file. */
const zipDate = 0x21

function zip(contents: Readonly<Record<string, string>>): Buffer {
  const local: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(contents)) {
    const data = Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${text}`)
    const fileName = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(zipDate, 8)
    common.writeUInt32LE(crc32(data), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(data.length, 18)
    common.writeUInt16LE(fileName.length, 22)
    const entry = Buffer.concat([Buffer.from('PK\u0003\u0004', 'latin1'), common, fileName, data])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    central.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002', 'latin1'), Buffer.from([20, 0]), common, rest, fileName]),
    )
    local.push(entry)
    offset += entry.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(central.length, 4)
  end.writeUInt16LE(central.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...local, directory, Buffer.from('PK\u0005\u0006', 'latin1'), end])
}
