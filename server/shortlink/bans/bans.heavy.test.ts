// Bans and reports: what visitors, callers and operators see of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { linkAbuseRoutes } from '../../../contract/console/link-domains.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { reportLimits } from '../../../contract/link-abuse.ts'
import { operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  admin,
  post,
  startService,
  type TestAccount,
  type TestService,
} from '../../../test/support/service.ts'
import { isBannedUrl, readBannedHost } from './banned-hosts.ts'
import { codeOf } from './report-form.ts'

test('a ban of a host covers everything below it, however the address is written', () => {
  const banned = new Set(['bad.example', '203.0.113.9', '[2001:db8::1]', 'xn--fsqu00a.xn--0zwm56d'])
  for (const url of [
    'https://bad.example/x',
    'http://BAD.example',
    'https://a.b.bad.example:8443/',
    'https://bad.example./',
    'https://%62ad.example/',
    'http://203.0.113.9/',
    'http://3405803785/',
    'http://[2001:DB8::1]:80/',
    'https://sub.例子.测试/',
  ])
    assert.equal(isBannedUrl(url, banned), true, url)
  for (const url of [
    'https://notbad.example/',
    'https://bad.example.org/',
    'https://example/',
    'https://x.example/?bad.example',
    'http://1.203.0.113.9.example/',
    'nonsense',
    '',
  ])
    assert.equal(isBannedUrl(url, banned), false, url)
  assert.equal(readBannedHost('Bad.Example:8080.'.replace(':8080.', '.')), 'bad.example')
  for (const wrong of ['', 'a b', 'https://x.example/', 'x/y', 'u@x', '%'])
    assert.equal(readBannedHost(wrong), undefined)
})

test('the code of a reported address, in any form', () => {
  for (const address of [
    'abc1234',
    '/abc1234',
    'https://s.test/abc1234?x=/y',
    's.test/b/abc1234/',
    'HTTP://s.test/b/abc1234#x',
  ])
    assert.equal(codeOf(address), 'abc1234', address)
  for (const address of ['', '/', 'https://', 'https://s.test/日本', 'x'.repeat(5_000)])
    assert.equal(codeOf(address), undefined)
})

