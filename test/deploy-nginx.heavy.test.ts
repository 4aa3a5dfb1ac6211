// Checks deploy/nginx.conf: its syntax, and its behaviour with TLS where nginx is installed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { domainCheck } from '../contract/domain-check.ts'
import { identity } from '../contract/identity.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { type NginxResponse, nginxSample, useNginx } from './support/nginx.ts'
import { freePort, post, runNode, startService } from './support/service.ts'

test('the sample is well formed and has the required directives', () => {
  const directives = nginxSample.replaceAll(/#.*$/gm, '')
  assert.equal(directives.split('{').length, directives.split('}').length)
  for (const line of directives.split('\n').map((text) => text.trim())) assert.match(line, /^$|[;{}]$/, line)
  for (const required of [
    'underscores_in_headers on;',
    'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    'proxy_set_header Host $host;',
    'proxy_next_upstream off;',
  ]) {
    assert.ok(directives.includes(required), required)
  }
  assert.doesNotMatch(/log_format[^;]*/.exec(directives)![0], /\$request_uri|\$request"|\$args/)
})

async function startBackend(handle: RequestListener): Promise<AsyncDisposable & { readonly host: string }> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('nginx with the sample configuration', () => {
  const nginxKit = useNginx()
  const { send } = nginxKit
  const hostOf = (url: string) => new URL(url).host

  test('forwards calls, keeps header names with underscores, logs no key, and hides the metrics', async (context) => {
    if (nginxKit.skip(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    await using nginx = await nginxKit.start(hostOf(service.url))
    const { username, key } = await service.account({ sms: 5 })
    const path = `/api/sms_api.php?action=get_credits&username=${username}`
    const response = await send(`${nginx.url}${path}`, { headers: { api_key: key } })
    assert.equal(JSON.parse(response.text).data.remaining, 5, response.text)
    assert.equal((await send(`${nginx.url}${path}&api_key=${key}`)).status, 200)
    for (const hidden of ['/metrics', '/livez', '/readyz', '//metrics', '/%6Detrics', '/x/../metrics']) {
      assert.equal((await send(`${nginx.url}${hidden}`)).status, 404, hidden)
    }
    assert.equal((await send(`${nginx.url}/docs/`)).status, 200)
    const plain = await fetch(`http://127.0.0.1:${nginx.plainPort}/docs/?a=1`, { redirect: 'manual' })
    assert.deepEqual([plain.status, plain.headers.get('location')], [308, 'https://127.0.0.1/docs/?a=1'])
    const accessLog = await readFile(nginx.log, 'utf8')
    assert.match(accessLog, /"GET \/api\/sms_api\.php" 200/)
    assert.ok(!accessLog.includes(key) && !accessLog.includes(username))
  })

  test('forwards the address of the caller and ignores forged headers', async (context) => {
    if (nginxKit.skip(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    await using nginx = await nginxKit.start(hostOf(service.url))
    const guess = async (from: string, claimed: string) => {
      const headers = { username: 'somebody', api_key: 'tg_wrong', 'x-forwarded-for': claimed }
      return (await send(`${nginx.url}/api/sms_api.php?action=get_credits`, { headers, from })).status
    }
    let last = 401
    for (let count = 0; last === 401 && count < 200; count += 1) {
      last = await guess('127.0.0.2', `192.0.2.${count % 250}`)
    }
    assert.equal(last, 429, 'the limit of one address is reached')
    assert.equal(await guess('127.0.0.3', '192.0.2.1'), 401, 'another address is not limited')
  })

  test('returns its own errors in the shape of each endpoint', async (context) => {
    if (nginxKit.skip(context)) return
    await using backend = await startBackend((incoming, response) => {
      if (incoming.url?.includes('silent')) return
      incoming.resume()
      incoming.on('end', () => response.end('{}'))
    })
    await using nginx = await nginxKit.start(
      backend.host,
      (text) =>
        text
          .replace('proxy_read_timeout 60s;', 'proxy_read_timeout 200ms;')
          .replace('location /api/ {', 'location /api/ {\n    limit_req zone=test burst=8 nodelay;') +
        '\nlimit_req_zone $http_x_limit zone=test:1m rate=1r/m;',
    )
    const stopped = await freePort()
    await using unavailable = await nginxKit.start(`127.0.0.1:${stopped}`)
    const large = { method: 'POST', body: Buffer.alloc(17 * 1024 * 1024) }
    for (const { path, shape } of [sms, shortlink, identity, domainCheck]) {
      const limited = { headers: { 'x-limit': path } }
      const results: Record<string, NginxResponse> = {
        413: await send(`${nginx.url}${path}`, large),
        504: await send(`${nginx.url}${path}?silent`),
        502: await send(`${unavailable.url}${path}`),
        400: await send(`${nginx.url}${path}`, { headers: { x: 'a'.repeat(20_000) } }),
      }
      for (let count = 0; count < 10; count += 1) results[429] = await send(`${nginx.url}${path}`, limited)
      const codes: Record<string, number> = { 400: 1002, 413: 1002, 429: 429, 502: 5000, 504: 5000 }
      for (const [status, { status: actual, headers, text }] of Object.entries(results)) {
        const label = `${path} ${status}: ${actual} ${text}`
        assert.equal(String(actual), status, label)
        assert.equal(headers['content-type'], 'application/json; charset=utf-8', label)
        assert.match(String(headers['x-request-id']), /^[0-9a-f]{32}$/, label)
        const { message, ...rest } = JSON.parse(text) as Record<string, unknown>
        assert.match(String(message), /\p{Script=Han}/u, label)
        assert.deepEqual(rest, shape === 'shortlink' ? { success: false } : { code: codes[status] }, label)
      }
      assert.equal(results[429]!.headers['retry-after'], '1')
      const english = await send(`${unavailable.url}${path}`, { headers: { 'accept-language': 'en-GB,en' } })
      assert.match(english.text, /"message":"The service is not available/)
    }
    // What is larger than the service accepts but not larger than nginx accepts is rejected by the service.
    const passed = await send(`${nginx.url}${sms.path}`, {
      method: 'POST',
      body: Buffer.alloc(15 * 1024 * 1024),
    })
    assert.deepEqual([passed.status, passed.text], [200, '{}'])
    const long = await send(`${nginx.url}${sms.path}?x=${'a'.repeat(20_000)}`)
    assert.deepEqual([long.status, JSON.parse(long.text).code], [414, 1002])
    const page = await send(`${unavailable.url}/abcdefg`)
    assert.deepEqual([page.status, page.headers['content-type']], [502, 'text/html; charset=utf-8'])
  })

  test('passes the longest redirect target', async (context) => {
    if (nginxKit.skip(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    await using nginx = await nginxKit.start(hostOf(service.url))
    const { username, key } = await service.account({ short_link: 5 })
    const start = 'https://example.com/'
    const max = shortlink.operations.generate.parameters.target_url.maxLength
    for (const character of ['a', '中']) {
      const target_url = start + character.repeat(max - start.length)
      const created = await post(`${service.url}${shortlink.path}`, {
        ...{ username, api_key: key, action: 'generate', title: 't' },
        target_url,
      })
      // A limit on the encoded length may reject the longest Chinese target.
      if (created.status !== 200) continue
      const { pathname } = new URL(created.body.data.a_url)
      const response = await send(`${nginx.url}${pathname}`)
      assert.deepEqual([response.status, response.headers['location']], [302, new URL(target_url).href])
    }
  })

  test('does not retry a call after an interrupted response', async (context) => {
    if (nginxKit.skip(context)) return
    const received: string[] = []
    await using backend = await startBackend((incoming, response) => {
      received.push(`${incoming.method} ${incoming.url}`)
      // By default nginx would retry on a kept-alive connection.
      if (incoming.url?.endsWith('break')) incoming.socket.destroy()
      else response.end('{}')
    })
    await using nginx = await nginxKit.start(backend.host)
    received.length = 0
    await send(`${nginx.url}/api/x`)
    assert.equal((await send(`${nginx.url}/api/break`)).status, 502)
    assert.deepEqual(received, ['GET /api/x', 'GET /api/break'])
  })

  test('npm run doctor passes, and reports missing directives', async (context) => {
    if (nginxKit.skip(context)) return
    await using service = await startService('sqlite', { TRUSTED_PROXIES: '127.0.0.1' })
    const states = async (change?: (text: string) => string) => {
      await using nginx = await nginxKit.start(hostOf(service.url), change)
      const { stdout } = await runNode(['start.js', 'cli/doctor.ts', '--json'], {
        ...service.storage.environment,
        PORT: new URL(service.url).port,
        PUBLIC_URL: nginx.url,
        TRUSTED_PROXIES: '127.0.0.1',
        NODE_EXTRA_CA_CERTS: nginxKit.certificate,
      })
      const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string }[] }
      return Object.fromEntries(
        checks
          .filter(({ check }) => ['address', 'service', 'proxy', 'headers', 'metrics'].includes(check))
          .map(({ check, state }) => [check, state]),
      )
    }
    const healthy = { address: 'ok', service: 'ok', proxy: 'ok', headers: 'ok', metrics: 'ok' }
    assert.deepEqual(await states(), healthy)
    assert.deepEqual(await states((text) => text.replace('underscores_in_headers on;', '')), {
      ...healthy,
      headers: 'fail',
    })
    assert.deepEqual(await states((text) => text.replace(/proxy_set_header X-Forwarded-For.*/, '')), {
      ...healthy,
      proxy: 'fail',
    })
    // The visitor chooses the host: also that of the service itself.
    const bare = (text: string) =>
      text
        .replaceAll(/proxy_set_header X-Forwarded-.*/g, '')
        .replace('proxy_set_header Host $host;', 'proxy_set_header Host $http_host;')
        .replace(/location = \/metrics \{[^}]*\}/, '')
    assert.deepEqual(await states(bare), { ...healthy, proxy: 'fail', metrics: 'fail' })
  })
})
