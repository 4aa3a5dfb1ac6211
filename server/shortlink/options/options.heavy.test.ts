// Options of links through the API and the redirects: codes, expiry, limits, passwords, rules and states.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatTime } from '../../../contract/time.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  bot,
  iphone,
  type LinkCalls,
  newLink,
  openLinkCalls,
  visit,
} from '../../../test/support/link-calls.ts'
import { systemActor } from '../../audit/audit.ts'
import { createEventRules } from '../../events/delivery.ts'
import { reportExpiredLinks } from './expiry-store.ts'

onEachEngine('options of links', (engine) => {
  let links: LinkCalls

  before(async () => {
    links = await openLinkCalls(engine)
  })
  after(() => links[Symbol.asyncDispose]())

  const get = (id: number) => links.ok({ action: 'get', link_id: id })
  const submit = (url: string, password: string, headers: Record<string, string> = {}) =>
    visit(url, { method: 'POST', body: new URLSearchParams({ password }), headers })

  test('85 a chosen code works on both addresses and is never issued again', async () => {
    const code = `Sale-2026_${engine}`
    const made = await links.ok({ ...newLink, short_code: code })
    assert.equal(made.short_code, code)
    for (const url of [made.a_url, made.b_url]) assert.equal((await visit(url)).status, 302)
    assert.equal((await visit(made.a_url.toLowerCase())).status, 404)
    await links.refused({ ...newLink, short_code: code }, '短码已被占用', links.other)
    const renewed = await links.ok({
      action: 'execute_update',
      link_id: made.link_id,
      short_code: `${code}x`,
    })
    assert.equal(renewed.short_code, `${code}x`)
    assert.equal((await visit(made.a_url)).status, 410)
    assert.equal((await visit(renewed.new_a_url)).status, 302)
    await links.refused({ ...newLink, short_code: code }, '短码已被占用')
    await links.ok({ action: 'delete', short_code: `${code}x` })
    assert.equal((await visit(renewed.new_a_url)).status, 410)
    await links.refused({ ...newLink, short_code: `${code}x` }, '短码已被占用')
    await links.refused({ action: 'get', link_id: made.link_id }, '链接不存在或无权修改')
    // A generated code of a deleted link is taken too.
    const generated = await links.ok(newLink)
    await links.ok({ action: 'delete', link_id: generated.link_id })
    await links.refused({ ...newLink, short_code: generated.short_code }, '短码已被占用')
    for (const word of ['console', 'API', 'Report', 'tls-ask', 'fuck-it'])
      await links.refused({ ...newLink, short_code: word }, '短码不可用')
    const wrong = 'short_code 必须是 3 至 32 个字母、数字、_ 或 -，首尾为字母或数字'
    for (const word of ['ab', '-abc', 'abc_', 'a b', '短码啊', 'x'.repeat(33)])
      await links.refused({ ...newLink, short_code: word }, wrong)
  })

  test('names every problem at once and charges nothing', async () => {
    const remaining = (await links.ok(newLink)).remaining_balance
    await links.refused(
      {
        ...newLink,
        redirect_type: 'permanent',
        expires_at: '2020-01-01 00:00:00',
        max_clicks: 0,
        password: 'abc',
        tags: ['a', ' '],
        rules: [{ when: { os: 'beos', moon: 'full' }, target_url: 'ftp://x' }, { when: {} }],
        domain: 'go.example.com',
      },
      'max_clicks 必须是 1 至 1000000000 的整数；password 必须是 4 至 64 个字符；expires_at 必须晚于当前时间；tags[1] 必须是 1 至 32 个字符；' +
        'rules[0].when.os 只能是 ios、android、harmony、windows、macos、linux；rules[0].when.moon 不支持；' +
        'rules[0].target_url 必须是 http:// 或 https:// 开头的完整网址；' +
        'rules[1].when 必须是至少含一个条件的对象：os、device、app、country、province、language；rules[1].target_url 缺失；' +
        'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    await links.refused({ ...newLink, domain: 'go.example.com' }, 'domain 不是您已验证的域名')
    await links.refused(
      { ...newLink, expires_at: '2036-02-30 00:00:00' },
      'expires_at 必须是 YYYY-MM-DD HH:MM:SS 格式的时间',
    )
    assert.equal((await links.ok(newLink)).remaining_balance, remaining - 1)
  })

  test('a link over its time or its limit is gone or leads to expired_url; a new limit keeps the count', async () => {
    const made = await links.ok({ ...newLink, expires_at: formatTime(Date.now() + 3_600_000), max_clicks: 2 })
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
    await links.ok({ ...update, expired_url: 'https://example.com/over' })
    assert.equal((await visit(a)).location, 'https://example.com/over')
    await links.ok({ ...update, max_clicks: 3 })
    assert.equal((await get(id)).remaining_clicks, 1)
    assert.equal((await visit(a)).location, 'https://example.com/b')
    await links.ok({ ...update, clear: ['max_clicks', 'expired_url'] })
    await links.ok({ ...update, max_clicks: 1 })
    assert.deepEqual([(await visit(a)).status, (await visit(a)).status], [302, 410])
    await links.ok({ ...update, clear: ['max_clicks'] })
    assert.equal((await visit(a)).status, 302)
    await links.service.installation.db.write((tx) =>
      tx.run('UPDATE link SET expires_at = ? WHERE id = ?', [Date.now() - 1, id]),
    )
    await links.ok({ ...update, title: 'seen by every process' })
    assert.equal((await visit(a)).status, 410)
    assert.equal((await get(id)).state, 'expired')
    await links.ok({ action: 'pause', link_id: id })
    assert.equal((await get(id)).state, 'paused')
    assert.equal((await links.ok({ action: 'resume', link_id: id })).state, 'expired')
  })

  test('exactly so many of many people at the same time get the destination', async () => {
    const { a_url: a } = await links.ok({ ...newLink, max_clicks: 10 })
    const replies = await Promise.all(Array.from({ length: 60 }, () => visit(a)))
    assert.equal(replies.filter(({ status }) => status === 302).length, 10)
    assert.equal(replies.filter(({ status }) => status === 410).length, 50)
  })

  test('reports a link that is used up or expired once', async () => {
    const { webhooks } = createEventRules(links.service.app.services)
    await webhooks.add(systemActor, links.account.id, { url: 'https://example.com/', events: [] })
    const { link_id: id, a_url: a } = await links.ok({ ...newLink, max_clicks: 1, external_id: 'event-1' })
    await Promise.all([visit(a), visit(a), visit(a)])
    const late = await links.ok({ ...newLink, expires_at: formatTime(Date.now() + 3_600_000) })
    await links.service.installation.db.write((tx) =>
      tx.run('UPDATE link_expiry SET expires_at = 1000 WHERE link_id = ?', [late.link_id]),
    )
    await reportExpiredLinks(links.service.installation.db)
    await reportExpiredLinks(links.service.installation.db)
    const rows = await links.service.installation.db.all<{ type: string; data: string }>(
      `SELECT type, data FROM event WHERE account_id = ? AND type LIKE 'link.%' ORDER BY type`,
      [links.account.id],
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
    const made = await links.ok({ ...newLink, password: '芝麻 开门', max_clicks: 2 })
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
    const { password_hash: hash } = (await links.service.installation.db.one<{ password_hash: string }>(
      'SELECT password_hash FROM link WHERE id = ?',
      [id],
    ))!
    assert.match(hash, /^\$argon2id\$/)
    const ordinary = await links.ok(newLink)
    assert.equal((await submit(ordinary.a_url, 'x')).status, 405)
  })

  test('87 ten wrong passwords a minute per address and link, then 429 also for the right one', async () => {
    const { a_url: a } = await links.ok({ ...newLink, password: 'right one' })
    const from = (address: string) => ({ 'x-forwarded-for': address })
    for (let i = 0; i < 10; i += 1) assert.equal((await submit(a, 'wrong', from('203.0.113.7'))).status, 403)
    const blocked = await submit(a, 'right one', from('203.0.113.7'))
    assert.equal(blocked.status, 429)
    assert.ok(Number(blocked.headers.get('retry-after')) > 0)
    assert.equal((await submit(a, 'right one', from('203.0.113.8'))).status, 303)
    // Whoever has an IPv6 address often has a /48, with 65,536 networks.
    for (let i = 0; i < 40; i += 1)
      assert.equal((await submit(a, '', from(`2001:db8:87:${i}::1`))).status, 403)
    assert.equal((await submit(a, 'right one', from('2001:db8:87:ffff::1'))).status, 429)
    assert.equal((await submit(a, 'right one', from('2001:db8:88::1'))).status, 303)
  })

  test('rules: the first match wins on both addresses, else redirect_url_a and target_url', async () => {
    const made = await links.ok({
      ...newLink,
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
    const { link_id: id } = await links.ok({
      ...newLink,
      external_id: 'u-1',
      tags: ['x', 'y'],
      max_clicks: 5,
    })
    const update = { action: 'update', link_id: id, target_url: 'https://example.com/b' }
    await links.refused(
      { ...update, redirect_type: 'permanent' },
      'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    await links.refused({ ...update, tags: ['z'], clear: ['tags'] }, 'clear 与 tags 的新值不能同时传入')
    await links.refused({ ...update, clear: ['title'] }, 'clear 不支持 title')
    await links.ok({ ...update, redirect_type: 'permanent', clear: ['max_clicks', 'tags', 'external_id'] })
    const record = await get(id)
    assert.deepEqual(
      [record.redirect_type, record.max_clicks, record.tags, record.external_id],
      ['permanent', null, [], ''],
    )
    await links.refused(
      { ...update, password: 'secret' },
      'redirect_type permanent 不能与 expires_at、max_clicks、password、rules 同时使用',
    )
    const { link_id: second } = await links.ok({ ...newLink, external_id: 'u-1' })
    await links.refused({ ...update, external_id: 'u-1' }, 'external_id 已被使用')
    await links.ok({ action: 'delete', external_id: 'u-1' })
    await links.ok({ ...update, external_id: 'u-1' })
    await links.refused({ action: 'get', link_id: second }, '链接不存在或无权修改')
    await links.ok({ ...newLink, external_id: 'u-1' }, links.other)
  })
})
