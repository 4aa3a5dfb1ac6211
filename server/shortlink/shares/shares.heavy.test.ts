// Statistics of links and tags, and pages that share them: sums, bounds, what they show, and how they end.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { linkAnalyticsRoutes } from '../../../contract/console/link-analytics.ts'
import { linkRoutes } from '../../../contract/console/shortlink.ts'
import { analyticsLimits, shareLimits } from '../../../contract/link-analytics.ts'
import { dayMs, formatDay } from '../../../contract/time.ts'
import type { Browser } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { openProductPages, type ProductPages } from '../../../test/support/product-pages.ts'

onEachEngine('shared statistics', (engine) => {
  let pages: ProductPages

  before(async () => {
    pages = await openProductPages(engine)
  })
  after(() => pages[Symbol.asyncDispose]())

  const database = () => pages.service.installation.db
  const create = async (by: Browser, sent: Record<string, unknown>) => {
    const { status, body } = await by.call(linkRoutes.create, { sent })
    assert.equal(status, 200, JSON.stringify(body))
    return body.link as { id: number; short_code: string }
  }
  const chrome = 'Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36'
  const visit = (path: string, userAgent = chrome) =>
    fetch(`${pages.service.url}${path}`, { redirect: 'manual', headers: { 'user-agent': userAgent } })
  const analytics = (by: Browser, sent: Record<string, unknown>) =>
    by.call(linkAnalyticsRoutes.read, { sent })
  const share = (by: Browser, sent: Record<string, unknown>) =>
    by.call(linkAnalyticsRoutes.share, { sent: { days: 7, ...sent } })
  const statusOf = async ({ url }: { url: string }) => (await fetch(url)).status

  it('sums the visits of a link and of a tag, with the period before and bots apart', async () => {
    const { browser: own } = await pages.createAccount({ short_link: 5 })
    const one = await create(own, { target_url: 'https://example.com/a', tags: ['春'] })
    const two = await create(own, { target_url: 'https://example.com/b', tags: ['春'] })
    await visit(`/${one.short_code}`)
    await visit(`/${one.short_code}?qr=1`)
    await visit(`/${two.short_code}`)
    await visit(`/${two.short_code}`, 'Googlebot/2.1 (+http://www.google.com/bot.html)')
    // The day before as well, so that midnight changes nothing.
    const range = { from: formatDay(Date.now() - dayMs), to: formatDay(Date.now() + dayMs) }
    const ofLink = (await analytics(own, { link: one.id, ...range })).body
    assert.deepEqual(ofLink.totals, { clicks: 2, bots: 0, previews: 0, visitors: 1, scans: 1 })
    assert.equal(ofLink.days.length, 3)
    assert.deepEqual(ofLink.parts.os, [{ value: 'windows', clicks: 2 }])
    const ofTag = (await analytics(own, { tag: '春', ...range })).body
    assert.deepEqual(ofTag.totals, { clicks: 3, bots: 1, previews: 0, visitors: 1, scans: 1 })
    assert.deepEqual(ofTag.parts.device, [{ value: 'desktop', clicks: 3 }])
    // The visits of one link are moved into the period before.
    await database().write((tx) =>
      tx.run('UPDATE link_click SET hour = hour - 72 WHERE link_id = ?', [one.id]),
    )
    const compared = (await analytics(own, { tag: '春', ...range })).body
    assert.deepEqual([compared.totals.clicks, compared.previous.clicks], [1, 2])
    assert.deepEqual([compared.totals.scans, compared.previous.scans], [0, 1])
    const file = await own.text(linkAnalyticsRoutes.csv, { sent: { tag: '春', ...range } })
    assert.match(file.text, /\r\ndevice,desktop,1\r\n/)
    for (const sent of [
      {},
      { link: one.id, tag: '春' },
      { tag: '春', from: '2020-01-01', to: '2026-01-01' },
    ]) {
      assert.equal((await analytics(own, sent)).status, 400, JSON.stringify(sent))
    }
  })

  it('does not sum a tag with more links than the limit', async () => {
    const { browser: own, account } = await pages.createAccount({})
    await database().write((tx) =>
      tx.run(
        `WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id <= ${analyticsLimits.links})
         INSERT INTO link_tag (account_id, tag, link_id) SELECT CAST(? AS bigint), 'large', 1000000000 + id FROM n`,
        [account.id],
      ),
    )
    const reply = await analytics(own, { tag: 'large' })
    assert.deepEqual([reply.status, Object.keys(reply.body.error.fields)], [400, ['tag']])
    await database().write((tx) =>
      tx.run('DELETE FROM link_tag WHERE account_id = ? AND link_id = 1000000001', [account.id]),
    )
    assert.equal((await analytics(own, { tag: 'large' })).body.totals.clicks, 0)
  })

  it('shares statistics with anyone who has the address, without account data', async () => {
    const { browser: own, account } = await pages.createAccount({ short_link: 5 })
    const link = await create(own, {
      target_url: 'https://target.example.com/secret',
      title: '<b>共享</b>',
      password: 'open!',
    })
    const { url, expires_at: expiresAt } = (await share(own, { link: link.id })).body
    assert.match(url, /^http:\/\/[^/]+\/share\/[\w-]{43}$/)
    assert.ok(expiresAt > Date.now())
    const reply = await fetch(url)
    const html = await reply.text()
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('x-robots-tag'), 'noindex')
    assert.equal(reply.headers.get('cache-control'), 'no-store')
    assert.equal(reply.headers.get('referrer-policy'), 'no-referrer')
    assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.ok(html.includes('&lt;b&gt;共享&lt;/b&gt;') && !html.includes('<b>共享'))
    for (const hidden of ['target.example.com', account.username, '<script', 'api_key', 'console'])
      assert.ok(!html.includes(hidden), hidden)
    const english = await (await fetch(`${url}?days=7`, { headers: { 'accept-language': 'en' } })).text()
    assert.match(english, /<html lang="en">[^]*Last 7 days<\/a>/)
    assert.ok(
      html.includes('<html lang="zh-CN">') && html.includes('class="brand"') && !html.includes('Clicks'),
    )
    assert.equal((await visit(`/share/${'x'.repeat(43)}`)).status, 404)
  })

  it('stores only a digest of the token of a share and logs no token', async () => {
    const { browser: own } = await pages.createAccount({ short_link: 5 })
    const link = await create(own, { target_url: 'https://example.com/digest' })
    const { url } = (await share(own, { link: link.id })).body
    assert.equal(await statusOf({ url }), 200)
    const token = url.split('/').at(-1)
    const rows = await database().all('SELECT * FROM link_share', [])
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(token))
    assert.ok(!pages.service.logged.some((line) => line.includes(token)))
    const listed = await own.call(linkAnalyticsRoutes.shares)
    assert.equal(listed.body.items.length, 1)
    assert.ok(!JSON.stringify(listed.body).includes(token))
    const audit = await database().all("SELECT details FROM audit WHERE action = 'link-share.create'", [])
    assert.ok(audit.length > 0 && !JSON.stringify(audit).includes(token))
  })

  it('ends a share with the next request when it is revoked, expires, or its link or account ends', async () => {
    const { browser: own, account } = await pages.createAccount({ short_link: 5 })
    const link = await create(own, { target_url: 'https://example.com/ends', tags: ['end'] })
    const all: { id: number; url: string }[] = []
    for (const sent of [{ link: link.id }, { link: link.id }, { link: link.id }, { tag: 'end' }])
      all.push((await share(own, sent)).body)
    const [revoked, expired, , ofTag] = all
    assert.deepEqual(await Promise.all(all.map(statusOf)), [200, 200, 200, 200])
    const revoke = () => own.call(linkAnalyticsRoutes.revoke, { parts: { id: revoked!.id } })
    assert.equal((await revoke()).status, 200)
    assert.equal((await revoke()).status, 404)
    await database().write((tx) => tx.run('UPDATE link_share SET expires_at = 1 WHERE id = ?', [expired!.id]))
    await own.call(linkRoutes.bulk, { sent: { action: 'delete', ids: [link.id] } })
    assert.deepEqual(await Promise.all(all.map(statusOf)), [410, 410, 410, 200])
    const suspend = (flag: 0 | 1) =>
      database().write((tx) => tx.run('UPDATE account SET suspended = ? WHERE id = ?', [flag, account.id]))
    await suspend(1)
    assert.equal(await statusOf(ofTag!), 410)
    await suspend(0)
    assert.equal(await statusOf(ofTag!), 200)
  })

  it('lets no other account share, see or revoke, and bounds the shares of an account', async () => {
    const { browser: own, account } = await pages.createAccount({ short_link: 5 })
    const link = await create(own, { target_url: 'https://example.com/bounds' })
    const { id } = (await share(own, { link: link.id })).body
    const other = pages.otherBrowser
    assert.equal((await share(other, { link: link.id })).status, 404)
    assert.equal((await other.call(linkAnalyticsRoutes.revoke, { parts: { id } })).status, 404)
    assert.deepEqual((await other.call(linkAnalyticsRoutes.shares)).body.items, [])
    await database().write((tx) =>
      tx.run(
        `WITH RECURSIVE n (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < ${shareLimits.shares})
         INSERT INTO link_share (account_id, tag, token_hash, expires_at, created_at)
         SELECT CAST(? AS bigint), 'x', CAST(? AS text) || id, 9000000000000, 1 FROM n`,
        [account.id, `full ${account.id} `],
      ),
    )
    assert.equal((await share(own, { tag: 'x' })).status, 400)
    for (const days of [0, 366]) assert.equal((await share(other, { tag: 'x', days })).status, 400)
  })

  it('limits the views of shares by one network', async () => {
    const replies: Response[] = []
    while (replies.length <= 2 * shareLimits.viewsPerMinute && replies.at(-1)?.status !== 429)
      replies.push(await visit('/share/unknown'))
    assert.equal(replies.at(-1)?.status, 429)
    assert.ok(Number(replies.at(-1)?.headers.get('retry-after')) > 0)
  })
})
