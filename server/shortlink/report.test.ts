import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { startService } from '../../test/support/service.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import type { Database } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { describeAgent } from './agents.ts'
import { addClicks } from './click-store.ts'
import { makeCode } from './code.ts'
import { dayOfHour, firstHourOfDay, hourOf } from './hours.ts'
import { findClickDays, findClickHours, findClickShares, listLinks, listLinksAfter } from './report-store.ts'
import { openShortlink } from './routes.ts'
import { insertLink } from './store.ts'

const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0.50',
  'curl/8.5.0',
].map((text) => describeAgent(text).usual)

async function click(
  db: Database,
  linkId: number,
  hour: number,
  agent: number,
  referrer: string,
  clicks: number,
) {
  await db.write((tx) =>
    addClicks(tx, {
      linkIds: Float64Array.of(linkId),
      hours: Int32Array.of(hour),
      agents: Int32Array.of(agent),
      referrers: Int32Array.of(0),
      clicks: Float64Array.of(clicks),
      agentTable: agents,
      referrerTable: [referrer],
      visitorLinkIds: Float64Array.of(linkId),
      visitorDays: Int32Array.of(dayOfHour(hour)),
      visitors: Int32Array.of(0),
      visitorTable: [`203.0.113.${agent}`],
    }),
  )
}

onEachEngine('reports', (engine) => {
  test('lists are searched, filtered, sorted and paged, and hold only the own links', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { id: accountId } = await createAccount(db, { username: 'holder' })
    const { id: otherId } = await createAccount(db, { username: 'other' })
    const titles = ['春节 100% 优惠', 'Summer_Sale', 'autumn', 'winter']
    const ids: number[] = []
    for (const [index, title] of [...titles, 'foreign'].entries()) {
      const url = `https://example.com/${index}`
      const made = await db.write((tx) =>
        insertLink(
          tx,
          {
            accountId: title === 'foreign' ? otherId : accountId,
            title,
            targetUrl: url,
            redirectUrlA: '',
            redirectType: index === 2 ? 'page' : 'direct',
            locationA: url,
            locationB: url,
            hosts: { a: '', b: '' },
          },
          makeCode,
        ),
      )
      ids.push(made.id)
    }
    await click(db, ids[1]!, hourOf(Date.now()), 0, '', 5)
    await click(db, ids[0]!, hourOf(Date.now()), 0, '', 2)
    await click(db, ids[2]!, hourOf(Date.now()), 2, '', 50)
    const list = async (filter: Partial<Parameters<typeof listLinks>[1]>) => {
      const { links, total } = await listLinks(db, { accountId, limit: 10, ...filter })
      return [total, links.map(({ title }) => title)]
    }
    assert.deepEqual(await list({}), [4, titles.toReversed()])
    assert.deepEqual(await list({ sort: 'oldest', limit: 2, offset: 1 }), [4, titles.slice(1, 3)])
    assert.deepEqual(await list({ sort: 'clicks', limit: 2 }), [4, ['Summer_Sale', '春节 100% 优惠']])
    assert.deepEqual(await list({ search: 'summer_s' }), [1, ['Summer_Sale']])
    assert.deepEqual(await list({ search: '0%' }), [1, ['春节 100% 优惠']])
    assert.deepEqual(await list({ search: 'EXAMPLE.com/3' }), [1, ['winter']])
    assert.deepEqual(await list({ search: "' OR 1=1 --" }), [0, []])
    assert.deepEqual(await list({ redirectType: 'page' }), [1, ['autumn']])
    const first = await listLinksAfter(db, { accountId, limit: 3 }, 0)
    const rest = await listLinksAfter(db, { accountId, limit: 3 }, first.at(-1)!.id)
    assert.deepEqual(
      [...first, ...rest].map(({ title }) => title),
      titles,
    )
  })

  test('clicks by day, hour and share, in days of Shanghai', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const today = dayOfHour(hourOf(Date.parse('2026-11-15T12:00:00+08:00')))
    const midnight = firstHourOfDay(today)
    await click(db, 1, midnight - 1, 0, 'a.test', 4)
    await click(db, 1, midnight, 0, 'a.test', 1)
    await click(db, 1, midnight, 1, 'b.test', 2)
    await click(db, 1, midnight + 23, 2, '', 8)
    await click(db, 1, midnight + 24, 0, '', 16)
    await click(db, 2, midnight, 0, '', 32)
    const range = { from: today - 2, until: today }
    assert.deepEqual(await findClickDays(db, 1, range), [
      { day: today - 2, person: 0, bot: 0, preview: 0, visitors: 0 },
      { day: today - 1, person: 4, bot: 0, preview: 0, visitors: 1 },
      { day: today, person: 3, bot: 8, preview: 0, visitors: 3 },
    ])
    assert.deepEqual(await findClickHours(db, 1, today), [{ hour: midnight, clicks: 3 }])
    assert.deepEqual(await findClickShares(db, 1, range, 'referrer'), [
      { name: 'a.test', clicks: 5 },
      { name: 'b.test', clicks: 2 },
    ])
    assert.deepEqual(await findClickShares(db, 1, range, 'device'), [
      { name: 'desktop', clicks: 5 },
      { name: 'phone', clicks: 2 },
    ])
    assert.deepEqual(
      (await findClickShares(db, 1, range, 'browser')).map(({ name }) => name),
      ['chrome', 'wechat'],
    )
  })
})

onEachEngine('the desk', (engine) => {
  test('the console makes, changes and refreshes links by the same rules and prices', async () => {
    await using service = await startService(engine)
    const { username } = await service.account({ short_link: 2 })
    const account = await requireAccount(service.installation.db, username)
    const metrics = new (service.app.services.metrics
      .constructor as new () => typeof service.app.services.metrics)()
    const { desk } = openShortlink({ ...service.app.services, metrics })
    const wish = { target_url: 'https://example.com/', title: 't', redirect_url_a: 'https://example.com/a' }
    const made = await desk.create(account, wish, 'r1')
    assert.equal(made.remaining_balance, 1)
    await assert.rejects(desk.create(account, { ...wish, target_url: 'javascript:x' }, 'r2'), AppError)
    await assert.rejects(desk.create(account, { title: 't' }, 'r2'), AppError)
    const edited = await desk.edit(account, made.link_id, {
      redirect_url_a: '',
      redirect_type: 'page',
      title: '新',
    })
    assert.deepEqual(
      [edited.title, edited.redirect_type, edited.redirect_url_a, edited.target_url],
      ['新', 'page', '', 'https://example.com/'],
    )
    const renewed = await desk.refresh(account, made.link_id, 'r3')
    assert.equal(renewed.remaining_balance, 0)
    assert.notEqual(renewed.short_code, made.short_code)
    await assert.rejects(desk.refresh(account, made.link_id, 'r4'), /credits/)
    await assert.rejects(desk.edit(account, 999_999, { title: 'x' }), /not found/)
    await assert.rejects(desk.edit({ ...account, suspended: 1 }, made.link_id, { title: 'x' }), /suspended/)
  })
})
