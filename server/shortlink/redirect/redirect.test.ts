// Redirects over HTTP, on both engines.
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { systemActor } from '../../audit/audit.ts'
import { onEachEngine, untilSeen } from '../../../test/support/engines.ts'
import {
  freePort,
  post,
  startService,
  type TestAccount,
  type TestService,
} from '../../../test/support/service.ts'
import { changeAccount, requireAccount } from '../../accounts/accounts.ts'
import { addPoolDomain, removePoolDomain } from '../domains/domains.ts'

const person =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

interface Visited {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

/** Unlike fetch, it sets the Host header and follows nothing. */
function visit(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Visited> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      url,
      { method, headers: { 'user-agent': person, ...headers }, agent: false },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
      },
    )
    sent.on('error', reject).end()
  })
}

onEachEngine('redirects', (engine) => {
  let service: TestService
  let account: TestAccount

  before(async () => {
    service = await startService(engine)
    account = await service.account({ short_link: 1_000 })
  })
  after(() => service[Symbol.asyncDispose]())

  const call = async (body: object, who: TestAccount = account) => {
    const reply = await post(`${service.url}/api/shortlink_api.php`, {
      username: who.username,
      api_key: who.key,
      ...body,
    })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.data
  }
  const generate = (more: object = {}, who?: TestAccount) =>
    call({ action: 'generate', target_url: 'https://example.com/b?x=1', title: 't', ...more }, who)

  test('direct responds with a 302 that is not cached', async () => {
    const { a_url: a, b_url: b } = await generate({ redirect_url_a: 'https://例子.测试/甲' })
    const onA = await visit(a)
    assert.equal(onA.status, 302)
    assert.equal(onA.headers['location'], 'https://xn--fsqu00a.xn--0zwm56d/%E7%94%B2')
    assert.equal(onA.headers['cache-control'], 'no-store')
    assert.match(String(onA.headers['x-request-id']), /^[0-9a-f-]{36}$/)
    assert.equal(onA.text, '')
    assert.equal((await visit(b)).headers['location'], 'https://example.com/b?x=1')
    assert.equal((await visit(`${a}?utm=1`)).headers['location'], 'https://xn--fsqu00a.xn--0zwm56d/%E7%94%B2')
  })

  test('permanent responds with 301', async () => {
    const { a_url: a } = await generate({ redirect_type: 'permanent' })
    const answer = await visit(a)
    assert.equal(answer.status, 301)
    assert.equal(answer.headers['location'], 'https://example.com/b?x=1')
    assert.notEqual(answer.headers['cache-control'], 'no-store')
  })

  test('page shows the escaped title and target in the language of the visitor, without script', async () => {
    const { a_url: a } = await generate({
      redirect_type: 'page',
      title: '秋季 <b>会场</b>',
      target_url: `https://example.com/?q='"><script>alert(1)</script>&x=1`,
    })
    const { status, headers, text } = await visit(a)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.match(text, /<strong>example\.<wbr>com<\/strong>/)
    assert.match(text, /<html lang="zh-CN">[^]*秋季 &lt;b&gt;会场&lt;\/b&gt;[^]*继续访问/)
    const english = (await visit(a, { 'accept-language': 'en-US,zh;q=0.8' })).text
    assert.match(english, /<html lang="en">[^]*秋季[^]*>Continue</)
    assert.doesNotMatch(english, /继续访问/)
    assert.doesNotMatch(text, /Continue/)
    assert.doesNotMatch(text, /<script|q='"/)
    assert.match(text, /href="https:\/\/example\.com\/\?q=&#39;|href="https:\/\/example\.com\/\?q=%27/)
  })

  test('returns a 404 page for unknown codes, and leaves other paths alone', async () => {
    for (const path of [
      '/zzzzzzz',
      '/b/zzzzzzz',
      '/0OlI1ab',
      '/short',
      '/b/x',
      '/much-too-long-for-a-code',
    ]) {
      const { status, headers, text } = await visit(service.url + path)
      assert.equal(status, 404, path)
      assert.equal(headers['content-type'], 'text/html; charset=utf-8', path)
      assert.match(String(headers['content-security-policy']), /default-src 'none'/)
      assert.match(text, /<html lang="zh-CN">[^]*链接不存在/)
      const english = (await visit(service.url + path, { 'accept-language': 'en' })).text
      assert.match(english, /<html lang="en">[^]*No such link/)
    }
    assert.equal((await visit(`${service.url}/metrics`)).status, 200)
    assert.match((await visit(`${service.url}/livez`)).text, /ok/)
    assert.equal((await visit(`${service.url}/`)).status, 200)
    assert.equal(
      (await visit(`${service.url}/api/unknown.php`)).headers['content-type'],
      'application/json; charset=utf-8',
    )
    const browser = { accept: 'text/html,application/xhtml+xml', 'accept-language': 'en' }
    const missing = await visit(`${service.url}/some/other/path`, browser)
    assert.deepEqual([missing.status, missing.headers['cache-control']], [404, 'no-store'])
    assert.match(missing.text, /<html lang="en">[^]*Page not found/)
    const posted = await visit(`${service.url}/zzzzzzz`, {}, 'POST')
    assert.deepEqual([posted.status, posted.headers['allow']], [405, 'GET, HEAD'])
  })

  test('the next request uses an update or a refresh; old addresses return 410', async () => {
    const made = await generate()
    assert.equal((await visit(made.a_url)).status, 302)
    await call({ action: 'update', link_id: made.link_id, target_url: 'https://example.com/new' })
    assert.equal((await visit(made.a_url)).headers['location'], 'https://example.com/new')
    const renewed = await call({ action: 'execute_update', link_id: made.link_id })
    for (const url of [made.a_url, made.b_url]) {
      const gone = await visit(url)
      assert.equal(gone.status, 410)
      assert.match(gone.text, /链接已失效/)
      assert.equal(gone.headers['cache-control'], 'no-store')
    }
    for (const url of [renewed.new_a_url, renewed.new_b_url])
      assert.equal((await visit(url)).headers['location'], 'https://example.com/new')
  })

  test('returns 410 for links of suspended accounts, but redirects for expired ones', async () => {
    const { db } = service.installation
    const other = await service.account({ short_link: 5 })
    const { a_url: a } = await generate({}, other)
    const change = async (input: Parameters<typeof changeAccount>[3]) => {
      await changeAccount(db, systemActor, await requireAccount(db, other.username), input)
      await untilSeen(engine)
    }
    await change({ expires: '2020-01-01' })
    assert.equal((await visit(a)).status, 302)
    await change({ suspended: true })
    assert.equal((await visit(a)).status, 410)
    await change({ suspended: false })
    assert.equal((await visit(a)).status, 302)
  })

  test('counts people, bots, previews and prefetches separately, and no HEAD', async () => {
    const made = await generate()
    const { a_url: a, b_url: b, link_id: id } = made
    await visit(a)
    await visit(b, { referer: 'https://news.example.com/secret/path' })
    await visit(a, {
      'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    })
    await visit(a, { 'user-agent': 'TelegramBot (like TwitterBot)' })
    await visit(a, { 'sec-purpose': 'prefetch;prerender' })
    const head = await visit(a, {}, 'HEAD')
    assert.deepEqual([head.status, head.headers['location']], [302, 'https://example.com/b?x=1'])
    const record = await call({ action: 'get', link_id: id })
    assert.deepEqual([record.clicks, record.bot_clicks, record.preview_clicks], [2, 1, 2])

    const rows = await service.installation.db.all<Record<string, unknown>>(
      `SELECT kind, device, browser, referrer, clicks FROM link_click WHERE link_id = ? AND kind = 'person' ORDER BY referrer`,
      [id],
    )
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { kind: 'person', device: 'desktop', browser: 'chrome', referrer: '', clicks: 1 },
        { kind: 'person', device: 'desktop', browser: 'chrome', referrer: 'news.example.com', clicks: 1 },
      ],
    )
    const visitors = await service.installation.db.all('SELECT visitor FROM link_visitor WHERE link_id = ?', [
      id,
    ])
    assert.equal(visitors.length, 1)
    // The retired and the unknown are not visited.
    const renewed = await call({ action: 'execute_update', link_id: id })
    await visit(a)
    await visit(renewed.new_a_url)
    assert.equal((await call({ action: 'get', link_id: id })).clicks, 3)
  })

  test('assigns pool domains in rotation, and serves every code on every domain of its pool', async () => {
    const { db } = service.installation
    const here = { host: new URL(service.url).host }
    for (const host of ['a1.test', 'a2.test']) await addPoolDomain(db, systemActor, 'a', host)
    await addPoolDomain(db, systemActor, 'b', 'B1.Test')
    await untilSeen(engine)
    const made = [await generate({ redirect_url_a: 'https://example.com/a' }), await generate()]
    assert.deepEqual(made.map(({ a_url: url }) => new URL(url).host).toSorted(), ['a1.test', 'a2.test'])
    assert.ok(made.every(({ b_url: url, short_code: code }) => url === `http://b1.test/${code}`))

    const [{ short_code: code, link_id: id, a_url: firstUrl }] = made as [Record<string, string>]
    const locationOn = async (host: string, path = `/${code}`) =>
      (await visit(service.url + path, { host })).headers['location']
    const a = 'https://example.com/a'
    const b = 'https://example.com/b?x=1'
    for (const host of ['a1.test', 'A2.test:8080', 'a1.test.', here.host, 'unknown.test'])
      assert.equal(await locationOn(host), a, host)
    for (const host of ['b1.test', 'B1.TEST:443', 'b1.test.']) assert.equal(await locationOn(host), b, host)
    for (const host of ['a1.test', 'b1.test', here.host])
      assert.equal(await locationOn(host, `/b/${code}`), b, host)

    const renewed = await call({ action: 'execute_update', link_id: id })
    assert.notEqual(new URL(renewed.new_a_url).host, new URL(String(firstUrl)).host)

    await removePoolDomain(db, systemActor, 'a', 'a1.test')
    await untilSeen(engine)
    const later = await Promise.all(Array.from({ length: 4 }, () => generate()))
    assert.ok(later.every(({ a_url: url }) => new URL(url).host === 'a2.test'))
    const newCode = new URL(renewed.new_a_url).pathname
    assert.equal(await locationOn('a1.test', newCode), a)

    const refused = await post(`${service.url}/api/shortlink_api.php`, {
      username: account.username,
      api_key: account.key,
      action: 'generate',
      target_url: 'https://a1.test/x',
      title: 't',
    })
    assert.equal(refused.status, 400)
    assert.match(refused.body.message, /本平台的短链接域名/)
    await removePoolDomain(db, systemActor, 'a', 'a2.test')
    await removePoolDomain(db, systemActor, 'b', 'b1.test')
  })

  test('counts visits in the metrics', async () => {
    const { text } = await visit(`${service.url}/metrics`)
    assert.match(text, /tollgate_redirects_total\{outcome="redirect"\} [1-9]/)
    assert.match(text, /tollgate_clicks_lost_total 0/)
    assert.match(text, /tollgate_link_domains_blocked\{pool="a"\} 0/)
  })
})

onEachEngine('redirects with a grace period', (engine) => {
  test('old addresses work for LINK_REFRESH_GRACE_HOURS', async () => {
    const port = await freePort()
    await using service = await startService(engine, {
      PORT: String(port),
      LINK_REFRESH_GRACE_HOURS: '2',
      PUBLIC_URL: 'https://go.example.com/',
    })
    const account = await service.account({ short_link: 5 })
    const call = async (body: object) =>
      (
        await post(`${listening()}/api/shortlink_api.php`, {
          username: account.username,
          api_key: account.key,
          ...body,
        })
      ).body.data
    const listening = () => `http://127.0.0.1:${port}`
    const made = await call({ action: 'generate', target_url: 'https://example.com/', title: 't' })
    assert.equal(made.a_url, `https://go.example.com/${made.short_code}`)
    await call({ action: 'execute_update', link_id: made.link_id })
    assert.equal((await visit(`${listening()}/${made.short_code}`)).status, 302)
    await service.installation.db.write((tx) =>
      tx.run('UPDATE link_code SET live_until = ? WHERE link_id = ? AND retired_at IS NOT NULL', [
        Date.now() - 1,
        made.link_id,
      ]),
    )
    await untilSeen(engine)
    assert.equal((await visit(`${listening()}/${made.short_code}`)).status, 410)
  })
})
