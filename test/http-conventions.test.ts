// Rules for all endpoints: parameter sources, authentication, limits and errors.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../server/audit/audit.ts'
import { domainCheck } from '../contract/domain-check.ts'
import { identity } from '../contract/identity.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { generateApiKey } from '../server/accounts/key.ts'
import { changeAccount, clearKey, requireAccount, resetKey } from '../server/accounts/accounts.ts'
import { post, startService, type TestAccount, type TestService } from './support/service.ts'
import { onEachEngine } from './support/engines.ts'

const endpoints = [shortlink, sms, identity, domainCheck]

onEachEngine('credentials', (engine) => {
  let service: TestService
  let holder: TestAccount
  before(async () => {
    service = await startService(engine)
    holder = await service.account({ sms: 40 })
  })
  after(() => service[Symbol.asyncDispose]())

  it('returns the balance of the requested type', async () => {
    const url = `${service.url}${sms.path}`
    const request = { username: holder.username, api_key: holder.key }
    const { status, body } = await post(url, { ...request, action: 'get_credits' })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      code: 0,
      message: 'success',
      data: { api_type: 'sms', api_type_name: '短信', total: 40, used: 0, remaining: 40, percentage_used: 0 },
    })
    const other = await post(url, { ...request, action: 'check_credits', api_type: 'short_link' })
    assert.equal(other.body.data.api_type, 'short_link')
    assert.equal(other.body.data.percentage_used, 0)
    const unknown = await post(url, { ...request, action: 'get_credits', api_type: 'gold' })
    assert.equal(unknown.status, 400)
    assert.equal(unknown.body.code, 1002)
  })

  it('rounds the percentage to two decimals', async () => {
    const third = await service.account({ sms: 3 })
    await service.app.services.credits.charge({
      accountId: third.id,
      apiType: 'sms',
      action: 'test',
      cost: 1,
      requestId: 'r',
    })
    const { body } = await post(`${service.url}${sms.path}`, {
      username: third.username,
      api_key: third.key,
      action: 'get_credits',
    })
    assert.equal(body.data.percentage_used, 33.33)
    assert.equal(body.data.remaining, 2)
  })

  it('returns the same response for every kind of wrong credentials', async () => {
    const cleared = await service.account()
    await clearKey(service.installation.db, systemActor, cleared.id)
    const other = await service.account()
    const wrong = [
      { username: 'nobody', api_key: generateApiKey('another installation') },
      { username: holder.username, api_key: generateApiKey('another installation') },
      { username: holder.username, api_key: 'not even a key' },
      { username: holder.username, api_key: other.key },
      { username: cleared.username, api_key: cleared.key },
    ]
    for (const endpoint of endpoints) {
      const responses = await Promise.all(
        wrong
          .filter((credentials) => endpoint !== identity || credentials.api_key !== other.key)
          .map((credentials) =>
            post(`${service.url}${endpoint.path}`, { ...credentials, action: 'generate' }),
          ),
      )
      for (const { status, body, headers } of responses) {
        assert.equal(status, 401, endpoint.name)
        assert.deepEqual(body, responses[0]?.body)
        assert.equal(headers.get('www-authenticate'), 'ApiKey realm="tollgate"')
        if (endpoint === shortlink) assert.equal(body.success, false)
        else assert.equal(body.code, 1003)
      }
    }
  })

  it('rejects the old key immediately after a reset or a clear, in other processes as well', async () => {
    await using second = await startService(engine, {}, service.storage)
    const account = await service.account({ sms: 1 })
    const send = (url: string, key: string) =>
      post(`${url}${sms.path}`, { username: account.username, api_key: key, action: 'get_credits' })
    assert.equal((await send(second.url, account.key)).status, 200)
    const newKey = await resetKey(service.installation.db, systemActor, account.id)
    assert.equal((await send(second.url, account.key)).status, 401)
    assert.equal((await send(service.url, account.key)).status, 401)
    assert.equal((await send(second.url, newKey)).status, 200)
    await clearKey(second.installation.db, systemActor, account.id)
    assert.equal((await send(service.url, newKey)).status, 401)
  })

  it('lets an expired account read and rejects every call of a suspended one', async () => {
    const account = await service.account({ sms: 1 })
    const { db } = service.installation
    const send = () =>
      post(`${service.url}${sms.path}`, {
        username: account.username,
        api_key: account.key,
        action: 'get_credits',
      })
    await changeAccount(db, systemActor, await requireAccount(db, account.username), {
      expires: '2020-01-01',
    })
    assert.equal((await send()).status, 200)
    await changeAccount(db, systemActor, await requireAccount(db, account.username), { suspended: true })
    const rejected = await send()
    assert.equal(rejected.status, 403)
    assert.equal(rejected.body.code, 1004)
  })
})