onEachEngine('bans', (engine) => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1' })
    account = await service.account({ short_link: 1_000 })
    await service.installation.db.write((tx) =>
      tx.run(`UPDATE account SET event_types = '*' WHERE id = ?`, [account.id]),
    )
  })
  after(() => service[Symbol.asyncDispose]())

  const ban = async (...words: string[]) => {
    const result = await admin(service.storage.environment, 'ban', ...words, '--json')
    assert.equal(result.code, 0, result.stderr)
    return JSON.parse(result.stdout)
  }
  const call = (action: string, parameters: object) =>
    post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      action,
      ...parameters,
    })
  const generate = (parameters: object) => call('generate', { title: 't', ...parameters })
  const create = async (targetUrl: string, more: object = {}) => {
    const { status, body } = await generate({ target_url: targetUrl, ...more })
    assert.equal(status, 200, JSON.stringify(body))
    return body.data as { link_id: number; short_code: string; a_url: string; b_url: string }
  }
  const visit = async (url: string) => {
    const response = await fetch(url, { redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }
  const stateOf = async (id: number) => (await call('get', { link_id: id })).body.data.state
  const balance = async () => (await service.app.services.credits.balance(account.id, 'short_link')).remaining
  const events = async () => {
    const rows = await service.installation.db.all<{ data: string }>(
      `SELECT data FROM event WHERE type = 'link.banned' ORDER BY id`,
    )
    return rows.map(({ data }) => JSON.parse(data) as { link_id: number; external_id: string; by: string })
  }
  const isGone = async (link: { a_url: string; b_url: string }) => {
    for (const url of [link.a_url, link.b_url]) {
      const { status, text } = await visit(url)
      assert.equal(status, 410)
      assert.match(text, /已被平台封禁/)
      const english = await fetch(url, { redirect: 'manual', headers: { 'accept-language': 'en' } })
      assert.match(await english.text(), /banned/)
    }
  }
  const works = async (link: { a_url: string; b_url: string }) => {
    for (const url of [link.a_url, link.b_url]) assert.equal((await visit(url)).status, 302)
  }

  test('a banned host: links answer 410 at once, new ones are refused and cost nothing, unbanning restores', async () => {
    const link = await create('https://a.bad.example/x', { external_id: 'order-1' })
    const byAddressA = await create('https://ok.example/', { redirect_url_a: 'http://BAD.example:81/' })
    const other = await create('https://notbad.example/')
    await works(link)
    assert.deepEqual(await ban('add', 'host:*.Bad.Example', '--note', '钓鱼'), {
      ban: 'host:bad.example',
      note: '钓鱼',
    })
    await isGone(link)
    await isGone(byAddressA)
    await works(other)
    assert.deepEqual(await Promise.all([link, byAddressA, other].map(({ link_id: id }) => stateOf(id))), [
      'banned',
      'banned',
      'active',
    ])
    assert.deepEqual(
      (await events()).map(({ link_id, external_id, by }) => [link_id, external_id, by]),
      [
        [link.link_id, 'order-1', 'host'],
        [byAddressA.link_id, '', 'host'],
      ],
    )
    const had = await balance()
    for (const parameters of [
      { target_url: 'https://bad.example/' },
      { target_url: 'https://x.y.bad.example./z' },
      { target_url: 'https://ok.example/', redirect_url_a: 'https://bad.example' },
    ]) {
      const { status, body } = await generate(parameters)
      assert.equal(status, 400)
      assert.deepEqual(body, { success: false, message: '目标地址被平台禁止' })
    }
    const update = await call('update', { link_id: other.link_id, target_url: 'https://bad.example/' })
    assert.deepEqual([update.status, update.body.message], [400, '目标地址被平台禁止'])
    assert.equal(await balance(), had)
    await works(other)

    // A new target takes the link off the banned host.
    const moved = await call('update', { link_id: link.link_id, target_url: 'https://ok.example/moved' })
    assert.equal(moved.status, 200)
    await works(link)
    assert.equal(await stateOf(link.link_id), 'active')

    assert.deepEqual(await ban('remove', 'host:bad.example'), { ban: 'host:bad.example', removed: true })
    await works(byAddressA)
    assert.equal(await stateOf(byAddressA.link_id), 'active')
    await create('https://bad.example/')
    assert.equal((await events()).length, 2)
    const twice = await admin(service.storage.environment, 'ban', 'remove', 'host:bad.example')
    assert.equal(twice.code, 1)
  })

  test('a banned link stays banned after update and execute_update, until it is unbanned', async () => {
    const link = await create('https://example.com/phish')
    const name = `link:${link.short_code}`
    const seen = (await events()).length
    await ban('add', name, '--note', 'first')
    await ban('add', name, '--note', 'second')
    await isGone(link)
    assert.equal(await stateOf(link.link_id), 'banned')
    assert.equal((await events()).length, seen + 1)
    const { bans } = await ban('list')
    assert.deepEqual(
      bans.map((one: { ban: string; note: string }) => [one.ban, one.note]),
      [[name, 'second']],
    )
    assert.equal(
      (await call('update', { link_id: link.link_id, target_url: 'https://example.com/new' })).status,
      200,
    )
    await isGone(link)
    const refreshed = (await call('execute_update', { link_id: link.link_id })).body.data
    await isGone({ a_url: refreshed.new_a_url, b_url: refreshed.new_b_url })
    assert.deepEqual(await ban('remove', name), { ban: `link:${refreshed.short_code}`, removed: true })
    await works({ a_url: refreshed.new_a_url, b_url: refreshed.new_b_url })
    for (const wrong of ['link:nosuch1', 'host:', 'x:y', 'host:a b', ''])
      assert.equal((await admin(service.storage.environment, 'ban', 'add', wrong)).code, 1)
  })

  test('operators who ban the same host or link at the same time: one ban, one event', async () => {
    const browser = await operator(service)
    const link = await create('https://example.com/reported')
    const seen = (await events()).length
    for (const target of ['host:same.example', `link:${link.short_code}`]) {
      const replies = await Promise.all(
        ['1', '2', '3', '4'].map((note) => browser.call(linkAbuseRoutes.addBan, { sent: { target, note } })),
      )
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200, 200],
      )
      const { bans } = await ban('list')
      assert.equal(bans.filter((one: { ban: string }) => one.ban === target).length, 1)
    }
    assert.equal((await events()).length, seen + 1)
    await ban('remove', 'host:same.example')
    await ban('remove', `link:${link.short_code}`)
  })

  test('?qr=1 counts as a scan and is not passed on', async () => {
    const link = await create('https://example.com/scanned')
    const browser = {
      'user-agent': 'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36',
    }
    for (const query of ['?qr=1', '?x=1&qr=1', '?qr=1&y=2', '?qr=12', '?aqr=1', '']) {
      const response = await fetch(`${link.a_url}${query}`, { redirect: 'manual', headers: browser })
      assert.equal(response.headers.get('location'), 'https://example.com/scanned')
    }
    const { body } = await call('stats', { link_id: link.link_id, by: 'referrer' })
    const scans = body.data.items.find(({ value }: { value: string }) => value === 'qr')
    assert.deepEqual([body.data.clicks, scans?.clicks], [6, 3])
  })

  test('anyone can report a link; the operator bans it or dismisses the report', async () => {
    const link = await create('https://sub.fraud.example/')
    const form = await fetch(`${service.url}/report?url=${encodeURIComponent('"><script>')}`)
    const html = await form.text()
    assert.equal(form.status, 200)
    assert.match(html, /<form method="post" action="\/report">/)
    assert.ok(html.includes('class="brand"') && !html.includes('Reason'), 'one language, with the logo')
    const english = await fetch(`${service.url}/report`, { headers: { 'accept-language': 'en-GB,en' } })
    assert.match(await english.text(), /<html lang="en">[^]*<h1>Report a short link<\/h1>/)
    assert.ok(!html.includes('<script>'))
    assert.match(form.headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action 'self'/)
    const report = (fields: Record<string, string>) =>
      fetch(`${service.url}/report`, { method: 'POST', body: new URLSearchParams(fields) })
    const wrong: readonly Record<string, string>[] = [
      {},
      { url: 'https://example.com/' },
      { url: link.a_url, reason: 'nonsense' },
      { url: link.a_url, details: 'x'.repeat(1_001) },
      { url: link.a_url, details: 'a\u0000b' },
    ]
    for (const fields of wrong) assert.equal((await report(fields)).status, 400, JSON.stringify(fields))
    const fields = { url: link.b_url, reason: 'fraud', details: '<b>骗子</b>', contact: 'a@example.com' }
    const sent = await report(fields)
    assert.equal(sent.status, 200)
    assert.match(await sent.text(), /已收到/)
    const stored = await service.installation.db.all('SELECT * FROM link_report')
    assert.ok(stored.length > 0 && !JSON.stringify(stored).includes('127.0.0.1'), 'no address of a visitor')

    const browser = await operator(service)
    const list = async (state?: string) =>
      (await browser.call(linkAbuseRoutes.reports, { sent: state === undefined ? {} : { state } })).body.items
    const waiting = async () => (await browser.call(operatorRoutes.waiting)).body.reports
    assert.equal(await waiting(), 1)
    const [item] = await list()
    assert.deepEqual(
      [item.short_code, item.reason, item.details, item.username, item.is_banned],
      [link.short_code, 'fraud', '<b>骗子</b>', account.username, false],
    )
    const banHost = (shown: string) =>
      browser.call(linkAbuseRoutes.decideReport, {
        parts: { id: item.id },
        sent: { decision: 'ban_host', target_url: shown, note: '确认诈骗' },
      })
    // Its owner leads the link elsewhere while the operator reads the report.
    const leadTo = (target: string) => call('update', { link_id: link.link_id, target_url: target })
    await leadTo('https://innocent.example/')
    const changed = await banHost(item.target_url)
    assert.deepEqual([changed.status, changed.body.error?.code], [409, 'conflict'])
    assert.deepEqual((await browser.call(linkAbuseRoutes.bans)).body.items, [])
    assert.equal(await waiting(), 1)
    await leadTo(item.target_url)
    const decided = await banHost(item.target_url)
    assert.equal(decided.status, 200)
    await isGone(link)
    assert.deepEqual(await list(), [])
    assert.equal(await waiting(), 0)
    assert.equal((await list('banned'))[0].decided_by, browser.username)
    const again = await browser.call(linkAbuseRoutes.decideReport, {
      parts: { id: item.id },
      sent: { decision: 'dismiss', note: 'x' },
    })
    assert.equal(again.status, 409)

    const [hostBan] = (await browser.call(linkAbuseRoutes.bans)).body.items
    assert.deepEqual([hostBan.kind, hostBan.value], ['host', 'sub.fraud.example'])
    const unban = { parts: { id: hostBan.id }, sent: { note: '误封' } }
    assert.equal((await browser.call(linkAbuseRoutes.removeBan, unban)).status, 200)
    await works(link)
    const audits = await service.installation.db.all<{ action: string }>(
      `SELECT action FROM audit WHERE actor = ? ORDER BY id`,
      [browser.username],
    )
    const actions = audits.map(({ action }) => action)
    for (const action of ['ban.add', 'report.decide', 'ban.remove']) assert.ok(actions.includes(action))
    const holder = await signedIn(service, account)
    assert.equal((await holder.call(linkAbuseRoutes.bans)).status, 403)

    // Two attempts were counted above: the unknown address and the good report.
    const statuses = await Promise.all(
      Array.from({ length: reportLimits.perNetwork }, async () => (await report(fields)).status),
    )
    assert.equal(statuses.filter((status) => status === 200).length, reportLimits.perNetwork - 2)
    const limited = await report(fields)
    assert.equal(limited.status, 429)
    assert.ok(Number(limited.headers.get('retry-after')) > 0)
  })

  test('reports are limited by IPv6 /48 too', async () => {
    const link = await create('https://example.com/reported')
    const reportFrom = async (address: string) => {
      const body = new URLSearchParams({ url: link.a_url })
      const headers = { 'x-forwarded-for': address }
      return (await fetch(`${service.url}/report`, { method: 'POST', body, headers })).status
    }
    for (let net = 0; net < reportLimits.perSite; net += 1)
      assert.equal(await reportFrom(`2001:db8:94:${net}::1`), 200)
    assert.equal(await reportFrom('2001:db8:94:ffff::1'), 429)
    assert.equal(await reportFrom('2001:db8:95::1'), 200)
  })
})
