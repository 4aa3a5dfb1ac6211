// Moments in a text field.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../../contract/time.ts'
import { readMoment, showMoment } from './moment.ts'

test('reads a moment with or without seconds, and nothing else', () => {
  for (const typed of ['2036-01-02 03:04', ' 2036-01-02  03:04 ', '2036-01-02T03:04', '2036-01-02 03:04:00'])
    assert.equal(readMoment(typed), '2036-01-02 03:04:00')
  assert.equal(readMoment('2036-01-02 03:04:59'), '2036-01-02 03:04:59')
  for (const typed of [
    '',
    '2036-01-02',
    '2036-02-30 00:00',
    '2036-01-02 24:00',
    '02/01/2036 03:04',
    '2036-1-2 3:04',
  ])
    assert.equal(readMoment(typed), undefined, typed)
})

test('shows a moment in the form that it reads, with its seconds if it has any', () => {
  for (const text of ['2036-01-02 03:04', '2036-01-02 03:04:05']) {
    assert.equal(showMoment(parseTime(readMoment(text)!)!), text)
  }
})
