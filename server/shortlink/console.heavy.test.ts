// Console routes for short links: effects, prices, and isolation between accounts.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { formatDay } from '../../contract/time.ts'
import type { Browser } from '../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../test/support/engines.ts'
import { openProductPages, type ProductPages } from '../../test/support/product-pages.ts'
import type { TestService } from '../../test/support/service.ts'

onEachEngine('short links in the console', (engine) => {
  let pages: ProductPages
  let service: TestService
  let browser: Browser
  let otherBrowser: Browser

  before(async () => {
    pages = await openProductPages(engine)
    ;({ service, browser, otherBrowser } = pages)
  })
  after(() => pages[Symbol.asyncDispose]())

  const create = (sent: Record<string, unknown>, by = browser, headers: Record<string, string> = {}) =>
    by.call(linkRoutes.create, { sent, headers })

  it('creates, shows, changes and refreshes a link', async () => {
    const had = await pages.remaining('short_link')
    const made = await create({ target_url: 'https://example.com/a?b=1' })
    assert.equal(made.status, 200)
    const { link } = made.body
    assert.deepEqual([made.body.charged, made.body.remaining], [1, had - 1])
    assert.equal(link.title, 'example.com')
    assert.equal(link.daily.length, 14)
    assert.deepEqual(link.retired, [])
    const call = await pages.loadRequest(made.headers.get('x-request-id')!)
    assert.deepEqual([call.endpoint, call.action, call.ok, call.charged], ['shortlink', 'generate', true, 1])

    const changed = await browser.call(linkRoutes.change, {
      parts: { id: link.id },
      sent: { title: '新的', target_url: 'https://example.com/c' },
    })
    assert.deepEqual([changed.body.title, changed.body.target_url], ['新的', 'https://example.com/c'])
    const refreshed = await browser.call(linkRoutes.refresh, { parts: { id: link.id } })
    assert.notEqual(refreshed.body.link.short_code, link.short_code)
    assert.equal(refreshed.body.link.retired[0].short_code, link.short_code)
    assert.equal(await pages.remaining('short_link'), had - 1 - refreshed.body.charged)
    const shown = await browser.call(linkRoutes.one, { parts: { id: link.id } })
    assert.deepEqual(shown.body, refreshed.body.link)
  })

  it('charges once for one idempotency key', async () => {
    const had = await pages.remaining('short_link')
    const headers = { 'idempotency-key': 'link-1' }
    const [one, other] = [
      await create({ target_url: 'https://example.com/once' }, browser, headers),
      await create({ target_url: 'https://example.com/once' }, browser, headers),
    ]
    assert.equal(one.body.link.id, other.body.link.id)
    assert.equal(await pages.remaining('short_link'), had - 1)
    const differing = await create({ target_url: 'https://example.com/else' }, browser, headers)
    assert.deepEqual([differing.status, differing.body.error.code], [409, 'conflict'])
  })

  it('names the wrong field, and reports missing credits', async () => {
    const wrong = await create({ target_url: 'javascript:alert(1)', title: 'x'.repeat(250) })
    assert.equal(wrong.status, 400)
    assert.deepEqual(Object.keys(wrong.body.error.fields).sort(), ['target_url', 'title'])
    const poor = await pages.createAccount({})
    const refused = await create({ target_url: 'https://example.com' }, poor.browser)
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'insufficient'])
  })

  it('searches, filters, sorts and pages', async () => {
    const { browser: own, account } = await pages.createAccount({ short_link: 50 })
    const links: { id: number; short_code: string }[] = []
    for (let i = 0; i < 7; i += 1) {
      const reply = await create(
        {
          target_url: `https://example.com/${i}`,
          title: i % 2 === 0 ? `Ab%${i}` : `zz_${i}`,
          redirect_type: i === 3 ? 'page' : 'direct',
        },
        own,
      )
      links.push(reply.body.link)
    }
    const list = async (sent: Record<string, unknown>) => {
      const { body } = await own.call(linkRoutes.list, { sent })
      return {
        ids: body.items.map((one: { id: number }) => links.findIndex(({ id }) => id === one.id)),
        total: body.total,
      }
    }
    assert.deepEqual(await list({ size: 3 }), { ids: [6, 5, 4], total: 7 })
    assert.deepEqual(await list({ size: 3, page: 3 }), { ids: [0], total: 7 })
    assert.deepEqual(await list({ order: 'asc', size: 2 }), { ids: [0, 1], total: 7 })
    assert.deepEqual(await list({ q: 'aB%' }), { ids: [6, 4, 2, 0], total: 4 })
    assert.deepEqual(await list({ q: 'COM/5' }), { ids: [5], total: 1 })
    assert.deepEqual(await list({ q: 'a_' }), { ids: [], total: 0 })
    assert.deepEqual(await list({ q: links[1]!.short_code }), { ids: [1], total: 1 })
    assert.deepEqual(await list({ redirect_type: 'page' }), { ids: [3], total: 1 })
    assert.deepEqual(await list({ sort: 'title', size: 5 }), { ids: [0, 2, 4, 6, 1], total: 7 })
    const today = formatDay(Date.now())
    assert.equal((await list({ from: today, to: today })).total, 7)
    assert.equal((await list({ to: '2020-01-01' })).total, 0)

    for (const times of [1, 2]) {
      for (const one of [links[2]!, ...(times === 2 ? [] : [links[4]!])]) {
        await fetch(`${service.url}/${one.short_code}`, {
          redirect: 'manual',
          headers: { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36' },
        })
      }
    }
    const clicked = await own.call(linkRoutes.one, { parts: { id: links[2]!.id } })
    assert.deepEqual([clicked.body.clicks, clicked.body.daily.at(-1)], [2, 2])
    await own.call(linkRoutes.one, { parts: { id: links[4]!.id } })
    assert.deepEqual((await list({ sort: 'clicks', size: 3 })).ids, [2, 4, 6])
    assert.deepEqual((await list({ sort: 'clicks', order: 'asc', size: 2 })).ids, [0, 1])

    const clicks = await own.call(linkRoutes.clicks, { parts: { id: links[2]!.id } })
    assert.equal(clicks.body.points.length, 30)
    assert.equal(clicks.body.points.at(-1).person, 2)
    assert.equal(clicks.body.browsers[0].count, 2)
    const hours = await own.call(linkRoutes.clicks, { parts: { id: links[2]!.id }, sent: { unit: 'hour' } })
    assert.equal(hours.body.points.length, 24)
    assert.equal(
      hours.body.points.reduce((sum: number, one: { person: number }) => sum + one.person, 0),
      2,
    )
    const long = await own.call(linkRoutes.clicks, {
      parts: { id: links[2]!.id },
      sent: { unit: 'hour', from: '2026-01-01', to: '2026-01-31' },
    })
    assert.equal(long.status, 400)

    const file = await own.text(linkRoutes.csv, { sent: { q: 'ab' } })
    assert.equal(file.text.charCodeAt(0), 0xfeff)
    assert.equal(file.text.trim().split('\r\n').length, 5)
    const points = await own.text(linkRoutes.clicksCsv, { parts: { id: links[2]!.id } })
    assert.equal(points.text.trim().split('\r\n').length, 31)
    assert.equal(await pages.remaining('short_link', account), 43)
  })

  it('creates a link with all options, changes and clears them, and says which field is wrong', async () => {
    const code = `all-${uniqueName()}`.slice(0, 32)
    const free = await browser.call(linkRoutes.code, { sent: { short_code: code } })
    assert.deepEqual(free.body, { available: true, problem: '' })
    const made = await create({
      target_url: 'https://example.com/all',
      short_code: code,
      tags: ['春', ' 春 ', 'b'],
      expires_at: '2036-01-02 03:04:05',
      expired_url: 'https://example.com/over',
      max_clicks: 3,
      password: 'open sesame',
      external_id: code,
      rules: [{ when: { os: ['ios'], language: 'en' }, target_url: 'https://example.com/ios' }],
    })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const { link } = made.body
    assert.deepEqual(
      [
        link.short_code,
        link.tags,
        link.max_clicks,
        link.remaining_clicks,
        link.has_password,
        link.rules[0].when,
      ],
      [code, ['春', 'b'], 3, 3, true, { os: ['ios'], language: 'en' }],
    )
    const taken = await browser.call(linkRoutes.code, { sent: { short_code: code } })
    assert.deepEqual(taken.body, { available: false, problem: '短码已被占用' })
    const reserved = await browser.call(linkRoutes.code, { sent: { short_code: 'console' } })
    assert.equal(reserved.body.problem, '短码不可用')

    const parts = { id: link.id }
    const changed = await browser.call(linkRoutes.change, {
      parts,
      sent: { clear: ['password', 'expires_at', 'rules'], tags: ['c'], max_clicks: 9 },
    })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    const { has_password, expires_at, rules, tags, max_clicks, target_url, external_id } = changed.body
    assert.deepEqual(
      [has_password, expires_at, rules, tags, max_clicks, target_url, external_id],
      [false, null, [], ['c'], 9, 'https://example.com/all', code],
    )
    const wrong = await browser.call(linkRoutes.change, {
      parts,
      sent: { rules: [{ when: { os: 'dos' }, target_url: 'x' }], max_clicks: 0 },
    })
    assert.equal(wrong.status, 400)
    assert.deepEqual(Object.keys(wrong.body.error.fields).sort(), [
      'max_clicks',
      'rules[0].target_url',
      'rules[0].when.os',
    ])
  })

  it('filters by tag and state, and changes many links with a result for each', async () => {
    const { browser: own } = await pages.createAccount({ short_link: 10 })
    const ids: number[] = []
    for (const name of ['one', 'two', 'three']) {
      const tags = name === 'one' ? Array.from({ length: 10 }, (_one, index) => `t${index}`) : ['two']
      const { body } = await create({ target_url: `https://example.com/${name}`, tags }, own)
      ids.push(body.link.id)
    }
    const foreign = (await create({ target_url: 'https://example.com/foreign' })).body.link.id
    const bulk = (sent: Record<string, unknown>) => own.call(linkRoutes.bulk, { sent })
    const list = async (sent: Record<string, unknown>) =>
      (await own.call(linkRoutes.list, { sent })).body.items.map(({ id }: { id: number }) => ids.indexOf(id))

    const tagged = await bulk({ action: 'tag', tag: ' new ', ids: [...ids, foreign, ids[0]] })
    assert.deepEqual(
      tagged.body.items.map(({ ok }: { ok: boolean }) => ok),
      [false, true, true, false],
    )
    assert.equal(tagged.body.items[0].message, '每个链接最多 10 个标签')
    assert.deepEqual(await list({ tag: 'new' }), [2, 1])
    assert.deepEqual((await own.call(linkRoutes.tags)).body.items.slice(0, 2), ['new', 't0'])
    await bulk({ action: 'untag', tag: 'new', ids: [ids[1]] })
    assert.deepEqual(await list({ tag: 'new', sort: 'title' }), [2])

    await bulk({ action: 'pause', ids: [ids[0], ids[1]] })
    assert.deepEqual(await list({ state: 'paused' }), [1, 0])
    assert.deepEqual(await list({ state: 'paused', tag: 'two' }), [1])
    assert.deepEqual(await list({ state: 'active' }), [2])
    await bulk({ action: 'resume', ids: [ids[0]] })
    const removed = await bulk({ action: 'delete', ids: [ids[0], foreign] })
    assert.deepEqual(
      removed.body.items.map(({ ok }: { ok: boolean }) => ok),
      [true, false],
    )
    assert.deepEqual(await list({}), [2, 1])
    const file = await own.text(linkRoutes.csv, { sent: { ids: `${ids[2]},${foreign}` } })
    assert.equal(file.text.trim().split('\r\n').length, 2, 'only links of the account')
    for (const sent of [
      { action: 'tag', ids: [ids[1]] },
      { action: 'pause', ids: [] },
      { action: 'pause', ids: Array.from({ length: 101 }, (_one, index) => index + 1) },
    ]) {
      assert.equal((await bulk(sent)).status, 400, JSON.stringify(sent).slice(0, 50))
    }
  })

  it('returns 404 for the link of another account', async () => {
    const { link } = (await create({ target_url: 'https://example.com/mine' })).body
    for (const [name, route] of Object.entries(linkRoutes)) {
      if (!route.path.includes(':id')) continue
      const reply = await otherBrowser.call(route, {
        parts: { id: link.id },
        sent: route.method === 'PATCH' ? { title: 'x' } : {},
      })
      assert.equal(reply.status, 404, name)
      assert.equal(reply.body.error.code, 'not_found', name)
    }
    assert.deepEqual((await otherBrowser.call(linkRoutes.list)).body.items, [])
  })
})
