// Files of recipients as spreadsheets write them, and files that are made to harm.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { recipientFileLimits } from '../../../contract/sms-text.ts'
import { BadFile, type FileProblem, type Table } from './file-problems.ts'
import { guessColumns, readRecipients, sliceRecipients, splitHeadings } from './recipients.ts'
import { readTable } from './table.ts'
import { openArchive } from './zip.ts'

const phone = '13800138000'

function zip(files: Readonly<Record<string, string | Buffer>>, declaredSize?: number): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(declaredSize ?? bytes.length, 18)
    common.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(at, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), common, rest, Buffer.from(name)]))
    parts.push(local)
    at += local.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, list, end])
}

function xlsx(sheet: string, more: Readonly<Record<string, string>> = {}): Buffer {
  return zip({
    'xl/workbook.xml':
      '<workbook><sheets><sheet name="h" state="hidden" r:id="rId9"/><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Type="x" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData></worksheet>`,
    ...more,
  })
}

const read = (content: Buffer | string): Promise<Table> =>
  readTable(new Blob([content as Buffer<ArrayBuffer> | string]))
const rowsOf = async (content: Buffer | string) => (await read(content)).rows.map(({ cells }) => cells)

async function problemOf(content: Buffer | string): Promise<FileProblem | undefined> {
  return read(content).then(
    () => undefined,
    (error: unknown) => (error instanceof BadFile ? error.problem : assert.fail(String(error))),
  )
}

