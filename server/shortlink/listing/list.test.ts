// Lists longer than one slice of a walk: every order and filter against the same worked out in memory.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Database } from '../../db/database.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createCodes } from '../codes/store.ts'
import type { Links } from '../links.ts'
import { type LinkSearch, createLinkList } from './list.ts'

const count = 12_500
const codes = createCodes(Buffer.alloc(16, 9))
const at = (n: number) => 1_700_000_000_000 + n * 60_000
const titleOf = (n: number) => `title ${String((n * 7_919) % count).padStart(5, '0')}`
/** Every third was never visited. */
const clicksOf = (n: number) => (n % 3 === 0 ? 0 : (n * 31) % 4001)

onEachEngine('a list of many links', (engine) => {
  let fresh: Awaited<ReturnType<typeof freshDatabase>>
  let db: Database

  before(async () => {
    fresh = await freshDatabase(engine)
    db = fresh.db
    const numbers =
      engine === 'sqlite'
        ? `WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < ${count}) SELECT i FROM s`
        : `SELECT i FROM generate_series(1, ${count}) AS s(i)`
    await db.write(async (tx) => {
      // Another account's links lie between them.
      for (const [account, offset] of [
        [1, 0],
        [2, 1],
      ] as const) {
        await tx.run(
          `INSERT INTO link (id, account_id, code, title, target_url, redirect_url_a, redirect_type, location_a,
             location_b, host_a, host_b, created_at, updated_at)
           SELECT 2 * i + ${offset}, ${account}, 'c' || i || '_' || ${account}, '', 'https://example.com/' || i, '',
             CASE WHEN i % 10 = 0 THEN 'page' ELSE 'direct' END, '', '', '', '',
             1700000000000 + CAST(i AS bigint) * 60000, 0 FROM (${numbers}) AS n`,
        )
      }
      const scattered = `(id / 2 * 7919) % ${count}`
      const padded =
        engine === 'sqlite' ? `printf('%05d', ${scattered})` : `lpad(CAST(${scattered} AS text), 5, '0')`
      await tx.run(`UPDATE link SET title = 'title ' || ${padded} WHERE account_id = 1`)
      await tx.run('INSERT INTO link_code (position, link_id) SELECT id, id FROM link')
      for (const id of [2 * 77, 2 * 77 + 1]) {
        await tx.run('UPDATE link SET code = ? WHERE id = ?', [codes.codeAt(id), id])
      }
      const clicks = `CASE WHEN id / 2 % 3 = 0 THEN 0 ELSE (id / 2 * 31) % 4001 END`
      await tx.run(
        `INSERT INTO link_click (link_id, hour, kind, device, browser, referrer, clicks)
         SELECT id, 1, 'person', '', '', '', ${clicks} FROM link WHERE account_id = 1 AND ${clicks} > 0`,
      )
      await tx.run(
        `INSERT INTO link_total (link_id, account_id, clicks)
         SELECT id, account_id, ${clicks} FROM link WHERE ${clicks} > 0`,
      )
      if (engine === 'postgres') await tx.run('ANALYZE link')
    })
  })
  after(() => fresh[Symbol.asyncDispose]())

  const describing = { describe: (link: { id: number }) => ({ link_id: link.id }) } as unknown as Links
  const all = Array.from({ length: count }, (_one, index) => index + 1)
  const base: LinkSearch = { sort: 'created', order: 'desc' }

  async function page(search: Partial<LinkSearch>, offset = 0) {
    const list = createLinkList(db, codes, describing, async () => {})
    const { links, total } = await list.page(1, { ...base, ...search }, { limit: 50, offset })
    return { numbers: links.map(({ link_id: id }) => id / 2), total }
  }

  const sorted = (compare: (a: number, b: number) => number) => [...all].sort(compare)

  it('is counted and paged by age', async () => {
    assert.deepEqual(await page({}, 7_000), { numbers: all.toReversed().slice(7_000, 7_050), total: count })
    assert.deepEqual(await page({ order: 'asc' }, 12_480), { numbers: all.slice(12_480), total: count })
    const some = await page({ start: at(5_000), end: at(5_010) })
    assert.deepEqual(some, { numbers: all.slice(4_999, 5_009).toReversed(), total: 10 })
  })

  it('is sorted by title and by clicks', async () => {
    const byTitle = sorted((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1))
    assert.deepEqual(await page({ sort: 'title', order: 'asc' }, 4_900), {
      numbers: byTitle.slice(4_900, 4_950),
      total: count,
    })
    assert.deepEqual((await page({ sort: 'title' })).numbers, byTitle.toReversed().slice(0, 50))
    const most = sorted((a, b) => clicksOf(b) - clicksOf(a) || b - a)
    const visited = all.filter((n) => clicksOf(n) > 0).length
    for (const [order, numbers, edge] of [
      ['desc', most, visited],
      ['asc', most.toReversed(), count - visited],
    ] as const) {
      // Around the first link without visits, and past the end.
      for (const offset of [0, 3_000, edge - 50, edge - 20, edge, edge + 10, count - 10, count]) {
        assert.deepEqual(
          await page({ sort: 'clicks', order }, offset),
          { numbers: numbers.slice(offset, offset + 50), total: count },
          `${order} ${offset}`,
        )
      }
    }
  })

  it('is searched and filtered', async () => {
    const found = all.filter((n) => `https://example.com/${n}`.includes('/12') || titleOf(n).includes('/12'))
    assert.deepEqual(await page({ q: '/12' }), {
      numbers: found.toReversed().slice(0, 50),
      total: found.length,
    })
    const pages = all.filter((n) => n % 10 === 0)
    assert.deepEqual(await page({ redirectType: 'page' }, 100), {
      numbers: pages.toReversed().slice(100, 150),
      total: pages.length,
    })
    assert.deepEqual(await page({ q: codes.codeAt(2 * 77) }), { numbers: [77], total: 1 })
    assert.deepEqual(await page({ q: codes.codeAt(2 * 77 + 1) }), { numbers: [], total: 0 })
  })

  it('sorts the link of a code by its clicks among other matches', async () => {
    const code = codes.codeAt(2 * 77)
    const named = [3, 5, 154]
    await db.write(async (tx) => {
      for (const n of named) await tx.run('UPDATE link SET title = ? WHERE id = ?', [`like ${code}`, 2 * n])
    })
    const most = [...named, 77].sort((a, b) => clicksOf(b) - clicksOf(a))
    assert.notEqual(most.indexOf(77), most.length - 1)
    for (const [order, numbers] of [
      ['desc', most],
      ['asc', most.toReversed()],
    ] as const) {
      assert.deepEqual(await page({ q: code, sort: 'clicks', order }), { numbers, total: 4 }, order)
    }
  })

  it('is exported completely', async () => {
    const list = createLinkList(db, codes, describing, async () => {})
    const numbers: number[] = []
    for await (const some of list.exportAll(1, base, 200)) {
      assert.ok(some.length <= 200)
      numbers.push(...some.map(({ link_id: id }) => id / 2))
    }
    assert.deepEqual(numbers, all.toReversed())
  })
})
