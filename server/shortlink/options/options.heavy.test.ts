// Options of links through the API and the redirects: codes, expiry, limits, passwords, rules, states, lists and statistics.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatDay, formatTime } from '../../../contract/time.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  post,
  type Reply,
  startService,
  type TestAccount,
  type TestService,
} from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { createEventRules } from '../../events/delivery.ts'
import { reportExpiredLinks } from './expiry-store.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.49'
const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

onEachEngine('options of links', (engine) => {
  let service: TestService
  let account: TestAccount
  let other: TestAccount

  before(async () => {
    service = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1' })
    account = await service.account({ short_link: 1_000 })
    other = await service.account({ short_link: 100 })
  })
  after(() => service[Symbol.asyncDispose]())

  const db = () => service.installation.db
  const call = (body: object, caller = account): Promise<Reply> =>
    post(`${service.url}/api/shortlink_api.php`, { username: caller.username, api_key: caller.key, ...body })
  const ok = async (body: object, caller = account) => {
    const reply = await call(body, caller)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.data
  }
  const refused = async (body: object, message: string, caller = account) => {
    const reply = await call(body, caller)
    assert.deepEqual([reply.status, reply.body], [400, { success: false, message }])
  }
  const link = { action: 'generate', target_url: 'https://example.com/b', title: 't' }
  const get = (id: number) => ok({ action: 'get', link_id: id })

  async function visit(url: string, options: RequestInit & { headers?: Record<string, string> } = {}) {
    const reply = await fetch(url, {
      redirect: 'manual',
      ...options,
      headers: { 'user-agent': chrome, ...options.headers },
    })
    const text = await reply.text()
    return { status: reply.status, location: reply.headers.get('location'), text, headers: reply.headers }
  }
  const submit = (url: string, password: string, headers: Record<string, string> = {}) =>
    visit(url, { method: 'POST', body: new URLSearchParams({ password }), headers })

  test('85 a chosen code works on both addresses and is never issued again', async () => {
    const code = `Sale-2026_${engine}`
    const made = await ok({ ...link, short_code: code })
    assert.equal(made.short_code, code)
    for (const url of [made.a_url, made.b_url]) assert.equal((await visit(url)).status, 302)
    assert.equal((await visit(made.a_url.toLowerCase())).status, 404)
    await refused({ ...link, short_code: code }, '短码已被占用', other)
    const renewed = await ok({ action: 'execute_update', link_id: made.link_id, short_code: `${code}x` })
    assert.equal(renewed.short_code, `${code}x`)
    assert.equal((await visit(made.a_url)).status, 410)
    assert.equal((await visit(renewed.new_a_url)).status, 302)
    await refused({ ...link, short_code: code }, '短码已被占用')
    await ok({ action: 'delete', short_code: `${code}x` })
    assert.equal((await visit(renewed.new_a_url)).status, 410)
    await refused({ ...link, short_code: `${code}x` }, '短码已被占用')
    await refused({ action: 'get', link_id: made.link_id }, '链接不存在或无权修改')
    // A generated code of a deleted link is taken too.
    const generated = await ok(link)
    await ok({ action: 'delete', link_id: generated.link_id })
    await refused({ ...link, short_code: generated.short_code }, '短码已被占用')
    for (const word of ['console', 'API', 'Report', 'tls-ask', 'fuck-it'])
      await refused({ ...link, short_code: word }, '短码不可用')
    const wrong = 'short_code 须为 3–32 个字母、数字、_ 或 -，首尾为字母或数字'
    for (const word of ['ab', '-abc', 'abc_', 'a b', '短码啊', 'x'.repeat(33)])
      await refused({ ...link, short_code: word }, wrong)
  })

  test('names every problem at once and charges nothing', async () => {
    const remaining = (await ok(link)).remaining_balance
    await refused(
      {
        ...link,
        redirect_type: 'permanent',
        expires_at: '2020-01-01 00:00:00',
        max_clicks: 0,
        password: 'abc',
        tags: ['a', ' '],
        rules: [{ when: { os: 'beos', moon: 'full' }, target_url: 'ftp://x' }, { when: {} }],
        domain: 'go.example.com',
      },
      'max_clicks 须为 1 至 1000000000 的整数；password 须为 4–64 个字符；expires_at 须晚于当前时间；tags[1] 须为 1–32 个字符；' +
        'rules[0].when.os 只能是 ios、android、harmony、windows、macos、linux；rules[0].when.moon 不支持；' +
        'rules[0].target_url 须为 http:// 或 https:// 开头的完整网址；' +
        'rules[1].when 须为至少含一个条件的对象：os、device、app、country、province、language；rules[1].target_url 缺失；' +
        'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    await refused({ ...link, domain: 'go.example.com' }, 'domain 不是您已验证的域名')
    await refused(
      { ...link, expires_at: '2036-02-30 00:00:00' },
      'expires_at 须为 YYYY-MM-DD HH:MM:SS 格式的时间',
    )
    assert.equal((await ok(link)).remaining_balance, remaining - 1)
  })

  test('a link over its time or its limit is gone or leads to expired_url; a new limit keeps the count', async () => {
    const made = await ok({ ...link, expires_at: formatTime(Date.now() + 3_600_000), max_clicks: 2 })
    const { link_id: id, a_url: a } = made
    assert.equal((await visit(a, { method: 'HEAD' })).status, 302)
    for (const headers of [{ 'user-agent': bot }, { 'sec-purpose': 'prefetch' }])
      assert.equal((await visit(a, { headers })).status, 302)
    assert.equal((await get(id)).remaining_clicks, 2)
    assert.deepEqual(
      [(await visit(a)).status, (await visit(a)).status, (await visit(a)).status],
      [302, 302, 410],
    )
    assert.equal((await visit(a, { headers: { 'user-agent': bot } })).status, 410)
    assert.equal((await get(id)).state, 'exhausted')
    const update = { action: 'update', link_id: id, target_url: 'https://example.com/b' }
    await ok({ ...update, expired_url: 'https://example.com/over' })
    assert.equal((await visit(a)).location, 'https://example.com/over')
    await ok({ ...update, max_clicks: 3 })
    assert.equal((await get(id)).remaining_clicks, 1)
    assert.equal((await visit(a)).location, 'https://example.com/b')
    await ok({ ...update, clear: ['max_clicks', 'expired_url'] })
    await ok({ ...update, max_clicks: 1 })
    assert.deepEqual([(await visit(a)).status, (await visit(a)).status], [302, 410])
    await ok({ ...update, clear: ['max_clicks'] })
    assert.equal((await visit(a)).status, 302)
    await db().write((tx) => tx.run('UPDATE link SET expires_at = ? WHERE id = ?', [Date.now() - 1, id]))
    await ok({ ...update, title: 'seen by every process' })
    assert.equal((await visit(a)).status, 410)
    assert.equal((await get(id)).state, 'expired')
    await ok({ action: 'pause', link_id: id })
    assert.equal((await get(id)).state, 'paused')
    assert.equal((await ok({ action: 'resume', link_id: id })).state, 'expired')
  })

  test('exactly so many of many people at the same time get the destination', async () => {
    const { a_url: a } = await ok({ ...link, max_clicks: 10 })
    const replies = await Promise.all(Array.from({ length: 60 }, () => visit(a)))
    assert.equal(replies.filter(({ status }) => status === 302).length, 10)
    assert.equal(replies.filter(({ status }) => status === 410).length, 50)
  })

  test('reports a link that is used up or expired once', async () => {
    const { webhooks } = createEventRules(service.app.services)
    await webhooks.add(systemActor, account.id, { url: 'https://example.com/', events: [] })
    const { link_id: id, a_url: a } = await ok({ ...link, max_clicks: 1, external_id: 'event-1' })
    await Promise.all([visit(a), visit(a), visit(a)])
    const late = await ok({ ...link, expires_at: formatTime(Date.now() + 3_600_000) })
    await db().write((tx) =>
      tx.run('UPDATE link_expiry SET expires_at = 1000 WHERE link_id = ?', [late.link_id]),
    )
    await reportExpiredLinks(db())
    await reportExpiredLinks(db())
    const rows = await db().all<{ type: string; data: string }>(
      `SELECT type, data FROM event WHERE account_id = ? AND type LIKE 'link.%' ORDER BY type`,
      [account.id],
    )
    const events = rows.map(({ type, data }) => [type, (JSON.parse(data) as { link_id: number }).link_id])
    assert.deepEqual(
      events.filter(([, about]) => about === id || about === late.link_id),
      [
        ['link.exhausted', id],
        ['link.expired', late.link_id],
      ],
    )
  })

  test('86 only the right password leads on, for people, bots, HEAD and prefetches alike', async () => {
    const made = await ok({ ...link, password: '芝麻 开门', max_clicks: 2 })
    const { a_url: a, link_id: id } = made
    for (const options of [
      {},
      { method: 'HEAD' },
      { headers: { 'user-agent': bot } },
      { headers: { 'sec-purpose': 'prefetch' } },
    ]) {
      const form = await visit(a, options)
      assert.deepEqual([form.status, form.location], [200, null])
      assert.equal(form.headers.get('cache-control'), 'no-store')
      assert.match(form.headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action/)
      assert.doesNotMatch(form.text, /<script|example\.com/)
    }
    assert.equal((await submit(a, 'wrong')).status, 403)
    assert.equal((await submit(a, '')).status, 403)
    assert.equal((await submit(a, 'x'.repeat(10_000))).status, 403)
    assert.equal((await get(id)).remaining_clicks, 2)
    for (const url of [a, made.b_url]) {
      const right = await submit(url, ' 芝麻 开门 ')
      assert.deepEqual([right.status, right.location], [303, 'https://example.com/b'])
    }
    assert.deepEqual([(await visit(a)).status, (await submit(a, '芝麻 开门')).status], [410, 410])
    assert.equal((await get(id)).clicks, 2)
    const { password_hash: hash } = (await db().one<{ password_hash: string }>(
      'SELECT password_hash FROM link WHERE id = ?',
      [id],
    ))!
    assert.match(hash, /^\$argon2id\$/)
    const ordinary = await ok(link)
    assert.equal((await submit(ordinary.a_url, 'x')).status, 405)
  })

  test('87 ten wrong passwords a minute per address and link, then 429 also for the right one', async () => {
    const { a_url: a } = await ok({ ...link, password: 'right one' })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (let i = 0; i < 10; i += 1) assert.equal((await submit(a, 'wrong', from('203.0.113.7'))).status, 403)
    const blocked = await submit(a, 'right one', from('203.0.113.7'))
    assert.equal(blocked.status, 429)
    assert.ok(Number(blocked.headers.get('retry-after')) > 0)
    assert.equal((await submit(a, 'right one', from('203.0.113.8'))).status, 303)
  })

  test('rules: the first match wins on both addresses, else redirect_url_a and target_url', async () => {
    const made = await ok({
      ...link,
      redirect_url_a: 'https://example.com/a',
      rules: [
        { when: { app: 'wechat', os: ['ios', 'android'] }, target_url: 'https://example.com/wechat' },
        { when: { country: 'CN', province: ['GD'] }, target_url: 'https://example.com/gd' },
        { when: { country: ['US', 'HK'] }, target_url: 'https://example.com/abroad' },
        { when: { language: 'ja', device: 'desktop' }, target_url: 'https://example.com/ja' },
      ],
    })
    const locations = async (headers: Record<string, string>) =>
      Promise.all([made.a_url, made.b_url].map(async (url) => (await visit(url, { headers })).location))
    const both = (path: string) => [`https://example.com/${path}`, `https://example.com/${path}`]
    assert.deepEqual(await locations({ 'user-agent': iphone }), both('wechat'))
    assert.deepEqual(await locations({ 'x-forwarded-for': '113.118.112.93' }), both('gd'))
    assert.deepEqual(await locations({ 'x-forwarded-for': '8.8.8.8' }), both('abroad'))
    assert.deepEqual(await locations({ 'x-forwarded-for': '210.0.255.251' }), both('abroad'))
    assert.deepEqual(await locations({ 'accept-language': 'ja-JP,en;q=0.5' }), both('ja'))
    assert.deepEqual(await locations({}), ['https://example.com/a', 'https://example.com/b'])
  })

  test('update merges, clears, and refuses what does not go together', async () => {
    const { link_id: id } = await ok({ ...link, external_id: 'u-1', tags: ['x', 'y'], max_clicks: 5 })
    const update = { action: 'update', link_id: id, target_url: 'https://example.com/b' }
    await refused(
      { ...update, redirect_type: 'permanent' },
      'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    await refused({ ...update, tags: ['z'], clear: ['tags'] }, 'clear 与 tags 的新值不能同时传入')
    await refused({ ...update, clear: ['title'] }, 'clear 不支持 title')
    await ok({ ...update, redirect_type: 'permanent', clear: ['max_clicks', 'tags', 'external_id'] })
    const record = await get(id)
    assert.deepEqual(
      [record.redirect_type, record.max_clicks, record.tags, record.external_id],
      ['permanent', null, [], ''],
    )
    await refused(
      { ...update, password: 'secret' },
      'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    const { link_id: second } = await ok({ ...link, external_id: 'u-1' })
    await refused({ ...update, external_id: 'u-1' }, 'external_id 已被使用')
    await ok({ action: 'delete', external_id: 'u-1' })
    await ok({ ...update, external_id: 'u-1' })
    await refused({ action: 'get', link_id: second }, '链接不存在或无权修改')
    await ok({ ...link, external_id: 'u-1' }, other)
  })

  test('generate_batch is charged and created as a whole, once for a key', async () => {
    const poor = await service.account({ short_link: 3 })
    const links = ['1', '2', '3'].map((n) => ({
      target_url: `https://example.com/${n}`,
      title: n,
      short_code: `batch-${n}-${engine}`,
      external_id: n,
      tags: ['batch'],
    }))
    const body = { action: 'generate_batch', links }
    const broken = [...links, { target_url: 'x', title: 'y', short_code: links[0]!.short_code }]
    await refused(
      { ...body, links: broken },
      'links[3].target_url 须为 http:// 或 https:// 开头的完整网址',
      poor,
    )
    await refused(
      { ...body, links: [...links, { ...links[0], title: 'again' }] },
      'links[3].short_code 短码已被占用；links[3].external_id 已被使用',
      poor,
    )
    await refused(
      { ...body, links: [...links, { target_url: 'https://example.com/', title: '4' }] },
      '生成次数不足',
      poor,
    )
    const key = { 'idempotency-key': `batch-${engine}` }
    const send = () =>
      post(
        `${service.url}/api/shortlink_api.php`,
        { username: poor.username, api_key: poor.key, ...body },
        key,
      )
    const [first, again] = [await send(), await send()]
    assert.deepEqual(
      first.body.data.links.map(({ index, short_code: code }: { index: number; short_code: string }) => [
        index,
        code,
      ]),
      links.map((one, index) => [index, one.short_code]),
    )
    assert.equal(first.body.data.remaining_balance, 0)
    assert.deepEqual(again.body, first.body)
    assert.equal((await ok({ action: 'list', tag: 'batch' }, poor)).links.length, 3)
  })

  test('88 list pages with a cursor of its filters and its account only', async () => {
    const owner = await service.account({ short_link: 50 })
    for (let i = 0; i < 7; i += 1)
      await ok(
        {
          ...link,
          title: `Page ${i}`,
          tags: [i % 2 === 0 ? 'even' : 'odd'],
          short_code: `pg-${i}-${engine}`,
        },
        owner,
      )
    const page = (more: object) => ok({ action: 'list', limit: 2, tag: 'even', ...more }, owner)
    const titles = ({ links }: { links: { title: string }[] }) => links.map(({ title }) => title)
    const first = await page({})
    assert.deepEqual(titles(first), ['Page 6', 'Page 4'])
    const rest = await page({ cursor: first.next_cursor, limit: 100 })
    assert.deepEqual([titles(rest), rest.next_cursor], [['Page 2', 'Page 0'], null])
    for (const [more, caller] of [
      [{ tag: 'odd' }, owner],
      [{ q: 'Page' }, owner],
      [{}, other],
    ] as const)
      await refused(
        { action: 'list', limit: 2, tag: 'even', cursor: first.next_cursor, ...more },
        'cursor 无效',
        caller,
      )
    await refused({ action: 'list', cursor: 'abc' }, 'cursor 无效')
    await refused({ action: 'list', limit: 101 }, 'limit 必须是 1 到 100 的整数')
    assert.deepEqual(titles(await ok({ action: 'list', q: 'pAGE 3' }, owner)), ['Page 3'])
    assert.deepEqual(titles(await ok({ action: 'list', q: `PG-5-` }, owner)), ['Page 5'])
    assert.deepEqual(titles(await ok({ action: 'list', q: '%' }, owner)), [])
    await ok({ action: 'pause', short_code: `pg-3-${engine}` }, owner)
    assert.deepEqual(titles(await ok({ action: 'list', state: 'paused' }, owner)), ['Page 3'])
    assert.equal((await ok({ action: 'list', state: 'active' }, owner)).links.length, 6)
  })

  test('stats counts people by every part, with empty days and hours', async () => {
    const { link_id: id, a_url: a } = await ok({ ...link, tags: [`stats ${engine}`] })
    await visit(a, {
      headers: { 'x-forwarded-for': '113.118.112.93', referer: 'https://news.example.com/x' },
    })
    await visit(a, { headers: { 'x-forwarded-for': '8.8.8.8', 'user-agent': iphone } })
    await visit(a)
    await visit(a, { headers: { 'user-agent': bot } })
    const stats = (more: object) => ok({ action: 'stats', link_id: id, ...more })
    const items = async (by: string) => (await stats({ by })).items
    const days = await stats({})
    assert.deepEqual([days.clicks, days.bot_clicks, days.preview_clicks, days.visitors], [3, 1, 0, 3])
    assert.equal(days.items.length, 30)
    assert.deepEqual(days.items.at(-1), { value: formatDay(Date.now()), clicks: 3 })
    assert.equal(
      days.items.reduce((sum: number, one: { clicks: number }) => sum + one.clicks, 0),
      3,
    )
    const today = formatDay(Date.now())
    const hours = await stats({ by: 'hour', start_date: today, end_date: today })
    assert.equal(hours.items.length, 24)
    assert.equal(hours.items[0].value, `${today} 00:00`)
    assert.deepEqual(await items('country'), [
      { value: '', clicks: 1 },
      { value: 'CN', clicks: 1 },
      { value: 'US', clicks: 1 },
    ])
    assert.deepEqual(await items('province'), [
      { value: '', clicks: 2 },
      { value: 'GD', clicks: 1 },
    ])
    assert.deepEqual(await items('device'), [
      { value: 'desktop', clicks: 2 },
      { value: 'mobile', clicks: 1 },
    ])
    assert.deepEqual((await items('os'))[0], { value: 'windows', clicks: 2 })
    assert.deepEqual((await items('app'))[1], { value: 'wechat', clicks: 1 })
    assert.deepEqual((await items('browser'))[0], { value: 'chrome', clicks: 2 })
    assert.deepEqual((await items('referrer'))[1], { value: 'news.example.com', clicks: 1 })
    assert.equal((await ok({ action: 'stats', tag: `stats ${engine}` })).clicks, 3)
    assert.equal((await ok({ action: 'stats', tag: `stats ${engine}` }, other)).clicks, 0)
    await refused({ action: 'stats', link_id: id, tag: 'x' }, 'tag 与短链接只能传入其一')
    await refused({ action: 'stats' }, '访问统计缺少必要参数：link_id、tag')
    await refused(
      { action: 'stats', link_id: id, start_date: '2026-02-02', end_date: '2026-02-01' },
      'start_date 不能晚于 end_date',
    )
    assert.equal((await call({ action: 'stats', link_id: id }, other)).status, 400)
    // Addresses are stored nowhere.
    const stored = await db().all<{ clicks: string }>('SELECT clicks FROM link_click_journal')
    assert.ok(!JSON.stringify(stored).includes('113.118.112.93'))
  })
})
