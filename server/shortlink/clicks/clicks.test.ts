import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { describeAgent } from './user-agents.ts'
import { isJournalEmpty } from './journal-store.ts'
import { findClickTotals } from './store.ts'
import { type ClickWriter, openClickWriter } from './writer.ts'
import { otherReferrers } from './batch.ts'
import { openClicks, type Visit } from './clicks.ts'
import { watchedDomains } from '../domains/domains.ts'
import { addDomain } from '../domains/store.ts'
import { findCodes } from '../codes/store.ts'
import { listPoolDomains, openLookup } from '../redirect/lookup-store.ts'

const person = describeAgent(
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
)

function visit(linkId: number, more: Partial<Visit> = {}): Visit {
  return { linkId, agent: person, isLookingAhead: false, referrer: '', address: '203.0.113.7', ...more }
}

/** The real writer behind a switch, as a database that goes away and comes back. */
function switched(writer: ClickWriter): ClickWriter & { isAway: boolean } {
  return {
    isAway: false,
    run(job) {
      return this.isAway ? Promise.reject(new Error('away')) : writer.run(job)
    },
    close: () => writer.close(),
  }
}

onEachEngine('the click buffer', (engine) => {
  test('keeps every click through failed writes, and writes each once', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = switched(openClickWriter(fresh.db))
    const problems: unknown[] = []
    const clicks = openClicks({ writer, isJournalLeft: false, onError: (error) => problems.push(error) })
    for (let i = 0; i < 10; i += 1) clicks.count(visit(1))
    writer.isAway = true
    await assert.rejects(clicks.flush(), /away/)
    for (let i = 0; i < 5; i += 1) clicks.count(visit(1, { referrer: 'news.test' }))
    clicks.count(visit(2))
    await assert.rejects(clicks.flush(1), /away/)
    writer.isAway = false
    const writing = clicks.flush(1)
    await Promise.resolve()
    clicks.count(visit(1))
    await writing
    assert.equal((await findClickTotals(fresh.db, 1)).person, 15)
    await clicks.stop()
    assert.equal((await findClickTotals(fresh.db, 1)).person, 16)
    assert.equal((await findClickTotals(fresh.db, 2)).person, 1)
    assert.deepEqual([problems.length, clicks.lost()], [0, 0])
    await clicks.flush()
    assert.equal((await findClickTotals(fresh.db, 1)).person, 16)
    await writer.close()
  })

  test('counts many links from many places, and visitors once a day', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = openClickWriter(fresh.db)
    const clicks = openClicks({
      writer,
      isJournalLeft: false,
      onError: (error) => assert.fail(String(error)),
    })
    for (let i = 0; i < 12_000; i += 1)
      clicks.count(visit(1 + (i % 3_000), { address: `203.0.113.${i % 4_001}` }))
    for (let i = 0; i < 300; i += 1) clicks.count(visit(9_999, { referrer: `site${i}.test` }))
    clicks.count(visit(9_999, { isLookingAhead: true, referrer: 'site1.test' }))
    await clicks.stop()
    await writer.close()
    const { db } = fresh
    const [sum] = await db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 12_301)
    const [one] = await db.all<{ visitors: number }>(
      'SELECT COUNT(*) AS visitors FROM link_visitor WHERE link_id = 7',
    )
    assert.equal(one?.visitors, 4)
    const places = await db.all<{ referrer: string; clicks: number }>(
      `SELECT referrer, clicks FROM link_click WHERE link_id = 9999 AND kind = 'person'`,
    )
    assert.equal(places.length, 51)
    assert.equal(places.find(({ referrer }) => referrer === otherReferrers)?.clicks, 250)
  })

  test('counts a crowd to the last click, whoever asks meanwhile', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const writer = openClickWriter(db)
    const clicks = openClicks({
      writer,
      isJournalLeft: false,
      onError: (error) => assert.fail(String(error)),
    })
    clicks.start()
    let wasJournalUsed = false
    for (let round = 1; round <= 30; round += 1) {
      for (let i = 0; i < 1_500; i += 1) clicks.count(visit(1 + (i % 1_200)))
      if (round % 10 !== 0) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        wasJournalUsed ||= !(await isJournalEmpty(db))
        continue
      }
      await Promise.all([clicks.flush(7), clicks.flush(1_100)])
      assert.equal((await findClickTotals(db, 7)).person, round * 2)
      assert.equal((await findClickTotals(db, 1_100)).person, round)
    }
    await clicks.stop()
    await writer.close()
    assert.ok(wasJournalUsed)
    assert.equal(await isJournalEmpty(db), true)
    const [sum] = await db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 45_000)
  })

  test('writes down what comes while the journal is folded, however long that takes', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = openClickWriter(fresh.db)
    const kinds: string[] = []
    const slow: ClickWriter = {
      async run(job) {
        kinds.push(job.kind)
        if (job.kind === 'fold') await new Promise((resolve) => setTimeout(resolve, 200))
        return writer.run(job)
      },
      close: () => writer.close(),
    }
    const clicks = openClicks({
      writer: slow,
      isJournalLeft: false,
      onError: (error) => assert.fail(String(error)),
    })
    for (let linkId = 1; linkId <= 5_000; linkId += 1) clicks.count(visit(linkId))
    const folding = clicks.flush()
    while (!kinds.includes('fold')) await new Promise((resolve) => setTimeout(resolve, 5))
    for (let i = 0; i < 10; i += 1) clicks.count(visit(3))
    await folding
    assert.ok(kinds.indexOf('note', kinds.indexOf('fold')) < kinds.lastIndexOf('fold'), kinds.join(' '))
    assert.ok(kinds.indexOf('note', kinds.indexOf('fold')) !== -1, kinds.join(' '))
    await clicks.stop()
    await writer.close()
    assert.equal((await findClickTotals(fresh.db, 3)).person, 11)
  })

  test('counts what a killed process has left in the journal', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const writer = openClickWriter(db)
    const killed = openClicks({ writer, isJournalLeft: false, onError: () => {} })
    for (let i = 0; i < 1_000; i += 1) killed.count(visit(5))
    while (await isJournalEmpty(db)) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.equal((await findClickTotals(db, 5)).person, 0)
    const clicks = openClicks({ writer, isJournalLeft: true, onError: (error) => assert.fail(String(error)) })
    clicks.start()
    while (!(await isJournalEmpty(db))) await new Promise((resolve) => setTimeout(resolve, 10))
    await clicks.stop()
    await writer.close()
    assert.equal((await findClickTotals(db, 5)).person, 1_000)
  })

  test('stays bounded while the database is away, and says what it lost', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = switched(openClickWriter(fresh.db))
    writer.isAway = true
    const clicks = openClicks({ writer, isJournalLeft: false, onError: () => {} })
    const links = 60_000
    for (let linkId = 1; linkId <= links; linkId += 1) clicks.count(visit(linkId))
    await new Promise((resolve) => setImmediate(resolve))
    for (let linkId = 1; linkId <= links; linkId += 1) clicks.count(visit(linkId))
    await assert.rejects(clicks.flush(), /away/)
    const lost = clicks.lost()
    assert.ok(lost >= 2 * (links - 50_000), String(lost))
    writer.isAway = false
    await clicks.stop()
    await writer.close()
    assert.equal(clicks.lost(), lost)
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks) + clicks.lost(), 2 * links)
  })
})

onEachEngine('watched domains', (engine) => {
  test('a domain found blocked gets no new links; the operator is told once', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    await db.write((tx) => addDomain(tx, 'a', 'a.test'))
    await db.write((tx) => addDomain(tx, 'b', 'b.test'))
    const told: string[] = []
    const log = {
      warn: (facts: object, text: string) => void told.push(`warn ${JSON.stringify(facts)} ${text}`),
      info: (facts: object, text: string) => void told.push(`info ${JSON.stringify(facts)} ${text}`),
    }
    const watched = watchedDomains(db, openLookup(db, await findCodes(db)), log)
    assert.deepEqual(await watched.hosts(), ['a.test', 'b.test'])
    await watched.found('a.test', true)
    await watched.found('a.test', true)
    await watched.found('b.test', false)
    await watched.found('unknown.test', true)
    assert.equal(told.length, 1)
    assert.match(told[0] ?? '', /^warn \{"domain":"a\.test"\} .*blocked/)
    const [domain] = await listPoolDomains(db)
    assert.equal(domain?.blocked, 1)
    assert.ok(domain.blocked_at)
    await watched.found('a.test', false)
    assert.equal(told.length, 2)
    assert.equal((await listPoolDomains(db))[0]?.blocked_at, null)
  })
})
