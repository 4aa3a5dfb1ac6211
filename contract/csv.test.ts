// No cell runs as a formula, and no cell breaks out of its column.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { csvLine, formatCsv } from './csv.ts'

void describe('csv', () => {
  it('quotes cells, escapes formulas and leaves numbers as they are', () => {
    const text = formatCsv([
      ['name', 'value'],
      ['a "b", c', -5],
      ['=1+1', '@x'],
      ['two\nlines', '+86'],
    ])
    assert.equal(text, '\uFEFFname,value\r\n"a ""b"", c",-5\r\n\'=1+1,\'@x\r\n"two\nlines",\'+86\r\n')
  })

  it('puts an apostrophe before text that a spreadsheet would run as a formula', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r', '\n']) {
      const [cell] = parse(csvLine([`${start}1+1`, 'x']))
      assert.equal(cell, `'${start}1+1`)
    }
    assert.equal(csvLine([-5, 'a-b', null, undefined, true, '']), '-5,a-b,,,true,\r\n')
  })

  it('a reader gets every cell back, apart from the apostrophe before formulas', () => {
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
})

/** Reads one line of CSV as defined by RFC 4180. */
function parse(line: string): string[] {
  const cells: string[] = []
  let rest = line.slice(0, -2)
  for (;;) {
    const match = rest.startsWith('"') ? /^"((?:[^"]|"")*)"(,|$)/.exec(rest) : /^([^,]*)(,|$)/.exec(rest)
    assert.ok(match, 'the line cannot be parsed')
    cells.push(rest.startsWith('"') ? match[1]!.replaceAll('""', '"') : match[1]!)
    if (match[2] === '') return cells
    rest = rest.slice(match[0].length)
  }
}
