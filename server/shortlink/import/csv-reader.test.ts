// Files as other products and spreadsheets write them, and files that are made to harm.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatCsv } from '../../../contract/csv.ts'
import { importLimits } from '../../../contract/link-import.ts'
import { findColumns } from './columns.ts'
import { readRows } from './file.ts'
import { decodeFile, readCsv as readCsvWith, readCsvInSteps } from '../../../contract/csv-reader.ts'

const readCsv = (text: string) => readCsvWith(text, importLimits)
const rowsOf = (text: string) => [...readCsv(text)].map(({ cells }) => cells)
const inputsOf = (text: string) => {
  const [head, ...rows] = rowsOf(text)
  const columns = findColumns(head!)!
  return { format: columns.format, inputs: rows.map((row) => columns.read(row)) }
}

describe('CSV of imports', () => {
  it('UTF-8 with and without a mark, UTF-16, GBK, and broken bytes', () => {
    const text = '标题,目标地址\r\n你好,https://例子.中国/\r\n'
    assert.deepEqual(decodeFile(Buffer.from(text)), { text, encoding: 'UTF-8' })
    assert.equal(decodeFile(Buffer.from(`\ufeff${text}`)).text, text)
    assert.deepEqual(decodeFile(Buffer.from(`\ufeff${text}`, 'utf16le')), { text, encoding: 'UTF-16' })
    const bigEndian = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
    assert.deepEqual(decodeFile(bigEndian), { text, encoding: 'UTF-16' })
    const gbk = Buffer.from('b1eacce22cc4bfb1eab5d8d6b70a', 'hex')
    assert.deepEqual(decodeFile(gbk), { text: '标题,目标地址\n', encoding: 'GBK' })
    const mixed = Buffer.concat([Buffer.from('\ufeffa,你好\n'), Buffer.from('b1ea0a', 'hex')])
    assert.match(decodeFile(mixed).text, /你好\n\ufffd/)
  })

  it('quotes, line breaks in cells, separators, missing ends', () => {
    assert.deepEqual(rowsOf('a,"b ""x"", y"\r\n"c\r\nd",e\n\n f ,g"h'), [
      ['a', 'b "x", y'],
      ['c\r\nd', 'e'],
      [' f ', 'g"h'],
    ])
    assert.deepEqual(rowsOf('a;b\n1;2,3'), [
      ['a', 'b'],
      ['1', '2,3'],
    ])
    assert.deepEqual(rowsOf('a\tb\r1\t2'), [
      ['a', 'b'],
      ['1', '2'],
    ])
    assert.deepEqual(rowsOf('"never closed,\n1,2'), [['never closed,\n1,2']])
    assert.deepEqual(
      [...readCsv('a,b\n"1\n2",3\n4,5')].map(({ line }) => line),
      [1, 2, 4],
    )
    assert.deepEqual(
      [...readCsv('\n\r\n\ra,b\r\r\n\n1,2\n\n')].map(({ line, cells }) => [line, ...cells]),
      [
        [4, 'a', 'b'],
        [7, '1', '2'],
      ],
    )
  })

  it('a large file is decoded in pieces without breaking its characters', async () => {
    const options = { codes: 'keep', tag: '', language: 'zh' } as const
    // Three bytes a row in front of the Han characters, so that some of them are at the end of a piece.
    const gbk = Buffer.from('b1eacce2', 'hex')
    const line = Buffer.concat([Buffer.from('u,'), gbk, gbk, Buffer.from('\n')])
    const file = Buffer.concat([Buffer.from('url,title\n'), ...Array<Buffer>(60_000).fill(line)])
    const read = await readRows(file, options)
    assert.deepEqual([read.encoding, read.rows.length], ['GBK', 60_000])
    assert.deepEqual(
      new Set(read.rows.map(({ input }) => input)),
      new Set(['{"target_url":"u","title":"标题标题"}']),
    )
  })

  it('reads back what our export writes, whatever the cells are', () => {
    const cells = ['=1+1', '-2', '@x', 'a"b', 'x,y', 'line\nbreak', '', "'quoted", '＝全角']
    const [row] = rowsOf(formatCsv([cells]))
    assert.deepEqual(
      row!.map((cell) => cell.replace(/^'(?=[=+\-@＝])/, '')),
      cells,
    )
  })

  it('cells and rows without end are cut, and say so', () => {
    const big = 'x'.repeat(10_000_000)
    const [head, plain, quoted, wide] = [...readCsv(`a,b\n${big},1\n"${big}",2\n${'c,'.repeat(5_000)}d`)]
    assert.equal(head!.isCut, false)
    for (const row of [plain, quoted]) {
      assert.equal(row!.isCut, true)
      assert.equal(row!.cells[0]!.length, importLimits.cellLength)
    }
    assert.equal(wide!.cells.length, importLimits.columns)
    assert.equal(wide!.isCut, true)
  })

  it('165 cells and lines that make no row let other work run', () => {
    for (const unit of [',', '\n', '""\n', '"",']) {
      const steps = [...readCsvInSteps(`url\n${unit.repeat(50_000)}`, importLimits)]
      assert.ok(steps.filter((row) => row === undefined).length >= 4, unit)
    }
  })
})

describe('columns of imports', () => {
  const target = 'https://example.com/a'
  const cases: readonly (readonly [string, string, object])[] = [
    ['yourls', `keyword,url,title,timestamp,ip,clicks\nabc,${target},T,2024-01-01 00:00:00,1.2.3.4,7`, {}],
    ['kutt', `address,target,description,visit_count,link\nabc,${target},T,3,https://kutt.it/abc`, {}],
    [
      'shlink',
      `createdAt,title,shortUrl,domain,shortCode,longUrl,tags,visits\n2024,T,https://s.test/abc,,abc,${target},x|y,3`,
      { tags: ['x', 'y'] },
    ],
    ['bitly', `Title,Link,Long URL,Tags,Created\nT,bit.ly/abc,${target},"x, y",2024`, { tags: ['x', 'y'] }],
    ['tollgate', `title,code,target_url,redirect_type\nT,abc,${target},direct`, { redirect_type: 'direct' }],
    ['tollgate', `标题,短码,目标地址,跳转方式\nT,abc,${target},page`, { redirect_type: 'page' }],
    ['other', `Name;Short URL;Destination URL\nT;https://go.test/x/abc?y=1;${target}`, {}],
  ]
  for (const [format, text, more] of cases) {
    it(`${format}: ${text.split('\n')[0]}`, () => {
      assert.deepEqual(inputsOf(text), {
        format,
        inputs: [{ target_url: target, title: 'T', short_code: 'abc', ...more }],
      })
    })
  }

  it('escaped formulas are text, ISO times become ours, rows without a target are empty', () => {
    const { inputs } = inputsOf(
      `title,target_url,expires_at\n'=1+1,${target},2030-01-01T00:00:00Z\nno target,,\n'x,${target},tomorrow`,
    )
    assert.deepEqual(inputs, [
      { target_url: target, title: '=1+1', expires_at: '2030-01-01 08:00:00' },
      undefined,
      { target_url: target, title: "'x", expires_at: 'tomorrow' },
    ])
  })

  it('the table of Kutt as its databases write it: times in UTC, hashes of passwords', () => {
    const columns =
      'id,address,description,banned,banned_by_id,domain_id,password,expire_in,target,user_id,visit_count,uuid,created_at,updated_at'
    const rest = '1,9,5b1c5b1e-0000-4000-8000-000000000000,2024-01-01 00:00:00,2024-01-01 00:00:00'
    const rows = [
      `1,abc,T,0,,,,2030-01-01 00:00:00,${target},${rest}`,
      `2,abd,T,f,,,$2b$12$abcdefghijklmnopqrstuv,2030-01-01 00:00:00+00,${target},${rest}`,
      `3,abe,,false,,,NULL,,${target},${rest}`,
    ]
    const text = [columns, ...rows].join('\n')
    const expires = { expires_at: '2030-01-01 08:00:00' }
    assert.deepEqual(inputsOf(text), {
      format: 'kutt',
      inputs: [
        { target_url: target, title: 'T', short_code: 'abc', ...expires },
        { target_url: target, title: 'T', short_code: 'abd', ...expires },
        { target_url: target, short_code: 'abe' },
      ],
    })
    const [head, ...others] = readCsv(text).map(({ cells }) => cells)
    assert.deepEqual(
      others.map((cells) => findColumns(head!)!.hasPassword(cells)),
      [false, true, false],
    )
  })

  it('tags as a list in JSON, times with a zone as databases write them', () => {
    const { inputs } = inputsOf(
      `link,long_url,title,tags,expire_in\nbit.ly/abc,${target},T,"[""x"",""a,b""]",2030-01-01 00:00:00.5+00\nbit.ly/abd,${target},T,[],2030-01-01 00:00:00+0530`,
    )
    assert.deepEqual(inputs, [
      {
        target_url: target,
        title: 'T',
        short_code: 'abc',
        tags: ['x', 'a,b'],
        expires_at: '2030-01-01 08:00:00',
      },
      { target_url: target, title: 'T', short_code: 'abd', expires_at: '2030-01-01 02:30:00' },
    ])
  })

  it('links with a password are refused, because no export contains it', async () => {
    const options = { codes: 'keep', tag: '', language: 'en' } as const
    for (const [head, protectedValues, openValues] of [
      ['target_url,redirect_type,has_password', ['1'], ['0', '']],
      ['目标地址,跳转方式,有密码', ['1', '是'], ['0', '否']],
      ['url,title,Protected', ['true', 'yes'], ['false', '']],
      ['target,address,password', ['true', '$2a$10$abc'], ['false', '', 'NULL']],
    ] as const) {
      const values = [...protectedValues, ...openValues]
      const file = Buffer.from(`${head}\n${values.map((value) => `${target},,${value}`).join('\n')}`)
      const { rows } = await readRows(file, options)
      assert.deepEqual(
        rows.map(({ state, problem }) => [state, /had a password/.test(problem)]),
        values.map((_value, index) =>
          index < protectedValues.length ? ['invalid', true] : ['ready', false],
        ),
        head,
      )
    }
  })

  it('a file without a column of targets is refused', () => {
    assert.equal(findColumns(['title', 'clicks']), undefined)
    assert.equal(findColumns([]), undefined)
  })
})
