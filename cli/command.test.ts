// Tables of the command line, in a terminal where a Chinese character is as wide as two others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { table } from './command.ts'

test('columns stand under each other, whatever the script', () => {
  assert.equal(
    table(
      ['code', 'status', 'name'],
      [
        ['CODE', '审核通过', '验证码（通用）'],
        ['通知', 'x', undefined],
        ['A', null, 7],
      ],
    ),
    ['code  status    name', 'CODE  审核通过  验证码（通用）', '通知  x         -', 'A     -         7'].join(
      '\n',
    ),
  )
})

test('a text of a customer can neither add a row nor control the terminal', () => {
  assert.equal(table(['id', 'content'], [[1, 'a\u001b[2J\r\n2  b\u202ec']]), 'id  content\n1   a [2J 2  b c')
})
