// Slow, interrupted and malformed HTTP connections.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../../server/audit/audit.ts'
import { sms } from '../../contract/sms.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { freePort, get, startService, type TestService } from '../support/service.ts'

const host = 'Host: x\r\n'

/** Writes the text and reads until the peer closes the connection. */
function exchange(service: TestService, text: string): Promise<string> {
  const { port } = new URL(service.url)
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text, 'latin1'))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  })
}

function statusesOf(responses: string): string[] {
  return [...responses.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status!)
}

describe('connections', () => {
  let service: TestService
  before(async () => {
    service = await startService('sqlite')
  })
  after(() => service[Symbol.asyncDispose]())

  it('21 rejects an ambiguous request and closes the connection', async () => {
    const line = `POST ${sms.path} HTTP/1.1\r\n${host}`
    const smuggled = 'GET /livez HTTP/1.1\r\nHost: smuggled\r\n\r\n'
    const texts = [
      `${line}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `${line}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${smuggled}`,
      `${line}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${smuggled}`,
      `${line}Content-Length: +2\r\n\r\n{}${smuggled}`,
      `${line}Content-Length: 2, 2\r\n\r\n{}${smuggled}`,
      `${line}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `${line}Transfer-Encoding: identity, chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`,
      `${line}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      `${line}Transfer-Encoding: chunked\r\n\r\n0;\n\r\n\r\n${smuggled}`,
      `${line}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff1\r\n${smuggled}`,
      `POST ${sms.path} HTTP/1.1\nHost: x\nContent-Length: 0\n\n${smuggled}`,
      `POST ${sms.path} HTTP/1.1\r\n${host}X: a\r\n b\rY: c\r\n\r\n${smuggled}`,
    ]
    for (const text of texts) {
      const responses = await exchange(service, text)
      assert.deepEqual(statusesOf(responses), ['400'], JSON.stringify(text))
    }
  })

  it('21 ignores a request ID sent by the caller', async () => {
    const response = await exchange(
      service,
      `GET /livez HTTP/1.1\r\n${host}X-Request-Id: forged\r\nRequest-Id: forged\r\nConnection: close\r\n\r\n`,
    )
    assert.match(response, /x-request-id: [0-9a-f-]{36}\r\n/)
    assert.ok(!response.includes('forged'))
  })

  it('23 rejects headers larger than 16 kB', async () => {
    for (const header of [
      `X: ${'a'.repeat(20_000)}`,
      Array.from({ length: 3_000 }, (_, i) => `h${i}: 1`).join('\r\n'),
    ]) {
      const response = await exchange(service, `GET /livez HTTP/1.1\r\n${host}${header}\r\n\r\n`)
      assert.deepEqual(statusesOf(response), ['431'])
    }
  })

  it('33 does not repeat an invalid URL in the response', async () => {
    const key = 'tg_seeded-secret'
    for (const path of [
      `/%zz?api_key=${key}`,
      `/api/sms_api.php%?api_key=${key}`,
      `/receipts/sms/aliyun/${key}${'a'.repeat(300)}`,
      `/console/api/requests/${'a'.repeat(300)}${key}`,
    ]) {
      const response = await exchange(
        service,
        `POST ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nConnection: close\r\n\r\n`,
      )
      assert.match(response, /^HTTP\/1\.1 4\d\d/, path)
      assert.match(response, /x-request-id: [0-9a-f-]{36}\r\n/, path)
      assert.ok(!response.includes(key) && !response.includes('FST_'), response)
    }
    assert.ok(!service.logged.join('').includes(key))
  })

  it('24 does not wait for a body that was not announced', { timeout: 60_000 }, async () => {
    const types = ['application/json', 'application/x-www-form-urlencoded', 'text/plain', undefined]
    const paths = [
      sms.path,
      '/console/api/sign-in',
      '/console/api/no-such',
      '/receipts/sms/aliyun/no-such',
      '/livez',
    ]
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
      for (const path of paths) {
        for (const type of types) {
          const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
          const response = await exchange(
            service,
            `${method} ${path} HTTP/1.1\r\n${host}${typed}Connection: close\r\n\r\n`,
          )
          assert.match(response, /^HTTP\/1\.1 [24](?!08)\d\d /, `${method} ${path} ${type}`)
        }
      }
    }
  })

  it('24 closes a connection that sends no request', { timeout: 60_000 }, async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => exchange(service, '')))
    for (const response of responses) assert.deepEqual(statusesOf(response), ['408'])
    assert.equal((await get(`${service.url}/readyz`)).status, 200)
  })

  it('13 returns metrics only to local requests that were not proxied', async () => {
    const url = `${service.url}/metrics`
    assert.equal((await fetch(url)).status, 200)
    for (const name of ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'x-real-ip', 'via']) {
      assert.equal((await fetch(url, { headers: { [name]: '203.0.113.9' } })).status, 404, name)
    }
  })

  it('66 returns no metrics through a local proxy that adds no header', async () => {
    const { port } = new URL(service.url)
    const ask = async (hostLine: string, version = '1.1') => {
      const text = `GET /metrics HTTP/${version}\r\n${hostLine}Connection: close\r\n\r\n`
      return statusesOf(await exchange(service, text))[0]
    }
    for (const local of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`])
      assert.equal(await ask(`Host: ${local}\r\n`), '200', local)
    const proxied = ['api.example.com', `api.example.com:${port}`, '127.0.0.1', '127.0.0.1:8080', 'tollgate']
    for (const name of [...proxied, 'localhost.example.com', `127.0.0.1.example.com:${port}`, '', '127.1'])
      assert.equal(await ask(`Host: ${name}\r\n`), '404', name)
    // nginx without any settings uses HTTP/1.0 and its own idea of the host.
    assert.equal(await ask(`Host: 127.0.0.1:${port}\r\n`, '1.0'), '404')
    assert.equal(await ask('', '1.0'), '404')
  })
})

