// The queries of links and their clicks, on both engines.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { createAccount } from '../accounts/accounts.ts'
import type { Database } from '../db/database.ts'
import { describeAgent } from './clicks/user-agents.ts'
import { type ClickJob, runClickJob } from './clicks/thread-store.ts'
import { findClickTotals } from './clicks/store.ts'
import { toColumns } from './clicks/visit-buffer.ts'
import { type Codes, createCodes } from './codes/store.ts'
import { insertDomain, markDomainBlocked, removeDomain } from './domains/store.ts'
import { createDomainRotation } from './domains/domains.ts'
import { dayOfHour, firstHourOfDay, hourOf } from './clicks/hours.ts'
import { listPoolDomains, createLookup } from './redirect/lookup-store.ts'
import {
  CodeTaken,
  type CreatedLink,
  findOwnLink,
  findOwnLinkByCode,
  listRetiredCodes,
  insertLinks,
  type LinkInsert,
  refreshLink,
  updateLink,
} from './store.ts'
import { hourlyDays, rollUpClicks, rollupBounds } from './clicks/rollup.ts'

const person = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36'
const noHosts = { a: '', b: '' }

function newLink(accountId: number, url = 'https://example.com/'): LinkInsert {
  return {
    accountId,
    title: 'one',
    targetUrl: url,
    redirectUrlA: '',
    redirectType: 'direct',
    locationA: url,
    locationB: url,
    hosts: noHosts,
    createdAt: Date.now(),
  }
}

async function accountIn(db: Database, username = 'somebody'): Promise<number> {
  return (await createAccount(db, systemActor, { username, password: 'correct horse 9' })).id
}

const codes = createCodes(Buffer.alloc(16, 9))

/** Codes in this order, then an error. */
function codesInOrder(...list: string[]): Codes {
  const next = () => {
    const code = list.shift() ?? assert.fail('no more codes')
    return { code, position: codes.positionOf(code)! }
  }
  return { ...codes, next }
}

async function insertOne(db: Database, accountId: number, nextCodes: Codes): Promise<CreatedLink> {
  const [created] = await db.write((tx) => insertLinks(tx, [newLink(accountId)], nextCodes))
  return created!
}

