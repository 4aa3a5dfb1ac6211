// Aggregation of clicks into counters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  aggregate,
  type ClickCounter,
  type ClickCounts,
  fromEntries,
  type JournalEntry,
  otherReferrers,
  split,
} from './counts.ts'
import { dayOfHour } from './hours.ts'

const clients = [
  { kind: 'person', device: 'desktop', browser: 'chrome' },
  { kind: 'person', device: 'phone', browser: 'wechat' },
  { kind: 'bot', device: 'other', browser: 'other' },
] as const

const entries: fc.Arbitrary<JournalEntry[]> = fc.array(
  fc
    .record({
      link_id: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 2 ** 45 })),
      hour: fc.constantFrom(495_999, 496_000),
      client: fc.constantFrom(...clients),
      referrer: fc.constantFrom('', 'news.test', 'shop.test'),
      clicks: fc.integer({ min: 1, max: 5 }),
      visitor: fc.constantFrom(1, 2, 2 ** 47, null),
    })
    .map(({ link_id, hour, client, referrer, clicks, visitor }): JournalEntry => [
      link_id,
      hour,
      client.kind,
      client.device,
      client.browser,
      referrer,
      clicks,
      visitor,
    ]),
  { maxLength: 200 },
)

const keyOf = (row: ClickCounter) =>
  [row.link_id, row.hour, row.kind, row.device, row.browser, row.referrer].join(' ')

/** Clicks by counter, and the visitors, independent of the order. */
function summary(parts: Iterable<ClickCounts>) {
  const clicks = new Map<string, number>()
  const visitors = new Set<string>()
  for (const part of parts) {
    for (const row of part.counters) clicks.set(keyOf(row), (clicks.get(keyOf(row)) ?? 0) + row.clicks)
    for (const { link_id, day, visitor } of part.visitors) visitors.add(`${link_id} ${day} ${visitor}`)
  }
  return { clicks, visitors }
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, number) => total + number, 0)
const linkIds = (rows: readonly { readonly link_id: number }[]) => rows.map(({ link_id }) => link_id)
const isSorted = (numbers: readonly number[]) =>
  numbers.every((number, index) => index === 0 || numbers[index - 1]! <= number)

test('aggregate returns each counter and each visitor once, sorted by link', () => {
  fc.assert(
    fc.property(entries, (list) => {
      const counts = aggregate([fromEntries(list)])
      const { clicks, visitors } = summary([counts])
      const expected = new Map<string, number>()
      const people = new Set<string>()
      for (const [linkId, hour, kind, device, browser, referrer, more, visitor] of list) {
        const key = [linkId, hour, kind, device, browser, referrer].join(' ')
        expected.set(key, (expected.get(key) ?? 0) + more)
        if (visitor !== null) people.add(`${linkId} ${dayOfHour(hour)} ${visitor}`)
      }
      assert.deepEqual(clicks, expected)
      assert.deepEqual(visitors, people)
      assert.equal(counts.counters.length, clicks.size)
      assert.equal(counts.visitors.length, visitors.size)
      assert.ok(isSorted(linkIds(counts.counters)) && isSorted(linkIds(counts.visitors)))
    }),
  )
})

test('split returns parts of at most the given size that add up to the whole', () => {
  fc.assert(
    fc.property(entries, fc.integer({ min: 1, max: 50 }), (list, size) => {
      const counts = aggregate([fromEntries(list)])
      const parts = [...split(counts, size)]
      assert.deepEqual(summary(parts), summary([counts]))
      for (const part of parts) assert.ok(part.counters.length <= size && part.counters.length > 0)
      assert.equal(parts.length, Math.ceil(counts.counters.length / size))
      assert.equal(sum(parts.map(({ visitors }) => visitors.length)), counts.visitors.length)
    }),
  )
})

test('aggregate counts the referrers of a link together after the first fifty', () => {
  const list = Array.from({ length: 400 }, (_, index): JournalEntry => [
    1 + (index % 2),
    496_000,
    'person',
    'desktop',
    'chrome',
    `site${index}.test`,
    1,
    index,
  ])
  const { clicks, visitors } = summary([aggregate([fromEntries(list), fromEntries(list)])])
  assert.equal(clicks.size, 2 * 51)
  assert.equal(sum(clicks.values()), 800)
  const others = [...clicks].filter(([key]) => key.endsWith(` ${otherReferrers}`))
  assert.deepEqual(
    others.map(([, count]) => count),
    [300, 300],
  )
  assert.equal(visitors.size, 400)
})
