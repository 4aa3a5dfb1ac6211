// Cells of an export: nothing that a spreadsheet would run, nothing that breaks out of its cell.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { csvLine, csvStream } from './csv.ts'

void describe('csv', () => {
  it('puts an apostrophe before what would be a formula', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r', '\n']) {
      const [cell] = parse(csvLine([`${start}1+1`, 'x']))
      assert.equal(cell, `'${start}1+1`)
    }
    assert.equal(csvLine([-5, 'a-b', null, undefined, true, '']), '-5,a-b,,,true,\r\n')
  })

  it('gives every cell back as it was, formulas aside', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 6 }), (cells) => {
        const read = parse(csvLine(cells))
        assert.deepEqual(
          read.map((cell, index) => (cell === `'${cells[index]}` ? cells[index] : cell)),
          cells,
        )
        for (const cell of read) assert.ok(!/^[=+\-@\t\r\n]/.test(cell))
      }),
    )
  })

  it('streams page after page, with a byte order mark in front', async () => {
    async function* pages() {
      yield [['一', 1]]
      yield []
      yield [['二', 2]]
    }
    const bytes = await text(csvStream(['名', '数'], pages()))
    assert.equal(bytes.replace(/^\uFEFF/, ''), '名,数\r\n一,1\r\n二,2\r\n')
  })
})

/** One line of CSV, read back as RFC 4180 has it. */
function parse(line: string): string[] {
  const cells: string[] = []
  let rest = line.slice(0, -2)
  for (;;) {
    const match = rest.startsWith('"') ? /^"((?:[^"]|"")*)"(,|$)/.exec(rest) : /^([^,]*)(,|$)/.exec(rest)
    assert.ok(match, 'a line that cannot be read')
    cells.push(rest.startsWith('"') ? match[1]!.replaceAll('""', '"') : match[1]!)
    if (match[2] === '') return cells
    rest = rest.slice(match[0].length)
  }
}