onEachEngine('links', (engine) => {
  test('refreshLink skips codes that are or were in use', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const accountId = await accountIn(db)
    const first = await insertOne(db, accountId, codesInOrder('aaaaaaa'))
    await insertOne(db, accountId, codesInOrder('bbbbbbb'))
    const refresh = { accountId, id: first.id, hosts: { a: 'a.test', b: 'b.test' }, graceMs: 0 }
    assert.equal(
      await db.write((tx) => refreshLink(tx, refresh, codesInOrder('bbbbbbb', 'aaaaaaa', 'ccccccc'))),
      'ccccccc',
    )
    await assert.rejects(insertOne(db, accountId, codesInOrder('aaaaaaa')), CodeTaken)
    assert.equal(await findOwnLinkByCode(db, accountId, 'aaaaaaa', codes), undefined)
    assert.equal((await findOwnLinkByCode(db, accountId, 'ccccccc', codes))?.host_a, 'a.test')
    assert.deepEqual(
      (await listRetiredCodes(db, first.id, codes)).map(({ code }) => code),
      ['aaaaaaa'],
    )
  })

  test('refreshLink fails without a trace when no code is free', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const accountId = await accountIn(db)
    const { id } = await insertOne(db, accountId, codesInOrder('aaaaaaa'))
    const refresh = { accountId, id, hosts: { a: 'a.test', b: 'b.test' }, graceMs: 0 }
    const taken = codesInOrder(...Array<string>(50).fill('aaaaaaa'))
    await assert.rejects(
      db.write((tx) => refreshLink(tx, refresh, taken)),
      /no free code/,
    )
    assert.equal((await findOwnLink(db, accountId, id))?.code, 'aaaaaaa')
    assert.equal((await listRetiredCodes(db, id, codes)).length, 0)
  })

  test('insertLinks inserts all links, or none when a code is taken', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const accountId = await accountIn(db)
    const many = (count: number) => Array.from({ length: count }, () => newLink(accountId))
    const made = await db.write((tx) => insertLinks(tx, many(70), codes))
    assert.equal(new Set(made.map(({ code }) => code)).size, 70)
    for (const { id, code } of made) assert.equal((await createLookup(db, codes).find(code))?.id, id)

    const taken = made[33]!.code
    for (const makes of [
      codesInOrder('aaaaaaa', taken, 'bbbbbbb'),
      codesInOrder('ccccccc', 'ddddddd', 'ccccccc'),
    ]) {
      await assert.rejects(
        db.write((tx) => insertLinks(tx, many(3), makes)),
        CodeTaken,
      )
    }
    const [row] = await db.all<{ count: number }>('SELECT COUNT(*) AS count FROM link')
    assert.equal(row?.count, 70)
    assert.equal(await createLookup(db, codes).find('aaaaaaa'), undefined)
  })

  test('updateLink changes only the given fields; location_a follows the target unless it has a URL', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const accountId = await accountIn(db)
    const { id, code } = await insertOne(db, accountId, codes)
    const lookup = createLookup(db, codes)
    const change = (input: Parameters<typeof updateLink>[3]) =>
      db.write((tx) => updateLink(tx, accountId, id, input))
    const locations = async () => {
      const found = await lookup.find(code)
      return [found?.locationA, found?.locationB]
    }
    const target = (url: string) => ({ url, location: url })

    assert.equal(await change({ target: target('https://example.com/2') }), true)
    assert.deepEqual(await locations(), ['https://example.com/2', 'https://example.com/2'])
    await change({ targetA: target('https://example.com/a') })
    assert.deepEqual(await locations(), ['https://example.com/a', 'https://example.com/2'])
    await change({ target: target('https://example.com/3'), title: 'two', redirectType: 'page' })
    assert.deepEqual(await locations(), ['https://example.com/a', 'https://example.com/3'])
    await change({ targetA: { url: '', location: '' } })
    assert.deepEqual(await locations(), ['https://example.com/3', 'https://example.com/3'])
    const link = await findOwnLink(db, accountId, id)
    assert.deepEqual([link?.title, link?.redirect_type, link?.redirect_url_a], ['two', 'page', ''])

    const stranger = await accountIn(db, 'stranger')
    assert.equal(await db.write((tx) => updateLink(tx, stranger, id, { title: 'mine' })), false)
    const refresh = { accountId: stranger, id, hosts: noHosts, graceMs: 0 }
    assert.equal(await db.write((tx) => refreshLink(tx, refresh, codes)), undefined)
    assert.equal(await findOwnLinkByCode(db, stranger, code, codes), undefined)
  })

  test('the lookup returns changes of another connection', async () => {
    await using fresh = await freshDatabase(engine)
    const other = fresh.storage.open()
    const accountId = await accountIn(fresh.db)
    const { id, code } = await insertOne(fresh.db, accountId, codes)
    const lookup = createLookup(fresh.db, codes)
    const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
    assert.equal((await lookup.find(code))?.locationA, 'https://example.com/')
    await nextTurn()

    const url = 'https://example.com/other'
    await other.write((tx) => updateLink(tx, accountId, id, { target: { url, location: url } }))
    await nextTurn()
    assert.equal((await lookup.find(code))?.locationA, url)
    await nextTurn()
    await other.write((tx) => tx.run('UPDATE account SET suspended = 1 WHERE id = ?', [accountId]))
    await nextTurn()
    assert.equal((await lookup.find(code))?.suspended, true)
    await nextTurn()
    await other.write((tx) => refreshLink(tx, { accountId, id, hosts: noHosts, graceMs: 0 }, codes))
    await nextTurn()
    assert.equal((await lookup.find(code))?.liveUntil, 0)
    assert.equal((await lookup.pools()).byHost.get('s.test'), undefined)
    await nextTurn()
    await other.write((tx) => insertDomain(tx, 'b', 's.test'))
    await nextTurn()
    assert.equal((await lookup.pools()).byHost.get('s.test'), 'b')
    await other.close()
  })
})