describe('the metrics token', () => {
  it('66 is required on the main port and on the port of the metrics', async () => {
    const token = 'metrics-token-0123456789'
    const metricsPort = await freePort()
    await using main = await startService('sqlite', { METRICS_TOKEN: token })
    await using separate = await startService('sqlite', {
      METRICS_TOKEN: token,
      METRICS_PORT: String(metricsPort),
    })
    assert.equal((await fetch(`${separate.url}/metrics`)).status, 404)
    for (const url of [`${main.url}/metrics`, `http://127.0.0.1:${metricsPort}/metrics`]) {
      assert.equal((await fetch(url)).status, 401)
      assert.equal((await fetch(url, { headers: { authorization: `Bearer ${token}x` } })).status, 401)
      assert.equal((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status, 200)
    }
  })
})

describe('disconnected callers', () => {
  it('24 do not delay the shutdown', { timeout: 60_000 }, async () => {
    const service = await startService('sqlite')
    const { port } = new URL(service.url)
    const head = `POST ${sms.path} HTTP/1.1\r\n${host}Content-Type: application/json\r\n`
    for (let round = 0; round < 5; round += 1) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(`${head}Content-Length: 1000\r\n\r\n{`)
      await sleep(50)
      socket.destroy()
    }
    await sleep(50)
    let stopped = false
    const stop = service[Symbol.asyncDispose]().then(() => (stopped = true))
    // The drain waits up to eight seconds for running requests.
    for (let waited = 0; waited < 6_000 && !stopped; waited += 50) await sleep(50)
    assert.ok(stopped, 'the shutdown waits for disconnected callers')
    await stop
  })

  it('24 do not interrupt a paid call, and the shutdown waits for it', { timeout: 60_000 }, async () => {
    const service = await startService('sqlite')
    const account = await service.account({ sms: 5 })
    await createTemplate(service.installation.db, systemActor, {
      accountId: account.id,
      code: 'C',
      name: 'c',
      content: '您好',
      status: '审核通过',
    })
    const body = JSON.stringify({
      username: account.username,
      api_key: account.key,
      action: 'send_sms',
      // The sandbox responds to this number with a delay.
      phone_number: '19900000002',
      template_code: 'C',
    })
    const { port } = new URL(service.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `POST ${sms.path} HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    const { db } = service.installation
    const countOperations = async () =>
      (await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM operation`))?.n
    while ((await countOperations()) !== 1) await sleep(20)
    socket.destroy()
    await service.app.stop()
    const [operation] = await db.all<{ state: string; sends: number }>('SELECT state, sends FROM operation')
    assert.equal(operation?.sends, 1, 'the call was completed')
    await service.installation.close()
    await service.storage.remove()
  })
})
