// The journal: every click that was written down is counted once, whatever happens on the way.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { describeAgent } from './user-agents.ts'
import { openDraft } from './batch.ts'
import { foldAll, foldStep, isJournalEmpty, noteClicks } from './journal-store.ts'
import { runClickJob } from './job-store.ts'
import { hourOf } from './hours.ts'

const person = describeAgent(
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
)
const bot = describeAgent('curl/8')
const hour = hourOf(Date.parse('2026-11-15T12:00:00+08:00'))

/** A thousand clicks, each of another link, by people and bots. */
function thousand(firstLink: number) {
  const draft = openDraft()
  for (let n = 0; n < 1_000; n += 1) {
    const agent = n % 10 === 0 ? bot : person
    draft.add(firstLink + n, hour, agent.usual, n % 3 === 0 ? 'news.test' : '')
    if (agent === person) draft.addVisitor(firstLink + n, hour, `203.0.113.${n % 50}`, agent)
  }
  return draft.batch()
}

async function counted(db: Database) {
  const clicks = await db.all<Record<string, unknown>>(
    'SELECT * FROM link_click ORDER BY link_id, hour, kind, device, browser, referrer',
  )
  const [visitors] = await db.all<{ visitors: number }>('SELECT COUNT(*) AS visitors FROM link_visitor')
  return { clicks: clicks.map((row) => ({ ...row })), visitors: visitors?.visitors }
}

const note = (db: Database, firstLink: number) => db.write((tx) => noteClicks(tx, thousand(firstLink)))

onEachEngine('the click journal', (engine) => {
  test('ends in the same counters as counting at once', async () => {
    await using fresh = await freshDatabase(engine)
    await using plain = await freshDatabase(engine)
    assert.equal(await isJournalEmpty(fresh.db), true)
    for (const firstLink of [1, 500, 1, 7_000, 1, 2_500]) {
      await note(fresh.db, firstLink)
      await runClickJob(plain.db, { kind: 'add', batch: thousand(firstLink) })
    }
    assert.equal(await isJournalEmpty(fresh.db), false)
    assert.deepEqual((await counted(fresh.db)).clicks, [])
    await foldAll(fresh.db)
    assert.equal(await isJournalEmpty(fresh.db), true)
    assert.deepEqual(await counted(fresh.db), await counted(plain.db))
    await foldAll(fresh.db)
    assert.deepEqual(await counted(fresh.db), await counted(plain.db))
  })

  test('holds no address and no browser', async () => {
    await using fresh = await freshDatabase(engine)
    await note(fresh.db, 1)
    const rows = await fresh.db.all<{ clicks: string }>('SELECT clicks FROM link_click_journal')
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]!.clicks, /203\.0|Mozilla|Windows/)
    assert.match(rows[0]!.clicks, /news\.test/)
  })

  test('goes on where it was left, also after its process was killed', async () => {
    await using fresh = await freshDatabase(engine)
    await using plain = await freshDatabase(engine)
    for (let round = 0; round < 5; round += 1) {
      await note(fresh.db, 1 + round * 400)
      await runClickJob(plain.db, { kind: 'add', batch: thousand(1 + round * 400) })
    }
    // Added up into pieces, of which one is counted; then others come, and another process takes over.
    const upTo = await foldStep(fresh.db)
    assert.ok(upTo !== undefined)
    await foldStep(fresh.db, upTo)
    await note(fresh.db, 9_000)
    await runClickJob(plain.db, { kind: 'add', batch: thousand(9_000) })
    const other = fresh.storage.open()
    await foldAll(other)
    assert.deepEqual(await counted(other), await counted(plain.db))
    await other.close()
  })

  test('is folded up to where it stood, however many come meanwhile', async () => {
    await using fresh = await freshDatabase(engine)
    await note(fresh.db, 1)
    await note(fresh.db, 2_000)
    let steps = 0
    for (let upTo = await foldStep(fresh.db); upTo !== undefined; upTo = await foldStep(fresh.db, upTo)) {
      steps += 1
      assert.ok(steps < 20)
      await note(fresh.db, 1)
    }
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 2_000)
    await foldAll(fresh.db)
    const [all] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(all?.clicks), 2_000 + steps * 1_000)
  })

  test('is folded by several processes at once, each click by one of them', async () => {
    await using fresh = await freshDatabase(engine)
    const others = [fresh.storage.open(), fresh.storage.open()]
    const all = [fresh.db, ...others]
    const work = all.flatMap((db, index) =>
      Array.from({ length: 6 }, async (_, round) => {
        await note(db, 1 + index * 300 + round * 200)
        await foldAll(db)
      }),
    )
    await Promise.all(work)
    await foldAll(fresh.db)
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 18_000)
    for (const db of others) await db.close()
  })
})