describe('parameters', () => {
  let service: TestService
  let holder: TestAccount
  let url: string
  before(async () => {
    service = await startService('sqlite')
    holder = await service.account({ sms: 5 })
    url = `${service.url}${sms.path}`
  })
  after(() => service[Symbol.asyncDispose]())

  const assertSuccess = async (response: Promise<Response> | Response) => {
    const body = (await (await response).json()) as { code: number }
    assert.equal(body.code, 0, JSON.stringify(body))
  }

  it('are read from header, JSON, form and query, each separately', async () => {
    const { username, key } = holder
    const query = (fields: Record<string, string>) => `${url}?${new URLSearchParams(fields).toString()}`
    await assertSuccess(fetch(query({ username, api_key: key, action: 'get_credits' })))
    await assertSuccess(fetch(query({ action: 'get_credits' }), { headers: { api_key: key, username } }))
    await assertSuccess(fetch(query({ action: 'get_credits' }), { headers: { 'api-key': key, username } }))
    await assertSuccess(
      fetch(query({ action: 'get_credits' }), {
        method: 'POST',
        headers: { api_key: key, 'content-type': 'application/json' },
        body: JSON.stringify({ username }),
      }),
    )
    await assertSuccess(
      fetch(url, {
        method: 'POST',
        body: new URLSearchParams({ username, api_key: key, action: 'get_credits' }),
      }),
    )
    const form = new FormData()
    for (const [name, value] of Object.entries({ username, api_key: key, action: 'check_credits' }))
      form.set(name, value)
    await assertSuccess(fetch(url, { method: 'POST', body: form }))
    // curl -d '{…}' sends JSON with the content type of a form.
    await assertSuccess(
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: JSON.stringify({ username, api_key: key, action: 'get_credits' }),
      }),
    )
  })

  it('are read from the first source that has a non-blank value', async () => {
    const { username, key } = holder
    await assertSuccess(
      fetch(`${url}?action=get_credits&username=nobody`, {
        method: 'POST',
        headers: { username, api_key: ' ', 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'somebody', api_key: key, action: '' }),
      }),
    )
  })

  it('are all named when missing', async () => {
    const empty = await post(url, {})
    assert.equal(empty.status, 401)
    assert.equal(empty.body.code, 1001)
    for (const name of ['username', 'api_key', 'action']) assert.match(empty.body.message, new RegExp(name))
    const withKey = await post(url, { api_key: holder.key })
    assert.equal(withKey.status, 400)
    assert.equal(withKey.body.code, 1001)
    const link = await post(`${service.url}${shortlink.path}`, {})
    assert.equal(link.status, 400)
    assert.equal(link.body.success, false)
    const person = await post(`${service.url}${identity.path}`, {})
    assert.equal(person.status, 401)
    assert.equal(person.body.code, 1001)
  })

  it('have English messages for Accept-Language: en', async () => {
    const { body } = await post(url, {}, { 'accept-language': 'en-US,en;q=0.9,zh;q=0.8' })
    assert.match(body.message, /is missing/)
    const chinese = await post(url, {}, { 'accept-language': 'zh-CN,en' })
    assert.match(chinese.body.message, /缺失/)
  })

  it('have messages in the language of the caller also on pages', async () => {
    const messageIn = async (language: string) => {
      const headers = { 'accept-language': language }
      const body = 'x'.repeat(100_000)
      const response = await fetch(`${service.url}/report`, { method: 'POST', headers, body })
      return ((await response.json()) as { message: string }).message
    }
    assert.equal(await messageIn('en-US,zh;q=0.5'), 'The body is too large')
    assert.equal(await messageIn('zh-CN'), '请求体过大')
  })

  /** Returns the status line for a caller that reads only after it has written the whole body. */
  async function statusLineAfterBody(head: string, pieces: readonly string[]): Promise<string> {
    const { hostname, port } = new URL(service.url)
    const socket = connect(Number(port), hostname)
    const failed = once(socket, 'error').then(([error]) => Promise.reject(error as Error))
    const write = (text: string) => Promise.race([failed, new Promise((done) => socket.write(text, done))])
    await write(`POST ${sms.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${head}\r\n\r\n`)
    for (const piece of pieces) {
      await write(piece)
      await sleep(1)
    }
    const [data] = (await Promise.race([failed, once(socket, 'data')])) as [Buffer]
    socket.destroy()
    return data.toString().split('\r\n')[0]!
  }

  it('reject malformed requests in the response shape of the endpoint', async () => {
    const malformed: readonly [string, string | Uint8Array, number][] = [
      ['application/json', '{"username": ', 400],
      ['application/json', '[1]', 400],
      ['application/json', `${'{"a":'.repeat(50)}1${'}'.repeat(50)}`, 400],
      ['application/json', '{"__proto__":{"admin":true}}', 400],
      ['application/json', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
      ['application/x-www-form-urlencoded', 'a[__proto__]=1', 400],
      [
        'application/x-www-form-urlencoded',
        Array.from({ length: 10_000 }, (_, i) => `p${i}=1`).join('&'),
        400,
      ],
      ['application/x-www-form-urlencoded; charset=latin1', 'a=1', 400],
      ['text/xml', '<a/>', 400],
      ['application/json', 'x'.repeat(1_100_000), 413],
    ]
    for (const [type, body, status] of malformed) {
      const response = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body })
      const errorBody = (await response.json()) as Record<string, unknown>
      assert.equal(response.status, status, `${type} ${String(body).slice(0, 40)}`)
      assert.equal(errorBody['code'], 1002)
      assert.ok(response.headers.get('x-request-id'))
      const link = await fetch(`${service.url}${shortlink.path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      assert.ok([400, 413].includes(link.status))
      assert.equal(((await link.json()) as Record<string, unknown>)['success'], false)
    }
    const pieces = Array.from({ length: 50 }, () => ' '.repeat(100_000))
    const chunks = [...pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`), '0\r\n\r\n']
    for (const statusLine of [
      await statusLineAfterBody('Content-Length: 5000000', pieces),
      await statusLineAfterBody('Transfer-Encoding: chunked', chunks),
    ]) {
      assert.equal(statusLine, 'HTTP/1.1 413 Payload Too Large')
    }
    const compressed = await fetch(url, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: '{}',
    })
    assert.equal(compressed.status, 400)
    assert.equal(({} as Record<string, unknown>)['admin'], undefined)
  })

  it('respond to other methods with 405 and Allow', async () => {
    for (const endpoint of endpoints) {
      for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
        const response = await fetch(`${service.url}${endpoint.path}`, { method })
        assert.equal(response.status, 405, `${method} ${endpoint.path}`)
        assert.equal(response.headers.get('allow'), endpoint.methods.join(', '))
        const body = (await response.json()) as Record<string, unknown>
        if (endpoint === shortlink) assert.deepEqual(Object.keys(body), ['success', 'message'])
        else assert.equal(body['code'], 1002)
      }
    }
    assert.equal((await fetch(`${service.url}${shortlink.path}`)).status, 405)
    assert.equal((await fetch(url, { method: 'HEAD' })).status, 405)
  })

  it('never return a stack trace and log neither keys nor query strings', async () => {
    await fetch(`${url}?action=get_credits&username=${holder.username}&api_key=${holder.key}`)
    await fetch(`${service.url}/no/such/${holder.key}?api_key=${holder.key}`)
    const logged = service.logged.join('')
    assert.ok(logged.includes('"endpoint":"sms"'))
    assert.equal(logged.includes(holder.key), false)
  })
})

