import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Agent, describeAgent } from './user-agents.ts'
import { type ClickBatch, combine, cut, openDraft, otherReferrers } from './batch.ts'
import { dayOfHour } from './hours.ts'

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0',
  'curl/8',
].map(describeAgent)

interface Visit {
  readonly linkId: number
  readonly hour: number
  readonly agent: Agent
  readonly referrer: string
  readonly address: string
}

const visits: fc.Arbitrary<Visit[]> = fc.array(
  fc.record({
    linkId: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 2 ** 45 })),
    hour: fc.constantFrom(495_999, 496_000),
    agent: fc.constantFrom(...agents),
    referrer: fc.constantFrom('', 'news.test', 'shop.test'),
    address: fc.constantFrom('203.0.113.7', '203.0.113.8', '2001:db8::1'),
  }),
  { maxLength: 200 },
)

function drafted(list: readonly Visit[]): ClickBatch<string> {
  const draft = openDraft()
  for (const { linkId, hour, agent, referrer, address } of list) {
    draft.add(linkId, hour, agent.usual, referrer)
    if (agent.usual.kind === 'person') draft.addVisitor(linkId, hour, address, agent)
  }
  assert.equal(draft.clicks(), list.length)
  return draft.batch()
}

/** What a batch says, in words that do not depend on its order or its tables. */
function meaning(batches: Iterable<ClickBatch<string>>) {
  const clicks = new Map<string, number>()
  const visitors = new Set<string>()
  for (const batch of batches) {
    for (const [row, linkId] of [...batch.linkIds].entries()) {
      const { kind, device, browser } = batch.agentTable[batch.agents[row]!]!
      const referrer = batch.referrerTable[batch.referrers[row]!]!
      const name = [linkId, batch.hours[row], kind, device, browser, referrer].join(' ')
      clicks.set(name, (clicks.get(name) ?? 0) + batch.clicks[row]!)
    }
    for (const [row, linkId] of [...batch.visitorLinkIds].entries()) {
      visitors.add(`${linkId} ${batch.visitorDays[row]} ${batch.visitorTable[batch.visitors[row]!]}`)
    }
  }
  return { clicks, visitors }
}

const sum = (column: Iterable<number>) => [...column].reduce((total, one) => total + one, 0)
const sorted = (column: Iterable<number>) => [...column].sort((a, b) => a - b)

test('a draft keeps who came, from where and when', () => {
  fc.assert(
    fc.property(visits, (list) => {
      const { clicks, visitors } = meaning([drafted(list)])
      const expected = new Map<string, number>()
      const people = new Set<string>()
      for (const { linkId, hour, agent, referrer, address } of list) {
        const { kind, device, browser } = agent.usual
        const name = [linkId, hour, kind, device, browser, referrer].join(' ')
        expected.set(name, (expected.get(name) ?? 0) + 1)
        if (kind === 'person') people.add(`${linkId} ${dayOfHour(hour)} ${address}\n${agent.text}`)
      }
      assert.deepEqual(clicks, expected)
      assert.deepEqual(visitors, people)
    }),
  )
})

test('combining changes nothing that is said, says it once and in the order of the links', () => {
  fc.assert(
    fc.property(fc.array(visits, { maxLength: 5 }), (lists) => {
      const batches = lists.map(drafted)
      const { batch, lost } = combine(batches)
      assert.equal(lost, 0)
      assert.deepEqual(meaning([batch]), meaning(batches))
      const { clicks, visitors } = meaning([batch])
      assert.equal(batch.linkIds.length, clicks.size)
      assert.equal(batch.visitors.length, visitors.size)
      assert.deepEqual([...batch.linkIds], sorted(batch.linkIds))
      assert.deepEqual([...batch.visitorLinkIds], sorted(batch.visitorLinkIds))
      assert.deepEqual(combine([batch]).batch, batch)
    }),
  )
})

test('pieces together say the same, and none is larger than asked', () => {
  fc.assert(
    fc.property(visits, fc.integer({ min: 1, max: 50 }), (list, most) => {
      const { batch } = combine([drafted(list)])
      const pieces = [...cut(batch, most)]
      assert.deepEqual(meaning(pieces), meaning([batch]))
      for (const piece of pieces) {
        assert.ok(piece.linkIds.length <= most && piece.linkIds.length > 0)
        assert.equal(new Set(piece.visitors).size, piece.visitorTable.length)
      }
      assert.equal(pieces.length, Math.ceil(batch.linkIds.length / most))
      assert.equal(sum(pieces.map(({ visitors }) => visitors.length)), batch.visitors.length)
    }),
  )
})

test('a bound holds, and what is beyond it is told', () => {
  fc.assert(
    fc.property(fc.array(visits, { maxLength: 3 }), fc.integer({ min: 0, max: 60 }), (lists, most) => {
      const batches = lists.map(drafted)
      const { batch, lost } = combine(batches, most)
      assert.ok(batch.linkIds.length <= most && batch.visitors.length <= most)
      assert.equal(sum(batch.clicks) + lost, sum(lists.map(({ length }) => length)))
      const all = meaning(batches).clicks
      for (const [name, clicks] of meaning([batch]).clicks) assert.ok(clicks <= all.get(name)!)
    }),
  )
})

test('a link with clicks from very many places has the later ones counted together', () => {
  const list = Array.from({ length: 400 }, (_, place) => ({
    linkId: 1 + (place % 2),
    hour: 496_000,
    agent: agents[0]!,
    referrer: `site${place}.test`,
    address: `203.0.113.${place}`,
  }))
  const { batch } = combine([drafted(list), drafted(list)])
  const { clicks, visitors } = meaning([batch])
  assert.equal(clicks.size, 2 * 51)
  assert.equal(sum(clicks.values()), 800)
  const others = [...clicks].filter(([name]) => name.endsWith(` ${otherReferrers}`))
  assert.deepEqual(
    others.map(([, count]) => count),
    [300, 300],
  )
  assert.equal(visitors.size, 400)
})
