// The buffer of visits: merged, and bounded.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeAgent } from './user-agents.ts'
import { createVisitBuffer, mergeRows, toColumns, toRows, type VisitRow } from './visit-buffer.ts'

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0',
  'curl/8',
].map(describeAgent)

const visits = fc.array(
  fc.record({
    linkId: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 2 ** 45 })),
    hour: fc.constantFrom(495_999, 496_000),
    agent: fc.constantFrom(...agents),
    isPrefetch: fc.boolean(),
    referrer: fc.constantFrom('', 'news.test', 'shop.test'),
    address: fc.constantFrom('203.0.113.7', '203.0.113.8', '2001:db8::1'),
  }),
  { maxLength: 200 },
)

const counterOf = (row: Omit<VisitRow, 'clicks'>) =>
  [row.linkId, row.hour, row.agent.text, row.isPrefetch, row.referrer].join(' ')

/** Clicks by everything that distinguishes them, independent of the order. */
function clicksBy(keyOf: (row: VisitRow) => string, rows: readonly VisitRow[]): Map<string, number> {
  const clicks = new Map<string, number>()
  for (const row of rows) clicks.set(keyOf(row), (clicks.get(keyOf(row)) ?? 0) + row.clicks)
  return clicks
}

const clicksByVisitor = (rows: readonly VisitRow[]) =>
  clicksBy((row) => `${counterOf(row)} ${row.address}`, rows)
const total = (rows: readonly VisitRow[]) => rows.reduce((sum, row) => sum + row.clicks, 0)
const rowsOf = (list: readonly Omit<VisitRow, 'clicks'>[]) => list.map((visit) => ({ ...visit, clicks: 1 }))

test('the buffer returns every visit once', () => {
  fc.assert(
    fc.property(visits, visits, (first, second) => {
      const buffer = createVisitBuffer()
      for (const visit of first) buffer.add(visit, visit.hour)
      assert.equal(buffer.clicks(), first.length)
      const taken = buffer.take()
      assert.equal(buffer.clicks(), 0)
      for (const visit of second) buffer.add(visit, visit.hour)
      assert.equal(buffer.clicks(), second.length)
      for (const { linkId } of second) assert.ok(buffer.has(linkId))
      const all = [...taken, ...buffer.take()]
      assert.deepEqual(clicksByVisitor(all), clicksByVisitor(rowsOf([...first, ...second])))
      assert.equal(buffer.lost(), 0)
    }),
  )
})

test('toRows restores what toColumns was given', () => {
  fc.assert(fc.property(visits, (list) => assert.deepEqual(toRows(toColumns(rowsOf(list))), rowsOf(list))))
})

test('mergeRows merges equal visits and changes nothing else', () => {
  fc.assert(
    fc.property(visits, (list) => {
      const { rows, lost } = mergeRows(rowsOf(list), 1_000)
      const expected = clicksByVisitor(rowsOf(list))
      assert.deepEqual(clicksByVisitor(rows), expected)
      assert.deepEqual([rows.length, lost], [expected.size, 0])
    }),
  )
})

test('mergeRows keeps to the limit and reports what does not fit', () => {
  fc.assert(
    fc.property(visits, fc.integer({ min: 0, max: 60 }), (list, limit) => {
      const { rows, lost } = mergeRows(rowsOf(list), limit)
      assert.ok(rows.length <= limit)
      assert.equal(total(rows) + lost, list.length)
      const all = clicksBy(counterOf, rowsOf(list))
      for (const [key, clicks] of clicksBy(counterOf, rows)) assert.ok(clicks <= all.get(key)!)
    }),
  )
})