describe('limits', () => {
  it('limit an account that calls too often and return Retry-After', async () => {
    await using service = await startService('sqlite', { RATE_LIMIT: '1,5' })
    const holder = await service.account()
    const other = await service.account()
    const send = (account: TestAccount) =>
      post(`${service.url}${sms.path}`, {
        username: account.username,
        api_key: account.key,
        action: 'get_credits',
      })
    const responses = await Promise.all(Array.from({ length: 40 }, () => send(holder)))
    const limited = responses.filter((response) => response.status === 429)
    // The burst of five, plus one for each second on a slow machine.
    assert.ok(limited.length >= 10 && limited.length <= 35, String(limited.length))
    assert.equal(limited[0]?.body.code, 429)
    assert.match(limited[0]?.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    assert.match(responses[0]?.headers.get('ratelimit-policy') ?? '', /^"account";q=5;w=5$/)
    assert.match(responses[0]?.headers.get('ratelimit') ?? '', /^"account";r=\d+;t=\d+$/)
    assert.equal((await send(other)).status, 200)
  })

  it('respond to many wrong keys with 429 and accept a valid key from the same address', async () => {
    await using service = await startService('sqlite')
    const holder = await service.account()
    const url = `${service.url}${sms.path}`
    const flood = await Promise.all(
      Array.from({ length: 80 }, () => post(url, { username: 'x', api_key: 'y', action: 'get_credits' })),
    )
    assert.equal(flood.filter((response) => response.status === 401).length, 60)
    assert.equal(flood.filter((response) => response.status === 429).length, 20)
    const right = await post(url, { username: holder.username, api_key: holder.key, action: 'get_credits' })
    assert.equal(right.status, 200)
    // Missing credentials do not count as wrong credentials.
    assert.equal((await post(url, {})).status, 401)
  })

  it('count the caller behind a trusted proxy and ignore forged headers', async () => {
    const flood = async (
      environment: Record<string, string>,
      headers: (index: number) => Record<string, string>,
    ) => {
      await using service = await startService('sqlite', environment)
      const responses = await Promise.all(
        Array.from({ length: 70 }, (_, index) =>
          post(`${service.url}${sms.path}`, { username: 'x', api_key: 'y', action: 'z' }, headers(index)),
        ),
      )
      return responses.filter((response) => response.status === 429).length
    }
    const forged = (index: number) => ({ 'x-forwarded-for': `203.0.113.${index}` })
    assert.equal(await flood({}, forged), 10)
    assert.equal(await flood({ TRUSTED_PROXIES: '127.0.0.0/8,::1' }, forged), 0)
    // The rightmost address that is not a trusted proxy counts, not the addresses before it.
    const hidden = (index: number) => ({ 'x-forwarded-for': `203.0.113.${index}, 198.51.100.7, 127.0.0.2` })
    assert.equal(await flood({ TRUSTED_PROXIES: '127.0.0.0/8,::1' }, hidden), 10)
  })

  it('respond with 200 for errors when configured, except for 429', async () => {
    await using service = await startService('sqlite', { ERROR_HTTP_STATUS: 'ok', RATE_LIMIT: '1,1' })
    const holder = await service.account()
    const url = `${service.url}${sms.path}`
    const missing = await post(url, {})
    assert.deepEqual([missing.status, missing.body.code], [200, 1001])
    assert.equal((await post(`${service.url}${shortlink.path}`, {})).status, 400)
    const request = { username: holder.username, api_key: holder.key, action: 'get_credits' }
    const [, second] = [await post(url, request), await post(url, request)]
    assert.equal(second.status, 429)
  })
})
