// The click pipeline: every click is counted once, also after failures.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { describeAgent } from './user-agents.ts'
import { isJournalEmpty } from './journal-store.ts'
import { findClickTotals } from './store.ts'
import { type ClickWriter, openClickWriter } from './writer.ts'
import { otherReferrers } from './counts.ts'
import { createClicks } from './clicks.ts'
import type { Visit } from './visit-buffer.ts'

const person = describeAgent(
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
)

function visit(linkId: number, more: Partial<Visit> = {}): Visit {
  return { linkId, agent: person, isPrefetch: false, referrer: '', address: '203.0.113.7', ...more }
}

/** A writer whose database can become unavailable. */
function switchable(writer: ClickWriter): ClickWriter & { isAway: boolean } {
  return {
    isAway: false,
    run(job) {
      return this.isAway ? Promise.reject(new Error('away')) : writer.run(job)
    },
    close: () => writer.close(),
  }
}

onEachEngine('the click pipeline', (engine) => {
  test('keeps clicks when a write fails, and counts each once', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = switchable(openClickWriter(fresh.db))
    const problems: unknown[] = []
    const clicks = createClicks({ writer, hasJournal: false, onError: (error) => problems.push(error) })
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
    assert.ok((await findClickTotals(fresh.db, 1)).person >= 15)
    await clicks.stop()
    assert.equal((await findClickTotals(fresh.db, 1)).person, 16)
    assert.equal((await findClickTotals(fresh.db, 2)).person, 1)
    assert.deepEqual([problems.length, clicks.lost()], [0, 0])
    await clicks.flush()
    assert.equal((await findClickTotals(fresh.db, 1)).person, 16)
    await writer.close()
  })

  test('counts clicks once when an append was committed but reported an error', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = openClickWriter(fresh.db)
    let errors = 2
    const unsure: ClickWriter = {
      async run(job) {
        const result = await writer.run(job)
        if (job.kind !== 'append' || errors === 0) return result
        errors -= 1
        // Another process folds the journal before the append is repeated.
        await writer.run({ kind: 'fold', upTo: undefined })
        throw new Error('connection lost after the commit')
      },
      close: () => writer.close(),
    }
    const clicks = createClicks({ writer: unsure, hasJournal: false, onError: () => undefined })
    for (let i = 0; i < 7; i += 1) clicks.count(visit(1))
    await assert.rejects(clicks.flush(), /connection lost/)
    for (let i = 0; i < 3; i += 1) clicks.count(visit(1))
    await assert.rejects(clicks.flush(), /connection lost/)
    await clicks.stop()
    assert.equal((await findClickTotals(fresh.db, 1)).person, 10)
    await writer.close()
  })

  test('counts many links and referrers, and each visitor once a day', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = openClickWriter(fresh.db)
    const clicks = createClicks({
      writer,
      hasJournal: false,
      onError: (error) => assert.fail(String(error)),
    })
    for (let i = 0; i < 12_000; i += 1)
      clicks.count(visit(1 + (i % 3_000), { address: `203.0.113.${i % 4_001}` }))
    for (let i = 0; i < 300; i += 1) clicks.count(visit(9_999, { referrer: `site${i}.test` }))
    clicks.count(visit(9_999, { isPrefetch: true, referrer: 'site1.test' }))
    await clicks.stop()
    await writer.close()
    const { db } = fresh
    const [sum] = await db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 12_301)
    const [one] = await db.all<{ visitors: number }>(
      'SELECT COUNT(*) AS visitors FROM link_visitor WHERE link_id = 7',
    )
    assert.equal(one?.visitors, 4)
    const counters = await db.all<{ referrer: string; clicks: number }>(
      `SELECT referrer, clicks FROM link_click WHERE link_id = 9999 AND kind = 'person'`,
    )
    assert.equal(counters.length, 51)
    assert.equal(counters.find(({ referrer }) => referrer === otherReferrers)?.clicks, 250)
  })

  test('counts every click under load, exactly for each flush', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const writer = openClickWriter(db)
    const clicks = createClicks({
      writer,
      hasJournal: false,
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

  test('appends new clicks while a long fold is running', async () => {
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
    const clicks = createClicks({
      writer: slow,
      hasJournal: false,
      onError: (error) => assert.fail(String(error)),
    })
    clicks.start()
    for (let linkId = 1; linkId <= 5_000; linkId += 1) clicks.count(visit(linkId))
    const folding = clicks.flush()
    while (!kinds.includes('fold')) await new Promise((resolve) => setTimeout(resolve, 5))
    for (let i = 0; i < 10; i += 1) clicks.count(visit(3))
    await folding
    assert.ok(kinds.indexOf('append', kinds.indexOf('fold')) < kinds.lastIndexOf('fold'), kinds.join(' '))
    assert.ok(kinds.indexOf('append', kinds.indexOf('fold')) !== -1, kinds.join(' '))
    await clicks.stop()
    await writer.close()
    assert.equal((await findClickTotals(fresh.db, 3)).person, 11)
  })

  test('folds what a killed process left in the journal', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const writer = openClickWriter(db)
    const appendOnly: ClickWriter = {
      ...writer,
      run: (job) => (job.kind === 'fold' ? Promise.reject(new Error('killed')) : writer.run(job)),
    }
    const killed = createClicks({ writer: appendOnly, hasJournal: false, onError: () => {} })
    for (let i = 0; i < 1_000; i += 1) killed.count(visit(5))
    while (await isJournalEmpty(db)) await new Promise((resolve) => setTimeout(resolve, 10))
    assert.equal((await findClickTotals(db, 5)).person, 0)
    const clicks = createClicks({ writer, hasJournal: true, onError: (error) => assert.fail(String(error)) })
    clicks.start()
    while (!(await isJournalEmpty(db))) await new Promise((resolve) => setTimeout(resolve, 10))
    await clicks.stop()
    await writer.close()
    assert.equal((await findClickTotals(db, 5)).person, 1_000)
  })

  test('bounds its memory while the database is unavailable, and reports lost clicks', async () => {
    await using fresh = await freshDatabase(engine)
    const writer = switchable(openClickWriter(fresh.db))
    writer.isAway = true
    const clicks = createClicks({ writer, hasJournal: false, onError: () => {} })
    const links = 60_000
    for (let linkId = 1; linkId <= links; linkId += 1) clicks.count(visit(linkId))
    await new Promise((resolve) => setImmediate(resolve))
    for (let linkId = 1; linkId <= links; linkId += 1) clicks.count(visit(linkId))
    await assert.rejects(clicks.flush(), /away/)
    const lost = clicks.lost()
    assert.ok(lost >= links - 50_000, String(lost))
    writer.isAway = false
    await clicks.stop()
    await writer.close()
    assert.equal(clicks.lost(), lost)
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks) + clicks.lost(), 2 * links)
  })
})
