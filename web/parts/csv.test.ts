import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCsv } from './csv.ts'

test('cells are quoted, formulas are not run, numbers stay numbers', () => {
  const text = toCsv([
    ['name', 'value'],
    ['a "b", c', '-5'],
    ['=1+1', '@x'],
    ['two\nlines', '+86'],
  ])
  assert.equal(text, '\uFEFFname,value\r\n"a ""b"", c",-5\r\n\'=1+1,\'@x\r\n"two\nlines",\'+86\r\n')
})
