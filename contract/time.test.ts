// Days and times of Shanghai, independent of the time zone of the machine.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { endOfDay, formatDay, formatTime, startOfDay } from './time.ts'

it('speaks Shanghai time whatever the machine does', () => {
  assert.equal(formatTime(Date.parse('2026-01-01T16:00:00Z')), '2026-01-02 00:00:00')
  assert.equal(formatDay(Date.parse('2026-01-01T15:59:59.999Z')), '2026-01-01')
  assert.equal(startOfDay('2026-01-02'), Date.parse('2026-01-01T16:00:00Z'))
  assert.equal(endOfDay('2026-01-02'), Date.parse('2026-01-02T16:00:00Z'))
})

it('knows which days exist', () => {
  for (const day of ['2026-02-29', '2026-13-01', '2026-00-10', '2026-1-1', '20260101', 'today', '']) {
    assert.equal(startOfDay(day), undefined, day)
  }
  assert.notEqual(startOfDay('2028-02-29'), undefined)
})

it('finds every moment within its own day', () => {
  const moments = fc.integer({ min: Date.parse('1971-01-01Z'), max: Date.parse('2199-12-31Z') })
  fc.assert(
    fc.property(moments, (ms) => {
      const day = formatDay(ms)
      assert.ok(startOfDay(day)! <= ms && ms < endOfDay(day)!)
    }),
  )
})
