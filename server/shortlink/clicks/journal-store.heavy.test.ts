// Every click in the journal is counted once, also after a crash and with several processes.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { describeAgent } from './user-agents.ts'
import type { ClickCounter, JournalEntry } from './counts.ts'
import { hourOf } from './hours.ts'
import { appendVisits, foldStep, isJournalEmpty } from './journal-store.ts'

const person = describeAgent(
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
)
const bot = describeAgent('curl/8')
const hour = hourOf(Date.parse('2026-11-15T12:00:00+08:00'))

/** A thousand clicks, each of another link, by people and bots. */
function visitsOf(firstLink: number) {
  return Array.from({ length: 1_000 }, (_, n) => ({
    linkId: firstLink + n,
    hour,
    agent: n % 10 === 0 ? bot : person,
    isPrefetch: false,
    referrer: n % 3 === 0 ? 'news.test' : '',
    address: `203.0.113.${n % 50}`,
    clicks: 1,
  }))
}

async function foldAll(db: Database): Promise<void> {
  let upTo: number | undefined
  do upTo = await foldStep(db, upTo)
  while (upTo !== undefined)
}

async function counted(db: Database) {
  const clicks = await db.all<Record<string, unknown>>(
    'SELECT * FROM link_click ORDER BY link_id, hour, kind, device, browser, referrer',
  )
  const [visitors] = await db.all<{ visitors: number }>('SELECT COUNT(*) AS visitors FROM link_visitor')
  return { clicks: clicks.map((row) => ({ ...row })), visitors: visitors?.visitors }
}

const append = (db: Database, firstLink: number, id: string = randomUUID()) =>
  db.write((tx) => appendVisits(tx, id, visitsOf(firstLink)))

/** Folds each row by itself, in one transaction. */
async function count(db: Database, firstLink: number): Promise<void> {
  await append(db, firstLink)
  await foldAll(db)
}

onEachEngine('the click journal', (engine) => {
  test('counts a batch once, also when its append is repeated after the fold', async () => {
    await using fresh = await freshDatabase(engine)
    await append(fresh.db, 1, 'batch')
    await append(fresh.db, 1, 'batch')
    await foldAll(fresh.db)
    const once = await counted(fresh.db)
    await append(fresh.db, 1, 'batch')
    await foldAll(fresh.db)
    assert.deepEqual(await counted(fresh.db), once)
    await append(fresh.db, 1, 'other')
    assert.equal(await isJournalEmpty(fresh.db), false)
  })

  test('counts rows of an earlier version', async () => {
    await using fresh = await freshDatabase(engine)
    const phone = ['person', 'phone', 'wechat'] as const
    const entries: JournalEntry[] = [
      [1, hour, ...phone, 'news.test', 2, 7, 'ios', 'wechat', 'CN', 'CN-GD'],
      [1, hour, ...phone, 'news.test', 1, 8, 'ios', 'wechat', 'CN', 'CN-BJ'],
      [2, hour, 'bot', 'other', 'other', '', 5, null],
    ]
    await append(fresh.db, 100)
    await fresh.db.write((tx) =>
      tx.run('INSERT INTO link_click_journal (is_aggregated, clicks) VALUES (0, ?)', [
        JSON.stringify(entries),
      ]),
    )
    await append(fresh.db, 100)
    await foldAll(fresh.db)
    assert.equal(await isJournalEmpty(fresh.db), true)
    const counters = await fresh.db.all<ClickCounter>('SELECT * FROM link_click ORDER BY link_id')
    assert.deepEqual(counters.slice(0, 2), [
      {
        link_id: 1,
        hour,
        kind: 'person',
        device: 'phone',
        browser: 'wechat',
        referrer: 'news.test',
        clicks: 3,
      },
      { link_id: 2, hour, kind: 'bot', device: 'other', browser: 'other', referrer: '', clicks: 5 },
    ])
    const parts = await fresh.db.all<{ value: string; clicks: number }>(
      'SELECT value, clicks FROM link_click_part WHERE link_id = 1 ORDER BY value',
    )
    assert.deepEqual(
      parts.map(({ value, clicks }) => [value, clicks]),
      [
        ['CN', 3],
        ['CN-BJ', 1],
        ['CN-GD', 2],
        ['ios', 3],
        ['wechat', 3],
      ],
    )
    assert.equal(counters.filter(({ clicks }) => clicks === 2).length, 1_000)
  })

  test('gives the same counters when rows are folded together or one by one', async () => {
    await using fresh = await freshDatabase(engine)
    await using plain = await freshDatabase(engine)
    assert.equal(await isJournalEmpty(fresh.db), true)
    for (const firstLink of [1, 500, 1, 7_000, 1, 2_500]) {
      await append(fresh.db, firstLink)
      await count(plain.db, firstLink)
    }
    assert.equal(await isJournalEmpty(fresh.db), false)
    assert.deepEqual((await counted(fresh.db)).clicks, [])
    await foldAll(fresh.db)
    assert.equal(await isJournalEmpty(fresh.db), true)
    assert.deepEqual(await counted(fresh.db), await counted(plain.db))
    await foldAll(fresh.db)
    assert.deepEqual(await counted(fresh.db), await counted(plain.db))
  })

  test('stores no address and no browser', async () => {
    await using fresh = await freshDatabase(engine)
    await append(fresh.db, 1)
    const rows = await fresh.db.all<{ clicks: string }>('SELECT clicks FROM link_click_journal')
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]!.clicks, /203\.0|Mozilla|Windows/)
    assert.match(rows[0]!.clicks, /news\.test/)
  })

  test('is continued by another process after a crash', async () => {
    await using fresh = await freshDatabase(engine)
    await using plain = await freshDatabase(engine)
    for (let round = 0; round < 5; round += 1) {
      await append(fresh.db, 1 + round * 400)
      await count(plain.db, 1 + round * 400)
    }
    // Two steps: split into pieces, and one piece counted. Then another process continues.
    const upTo = await foldStep(fresh.db)
    assert.ok(upTo !== undefined)
    await foldStep(fresh.db, upTo)
    await append(fresh.db, 9_000)
    await count(plain.db, 9_000)
    const other = fresh.storage.open()
    await foldAll(other)
    assert.deepEqual(await counted(other), await counted(plain.db))
    await other.close()
  })

  test('is folded up to the last row of its start', async () => {
    await using fresh = await freshDatabase(engine)
    await append(fresh.db, 1)
    await append(fresh.db, 2_000)
    let steps = 0
    for (let upTo = await foldStep(fresh.db); upTo !== undefined; upTo = await foldStep(fresh.db, upTo)) {
      steps += 1
      assert.ok(steps < 20)
      await append(fresh.db, 1)
    }
    const [sum] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(sum?.clicks), 2_000)
    await foldAll(fresh.db)
    const [all] = await fresh.db.all<{ clicks: number }>('SELECT SUM(clicks) AS clicks FROM link_click')
    assert.equal(Number(all?.clicks), 2_000 + steps * 1_000)
  })

  test('is folded by several processes at the same time, each click once', async () => {
    await using fresh = await freshDatabase(engine)
    const others = [fresh.storage.open(), fresh.storage.open()]
    const all = [fresh.db, ...others]
    const work = all.flatMap((db, index) =>
      Array.from({ length: 6 }, async (_, round) => {
        await append(db, 1 + index * 300 + round * 200)
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