onEachEngine('domain pools', (engine) => {
  test('a host never changes its pool and can be added again', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    assert.equal(await db.write((tx) => insertDomain(tx, 'a', 'a.test')), 'added')
    assert.equal(await db.write((tx) => insertDomain(tx, 'a', 'a.test')), 'added')
    assert.equal(await db.write((tx) => insertDomain(tx, 'b', 'a.test')), 'other_pool')
    assert.equal(await db.write((tx) => removeDomain(tx, 'b', 'a.test')), false)
    assert.equal(await db.write((tx) => removeDomain(tx, 'a', 'a.test')), true)
    assert.equal(await db.write((tx) => removeDomain(tx, 'a', 'a.test')), false)
    assert.equal(await db.write((tx) => insertDomain(tx, 'b', 'a.test')), 'other_pool')
    assert.equal((await listPoolDomains(db))[0]?.removed, 1)
    await db.write((tx) => insertDomain(tx, 'a', 'a.test'))
    assert.equal((await listPoolDomains(db))[0]?.removed, 0)
  })

  test('the rotation assigns domains that are neither removed nor blocked', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    for (const host of ['a1.test', 'a2.test', 'a3.test', 'a4.test'])
      await db.write((tx) => insertDomain(tx, 'a', host))
    await db.write((tx) => removeDomain(tx, 'a', 'a2.test'))
    assert.equal(await db.write((tx) => markDomainBlocked(tx, 'a3.test', true)), true)
    assert.equal(await db.write((tx) => markDomainBlocked(tx, 'a3.test', true)), false)
    const domains = await listPoolDomains(db)
    const rotation = createDomainRotation(0)
    const assigned = Array.from({ length: 6 }, () => rotation.next(domains))
    assert.deepEqual(assigned.map(({ a }) => a).toSorted(), [
      'a1.test',
      'a1.test',
      'a1.test',
      'a4.test',
      'a4.test',
      'a4.test',
    ])
    assert.ok(assigned.every(({ b }) => b === ''))
    assert.equal(rotation.after(domains, { a: 'a1.test', b: '' }).a, 'a4.test')
    assert.equal(rotation.after(domains, { a: 'a4.test', b: '' }).a, 'a1.test')
    assert.equal(rotation.after(domains, { a: 'a2.test', b: '' }).a, 'a4.test')
    assert.equal(await db.write((tx) => markDomainBlocked(tx, 'a3.test', false)), true)
    assert.equal(rotation.after(await listPoolDomains(db), { a: 'a1.test', b: '' }).a, 'a3.test')
  })
})

type VisitOf = [linkId: number, hour: number, clicks: number, agent?: string, address?: string]

/** Appends the visits to the journal and folds it. */
async function countVisits(db: Database, ...visits: readonly VisitOf[]): Promise<void> {
  const rows = visits.map(([linkId, hour, clicks, agent = person, address = '']) => ({
    linkId,
    hour,
    agent: describeAgent(agent),
    isPrefetch: false,
    referrer: 'news.test',
    address,
    clicks,
  }))
  await runClickJob(db, { kind: 'append', batch: { id: randomUUID(), visits: toColumns(rows) } })
  let upTo: number | undefined
  do upTo = await runClickJob(db, { kind: 'fold', upTo })
  while (upTo !== undefined)
}

