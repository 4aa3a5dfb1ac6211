// The number of people's clicks that links are sorted by always equals the sum of their counters.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { describeAgent } from './user-agents.ts'
import type { ClickCounts } from './counts.ts'
import { deleteClicksOfDeleted } from './deleted-store.ts'
import { addClicks } from './store.ts'
import { createCodes } from '../codes/store.ts'
import { hourOf } from './hours.ts'
import { deleteLink } from '../options/store.ts'
import { insertLinks } from '../store.ts'

const clients = ['Mozilla/5.0 (iPhone) Safari/604.1', 'curl/8', 'TelegramBot'].map(
  (text) => describeAgent(text).visitor,
)

const codes = createCodes(Buffer.alloc(16, 9))

async function makeLinks(db: Database, count: number): Promise<number[]> {
  const ids: number[] = []
  for (let n = 0; n < count; n += 1) {
    const link = {
      accountId: 1 + (n % 2),
      title: `${n}`,
      targetUrl: 'https://example.com/',
      redirectUrlA: '',
      redirectType: 'direct' as const,
      locationA: 'https://example.com/',
      locationB: 'https://example.com/',
      hosts: { a: '', b: '' },
      createdAt: Date.now(),
    }
    ids.push((await db.write((tx) => insertLinks(tx, [link], codes)))[0]!.id)
  }
  return ids
}

/** Each link in two hours, by a person, a bot and a preview. */
function countsOf(ids: readonly number[], clicks: number): ClickCounts {
  const hour = hourOf(Date.now())
  const counters = ids.flatMap((link_id) =>
    [hour, hour + 1].flatMap((at) =>
      clients.map((client) => ({ link_id, hour: at, ...client, referrer: '', clicks })),
    ),
  )
  return { counters, visitors: [] }
}

async function totals(db: Database) {
  const rows = await db.all<{ link_id: number; account_id: number; clicks: number }>(
    'SELECT link_id, account_id, clicks FROM link_total ORDER BY link_id',
  )
  return rows.map((row) => ({ ...row }))
}

onEachEngine('link totals', (engine) => {
  test('equal the counters after concurrent writes from several connections', async () => {
    await using fresh = await freshDatabase(engine)
    const ids = await makeLinks(fresh.db, 40)
    assert.deepEqual(await totals(fresh.db), [])
    const clicked = ids.slice(0, 30)
    const others = [fresh.storage.open(), fresh.storage.open()]
    const writes = [fresh.db, ...others].flatMap((db) =>
      Array.from({ length: 8 }, () => db.write((tx) => addClicks(tx, countsOf(clicked, 2)))),
    )
    await Promise.all(writes)
    assert.deepEqual(
      await totals(fresh.db),
      clicked.map((link_id, n) => ({ link_id, account_id: 1 + (n % 2), clicks: writes.length * 2 * 2 })),
    )
    for (const db of others) await db.close()
  })

  test('the clicks of a deleted link are deleted two days later, and nothing else is', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const [kept, deleted] = (await makeLinks(db, 2)) as [number, number]
    const counts = countsOf([kept, deleted], 3)
    const parts = [kept, deleted].map((link_id) => ({
      link_id,
      part: 'os' as const,
      day: 1,
      value: 'ios',
      clicks: 3,
    }))
    await db.write((tx) => addClicks(tx, { ...counts, parts }))
    await db.write((tx) => deleteLink(tx, 2, deleted, codes))
    const linksWithClicks = async () => {
      const rows = await db.all<{ id: number }>(
        'SELECT link_id AS id FROM link_click UNION SELECT link_id FROM link_click_part ORDER BY 1',
      )
      return rows.map(({ id }) => id)
    }
    assert.equal(await db.write(deleteClicksOfDeleted), undefined)
    assert.deepEqual(await linksWithClicks(), [kept, deleted])
    await db.write((tx) => tx.run('UPDATE link SET deleted_at = 1000 WHERE deleted_at IS NOT NULL'))
    assert.equal(await db.write(deleteClicksOfDeleted), 1)
    assert.equal(await db.write(deleteClicksOfDeleted), undefined)
    assert.deepEqual(await linksWithClicks(), [kept])
  })
})