describe('files of recipients', () => {
  it('CSV in UTF-8 with and without a mark, UTF-16 and GBK', async () => {
    const text = `手机号,姓名\n${phone},张三\n`
    const expected = [
      ['手机号', '姓名'],
      [phone, '张三'],
    ]
    const gbk = Buffer.concat([
      Buffer.from('cad6bbfabac52cd0d5c3fb0a', 'hex'),
      Buffer.from(`${phone},`),
      Buffer.from('d5c5c8fd0a', 'hex'),
    ])
    for (const file of [text, `\ufeff${text}`, Buffer.from(`\ufeff${text}`, 'utf16le'), gbk]) {
      assert.deepEqual(await rowsOf(file), expected)
    }
  })

  it('XLSX: shared and rich texts, numbers as phone numbers, dates, formulas, errors, gaps, merged cells', async () => {
    const sheet = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>姓名 &amp; 称呼</t></is></c></row>
      <row r="3" hidden="1"><c r="A3"><v>1.3800138E10</v></c><c r="B3" t="s"><v>1</v></c><c r="C3" s="1"><v>46023.5</v></c>
        <c r="D3"><f>A3+1</f><v>0.30000000000000004</v></c><c r="F3" t="e"><v>#N/A</v></c><c r="G3" t="str"><f>x</f><v>文</v></c></row>
      <row r="4"><c r="A4" s="1"><v>13800138001</v></c><c r="B4" t="b"><v>1</v></c></row><row r="5"><c r="A5"/></row>`
    const file = xlsx(`${sheet}`, {
      'xl/sharedStrings.xml':
        '<sst><si><t>手机号</t></si><si><r><t>张</t></r><r><t>三</t></r><rPh><t>zhang</t></rPh></si></sst>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    })
    const table = await read(file)
    assert.deepEqual(
      table.rows.map(({ line, cells }) => [line, ...cells]),
      [
        [1, '手机号', '姓名 & 称呼'],
        [3, phone, '张三', '2026-01-01 12:00:00', '0.3', '', '', '文'],
        [4, '13800138001', 'TRUE'],
      ],
    )
    assert.deepEqual([table.format, table.notices.toSorted()], ['XLSX', ['formulas', 'hidden']])
  })

  it('refuses what is too large, too long, damaged or no table, with a reason', async () => {
    assert.equal(await problemOf(''), 'empty')
    assert.equal(await problemOf('\n\n'), 'empty')
    assert.equal(await problemOf(Buffer.from('d0cf11e0a1b11ae1', 'hex')), 'oldFormat')
    assert.equal(await problemOf(Buffer.from('89504e470d0a1a0a0000000d', 'hex')), 'notTable')
    assert.equal(await problemOf(zip({ 'word/document.xml': '<a/>' })), 'notTable')
    // Neither UTF-8 nor GBK, and a file that lost its characters before.
    assert.equal(await problemOf(Buffer.from(`${phone},\xff\xfe\xe9\n`, 'latin1')), 'encoding')
    assert.equal(await problemOf(`${phone},张\ufffd\n`), 'encoding')
    assert.equal(await problemOf(xlsx('').subarray(0, 200)), 'damaged')
    assert.equal(await problemOf(xlsx('<row r="1"><c')), 'damaged')
    assert.equal(await problemOf(xlsx('<!DOCTYPE a [<!ENTITY b "c">]>')), 'damaged')
    const { rows, bytes } = recipientFileLimits
    assert.equal(await problemOf(`${phone}\n`.repeat(rows + 2)), 'rows')
    assert.equal(await problemOf(xlsx('<row><c><v>1</v></c></row>'.repeat(rows + 2))), 'rows')
    const huge = { size: bytes + 1, arrayBuffer: () => assert.fail('it is not read') } as unknown as Blob
    await assert.rejects(readTable(huge), { problem: 'size' })
  })

  it('stops unpacking at the limit, whatever sizes the archive declares', async () => {
    const bomb = zip({ a: 'x'.repeat(3_000), b: Buffer.alloc(5_000_000) }, 10)
    const archive = openArchive(bomb, 5_000)
    assert.equal((await archive.read('a')).length, 3_000)
    await assert.rejects(archive.read('b'), { problem: 'unpackedSize' })
    // What is unpacked counts together.
    await assert.rejects(archive.read('a'), { problem: 'unpackedSize' })
  })
})

describe('recipients', () => {
  it('finds the columns, and takes a file without headings', async () => {
    const columns = splitHeadings(await read(`序号,Code,联系电话\n1,88,${phone}\n2,99,+86 138-0013-8001`))
    const choice = guessColumns(columns, ['code'])
    assert.deepEqual(choice, { phone: 2, variables: { code: 1 } })
    assert.deepEqual(
      readRecipients(columns, choice).recipients.map((one) => [one.line, one.phone, one.params]),
      [
        [2, phone, { code: '88' }],
        [3, '13800138001', { code: '99' }],
      ],
    )
    const bare = splitHeadings(await read(`${phone},1\n`))
    assert.deepEqual([bare.headings, guessColumns(bare, ['x'])], [[], { phone: 0, variables: { x: 1 } }])
  })

  it('rejects rows with the reason: lost digits, bad and repeated numbers, empty variables, long cells', async () => {
    const long = 'x'.repeat(recipientFileLimits.cellLength + 1)
    const lines = [
      '手机,code',
      '1.38E+10,1',
      '12,1',
      `${phone},1`,
      `86${phone},2`,
      '13800138002,',
      `13800138003,${long}`,
    ]
    const columns = splitHeadings(await read(lines.join('\n')))
    const { recipients, rejected } = readRecipients(columns, guessColumns(columns, ['code']))
    assert.deepEqual(recipients.length, 1)
    assert.deepEqual(
      rejected.map(({ line, problem }) => [line, problem.kind]),
      [
        [2, 'scientific'],
        [3, 'phone'],
        [5, 'repeated'],
        [6, 'variables'],
        [7, 'cut'],
      ],
    )
  })

  it('slices keep every recipient once, within the limits of one call', () => {
    const recipients = Array.from({ length: 2_500 }, (_one, line) => ({
      line,
      phone,
      params: { text: 'x'.repeat(line % 400) },
    }))
    const slices = sliceRecipients(recipients)
    assert.deepEqual(slices.flat(), recipients)
    assert.ok(slices.every((slice) => slice.length <= 1_000 && JSON.stringify(slice).length < 1_000_000))
    const wide = {
      line: 1,
      phone,
      params: Object.fromEntries(Array.from({ length: 30 }, (_one, i) => [`v${i}`, ''])),
    }
    assert.ok(sliceRecipients(Array<typeof wide>(1_000).fill(wide)).every((slice) => slice.length <= 250))
    assert.deepEqual(sliceRecipients([]), [])
  })
})