onEachEngine('clicks', (engine) => {
  test('are summed by kind', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const hour = hourOf(Date.now())
    await countVisits(db, [1, hour, 3], [1, hour, 2, 'curl/8'], [2, hour, 7])
    await countVisits(db, [1, hour, 4], [1, hour + 1, 1], [1, hour, 1, 'TelegramBot'])
    assert.deepEqual(await findClickTotals(db, 1), { person: 8, bot: 2, preview: 1 })
    assert.deepEqual(await findClickTotals(db, 2), { person: 7, bot: 0, preview: 0 })
    assert.deepEqual(await findClickTotals(db, 3), { person: 0, bot: 0, preview: 0 })
  })

  test('are rolled up into Shanghai days, and none is lost', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const now = Date.parse('2026-11-15T03:00:00+08:00')
    const { hoursBefore } = rollupBounds(now)
    const today = dayOfHour(hourOf(now))
    assert.equal(hoursBefore, firstHourOfDay(today - hourlyDays))
    const oldDay = today - hourlyDays - 3
    const rows: VisitOf[] = []
    for (let linkId = 1; linkId <= 300; linkId += 1)
      for (let hour = firstHourOfDay(oldDay); hour < firstHourOfDay(oldDay + 1); hour += 1)
        rows.push([linkId, hour, 1])
    rows.push([1, firstHourOfDay(oldDay + 1), 5], [1, hoursBefore + 5, 2], [1, hourOf(now), 1])
    await countVisits(db, ...rows)

    const run = (job: ClickJob) => runClickJob(db, job)
    await rollUpClicks(run, now)
    let writes = 0
    db.stats.onCommit = () => void (writes += 1)
    assert.equal(await run({ kind: 'rollUpHours', before: hoursBefore, after: 0 }), undefined)
    assert.equal(writes, 0, 'what is merged already is only read')
    const kept = await db.all<{ hour: number; clicks: number }>(
      'SELECT hour, clicks FROM link_click WHERE link_id = 1 ORDER BY hour',
    )
    assert.deepEqual(
      kept.map(({ hour, clicks }) => [hour, clicks]),
      [
        [firstHourOfDay(oldDay), 24],
        [firstHourOfDay(oldDay + 1), 5],
        [hoursBefore + 5, 2],
        [hourOf(now), 1],
      ],
    )
    const [count] = await db.all<{ rows: number; clicks: number }>(
      'SELECT COUNT(*) AS rows, SUM(clicks) AS clicks FROM link_click',
    )
    assert.deepEqual([count?.rows, Number(count?.clicks)], [303, 300 * 24 + 8])
    // The next run adds late clicks to a day that is already rolled up.
    await countVisits(db, [1, firstHourOfDay(oldDay) + 7, 10])
    await rollUpClicks(run, now)
    assert.equal((await findClickTotals(db, 1)).person, 42)
  })

  test('the rollup replaces visitor hashes by their number', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const today = dayOfHour(hourOf(Date.now()))
    const yesterday = firstHourOfDay(today - 1)
    const visit = (hour: number, address: string): VisitOf => [7, hour, 1, person, address]
    await countVisits(db, visit(yesterday, '203.0.113.7'), visit(firstHourOfDay(today), '203.0.113.7'))
    await countVisits(db, visit(yesterday + 1, '203.0.113.7'))
    await countVisits(db, visit(yesterday, '203.0.113.8'))
    const stored = await db.all<{ day: number; visitor: number }>(
      'SELECT day, visitor FROM link_visitor ORDER BY day',
    )
    assert.equal(stored.length, 3)
    assert.equal(new Set(stored.map(({ visitor }) => visitor)).size, 3)

    await rollUpClicks((job) => runClickJob(db, job), (firstHourOfDay(today) + 1) * 3_600_000)
    const counted = await db.all<{ visitors: number }>(
      'SELECT visitors FROM link_visitor_day WHERE link_id = 7',
    )
    assert.deepEqual(
      counted.map(({ visitors }) => visitors),
      [2],
    )
    assert.deepEqual(
      (await db.all<{ day: number }>('SELECT day FROM link_salt')).map(({ day }) => day),
      [today],
    )
    assert.equal((await db.all('SELECT day FROM link_visitor')).length, 1)
  })
})
