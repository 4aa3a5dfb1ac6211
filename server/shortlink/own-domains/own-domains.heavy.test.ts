// Own domains against a DNS server on loopback: claims, proof, look-ups again, redirects and /tls-ask.
import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { after, before, test } from 'node:test'
import { type DnsServer, startDnsServer } from '../../../test/support/dns-server.ts'
import { onEachEngine, untilSeen } from '../../../test/support/engines.ts'
import {
  admin,
  freePort,
  post,
  startService,
  type TestAccount,
  type TestService,
} from '../../../test/support/service.ts'
import { readHost } from './own-domains.ts'
import { findVerifiedOwner } from './store.ts'

test('a host of its own is a name that can have a TXT record', () => {
  assert.equal(readHost(' S.Example.COM. '), 's.example.com')
  assert.equal(readHost('短链.示例'), 'xn--s7y033d.xn--fsq092h')
  for (const wrong of [
    '',
    'localhost',
    '127.0.0.1',
    '::1',
    's.example.com:8080',
    'https://s.example.com',
    's.example.com/x',
    '*.example.com',
    '_x.example.com',
    '-x.example.com',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(123)}example.com`,
  ]) {
    assert.equal(readHost(wrong), undefined, wrong)
  }
})

onEachEngine('own domains', (engine) => {
  let dns: DnsServer
  let port: number
  let service: TestService
  let account: TestAccount
  let other: TestAccount

  before(async () => {
    dns = await startDnsServer()
    port = await freePort()
    service = await startService(engine, {
      PORT: String(port),
      DNS_SERVERS: dns.address,
      PUBLIC_URL: 'https://go.example.com',
    })
    account = await service.account({ short_link: 100 })
    other = await service.account({ short_link: 100 })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await dns[Symbol.asyncDispose]()
  })

  const environment = () => ({
    ...service.storage.environment,
    DNS_SERVERS: dns.address,
    PUBLIC_URL: 'https://go.example.com',
  })
  const address = () => `http://127.0.0.1:${port}`
  const run = async (...words: string[]) => {
    const result = await admin(environment(), 'link-domain', ...words, '--json')
    assert.equal(result.code, 0, result.stderr)
    return JSON.parse(result.stdout)
  }
  const fail = async (pattern: RegExp, ...words: string[]) => {
    const result = await admin(environment(), 'link-domain', ...words, '--json')
    assert.equal(result.code, 1)
    assert.match(result.stderr, pattern)
    assert.equal(result.stderr.trimEnd().split('\n').length, 1)
  }
  const publish = (record: { txt_name: string; txt_value: string }) =>
    dns.records.set(record.txt_name, ['v=spf1 -all', record.txt_value])
  const visit = (path: string, host: string) =>
    new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
      httpRequest(`${address()}${path}`, { headers: { host } }, (response) => {
        response.resume()
        resolve({ status: response.statusCode, location: response.headers.location })
      })
        .on('error', reject)
        .end()
    })
  const ask = async (domain: string, headers: Record<string, string> = {}) =>
    (await fetch(`${address()}/tls-ask?domain=${encodeURIComponent(domain)}`, { headers })).status
  const generate = async (who: TestAccount) =>
    (
      await post(`${address()}/api/shortlink_api.php`, {
        username: who.username,
        api_key: who.key,
        action: 'generate',
        title: 't',
        target_url: 'https://example.org/x',
      })
    ).body.data.short_code as string

  test('only the account whose record is published gets the host, whoever claimed it first', async () => {
    const claim = await run('add', other.username, 'Brand.Example.net')
    assert.deepEqual(Object.keys(claim), ['host', 'txt_name', 'txt_value'])
    assert.equal(claim.host, 'brand.example.net')
    assert.equal(claim.txt_name, '_tollgate.brand.example.net')
    assert.match(claim.txt_value, /^tollgate-verify=[\da-f]{40}$/)
    await fail(/_tollgate\.brand\.example\.net/, 'verify', 'brand.example.net')

    const record = await run('add', account.username, 'brand.example.net')
    assert.notEqual(record.txt_value, claim.txt_value)
    assert.deepEqual(await run('add', account.username, 'brand.example.net'), record)
    publish(record)
    const verified = await run('verify', 'brand.example.net')
    assert.equal(verified.username, account.username)
    assert.equal(verified.state, 'verified')
    await fail(/已由其他账户验证/, 'add', (await service.account()).username, 'brand.example.net')
    await fail(/TXT/, 'verify', 'brand.example.net', '--account', other.username)
    dns.records.set(claim.txt_name, [claim.txt_value])
    await fail(/已由其他账户验证/, 'verify', 'brand.example.net', '--account', other.username)
    publish(record)

    const { domains } = await run('list')
    const states = domains.map((one: { username: string; state: string }) => `${one.username} ${one.state}`)
    assert.deepEqual(
      new Set(states),
      new Set([`${account.username} verified`, `${other.username} unverified`]),
    )
    const { db } = service.installation
    assert.equal(await findVerifiedOwner(db, 'brand.example.net'), account.id)
  })

  test('an own domain serves the links of its account only, and both addresses', async () => {
    const mine = await generate(account)
    const foreign = await generate(other)
    const found = { status: 302, location: 'https://example.org/x' }
    for (const host of ['brand.example.net', 'BRAND.example.net:8443', 'brand.example.net.']) {
      assert.deepEqual(await visit(`/${mine}`, host), found)
      assert.deepEqual(await visit(`/b/${mine}`, host), found)
      assert.equal((await visit(`/${foreign}`, host)).status, 404)
      assert.equal((await visit(`/b/${foreign}`, host)).status, 404)
    }
    assert.deepEqual(await visit(`/${mine}`, 'go.example.com'), found)
    assert.deepEqual(await visit(`/${foreign}`, 'go.example.com'), found)
  })

  test('/tls-ask knows our hosts and answers only this machine', async () => {
    await admin(environment(), 'domain', 'add', 'a', 'pool.example.net')
    await untilSeen(engine)
    for (const host of ['go.example.com', 'POOL.example.net', 'brand.example.net', 'brand.example.net.'])
      assert.equal(await ask(host), 200, host)
    for (const host of ['', 'example.com', 'x.brand.example.net', 'a b', 'x'.repeat(2_000)])
      assert.equal(await ask(host), 404, host)
    assert.equal(await ask('go.example.com', { 'x-forwarded-for': '127.0.0.1' }), 404)
    assert.equal((await visit('/tls-ask?domain=go.example.com', 'go.example.com')).status, 404)
    await fail(/平台自己的域名/, 'add', account.username, 'pool.example.net')
    await fail(/平台自己的域名/, 'add', account.username, 'GO.example.com')
  })

  test('a record that is missing for three days ends the verification, a server that fails does not', async () => {
    const { db } = service.installation
    const rules = service.app.shortlink.ownDomains
    const { signal } = new AbortController()
    const set = (change: string) =>
      db.write((tx) => tx.run(`UPDATE link_own_domain SET ${change} WHERE verified_at IS NOT NULL`))
    const owner = async () =>
      (await run('list')).domains.find((one: { state: string }) => one.state === 'verified')?.username
    dns.failWith = 2
    await set('checked_at = 0, missing_since = 0')
    await rules.recheck(signal)
    assert.equal(await owner(), account.username)
    dns.failWith = undefined
    dns.records.clear()
    await set('checked_at = 0, missing_since = NULL')
    await rules.recheck(signal)
    assert.equal(await owner(), account.username)
    await set('checked_at = 0, missing_since = 1')
    await rules.recheck(signal)
    assert.equal(await owner(), undefined)
    await untilSeen(engine)
    assert.equal(await ask('brand.example.net'), 404)
    // The claim and its token are kept for a record that comes back.
    await db.write((tx) => tx.run('UPDATE link_own_domain SET added_at = 0'))
    await rules.deleteOld(signal)
    assert.equal(
      (await run('list', '--account', account.username)).domains.find(
        ({ host }: { host: string }) => host === 'brand.example.net',
      )?.state,
      'unverified',
    )

    // Now the other account can prove that the host is its own.
    const claim = await run('add', other.username, 'brand.example.net')
    publish(claim)
    assert.equal((await run('verify', 'brand.example.net')).username, other.username)
    await run('remove', 'brand.example.net')
    await fail(/不存在/, 'remove', 'brand.example.net')
    assert.deepEqual((await run('list')).domains, [])
  })

  test('a refresh stays on a verified domain and leaves one that is no longer verified', async () => {
    const call = async (action: string, more: Record<string, unknown>) => {
      const body = { username: account.username, api_key: account.key, action, ...more }
      return (await post(`${address()}/api/shortlink_api.php`, body)).body.data
    }
    const host = 'refresh.example.net'
    publish(await run('add', account.username, host))
    await run('verify', host)
    const target = { title: 't', target_url: 'https://example.org/x' }
    const { link_id } = await call('generate', { ...target, domain: host })
    const kept = await call('execute_update', { link_id })
    assert.equal(kept.new_a_url, `https://${host}/${kept.short_code}`)
    assert.equal((await call('get', { link_id })).domain, host)

    await run('remove', host)
    const moved = await call('execute_update', { link_id })
    assert.notEqual(new URL(moved.new_a_url).host, host)
    const record = await call('get', { link_id })
    assert.equal(record.a_url, moved.new_a_url)
    assert.equal(record.domain, '')

    publish(await run('add', other.username, host))
    await run('verify', host)
    assert.equal((await visit(`/${moved.short_code}`, new URL(moved.new_a_url).host)).status, 302)
    await run('remove', host)
  })

  test('of two accounts that verify at the same moment one gets the host', async () => {
    const first = await run('add', account.username, 'race.example.net')
    const second = await run('add', other.username, 'race.example.net')
    dns.records.set(first.txt_name, [first.txt_value, second.txt_value])
    const rules = service.app.shortlink.ownDomains
    const actor = { kind: 'system' } as const
    const results = await Promise.allSettled(
      [account.id, other.id].map((id) => rules.verify(actor, 'race.example.net', id)),
    )
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  })

  test('an account has at most 20 domains, and claims that stay unverified are deleted', async () => {
    const many = await service.account()
    for (let index = 0; index < 20; index += 1) await run('add', many.username, `d${index}.example.net`)
    await fail(/最多 20/, 'add', many.username, 'd20.example.net')
    await run('add', many.username, 'd3.example.net')
    await service.installation.db.write((tx) =>
      tx.run('UPDATE link_own_domain SET added_at = 0 WHERE account_id = ?', [many.id]),
    )
    await service.app.shortlink.ownDomains.deleteOld(new AbortController().signal)
    assert.deepEqual((await run('list', '--account', many.username)).domains, [])
  })
})
