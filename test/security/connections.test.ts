// Connections that are slow, torn or not quite HTTP.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../../server/audit/audit.ts'
import { sms } from '../../contract/sms.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { get, startService, type TestService } from '../support/service.ts'

const host = 'Host: x\r\n'

/** Writes the text and reads until the other side closes. */
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

function statusesOf(answers: string): string[] {
  return [...answers.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status!)
}

describe('connections', () => {
  let service: TestService
  before(async () => {
    service = await startService('sqlite')
  })
  after(() => service[Symbol.asyncDispose]())

  it('21 a request that two servers would read differently is refused and the connection closed', async () => {
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
      const answers = await exchange(service, text)
      assert.deepEqual(statusesOf(answers), ['400'], JSON.stringify(text))
    }
  })

  it('21 a request id is ours, whatever the caller writes', async () => {
    const answer = await exchange(
      service,
      `GET /livez HTTP/1.1\r\n${host}X-Request-Id: forged\r\nRequest-Id: forged\r\nConnection: close\r\n\r\n`,
    )
    assert.match(answer, /x-request-id: [0-9a-f-]{36}\r\n/)
    assert.ok(!answer.includes('forged'))
  })

  it('23 headers beyond 16 kB are refused', async () => {
    for (const header of [
      `X: ${'a'.repeat(20_000)}`,
      Array.from({ length: 3_000 }, (_, i) => `h${i}: 1`).join('\r\n'),
    ]) {
      const answer = await exchange(service, `GET /livez HTTP/1.1\r\n${host}${header}\r\n\r\n`)
      assert.deepEqual(statusesOf(answer), ['431'])
    }
  })

  it('33 an address that cannot be read is not repeated', async () => {
    const key = 'tg_seeded-secret'
    for (const path of [
      `/%zz?api_key=${key}`,
      `/api/sms_api.php%?api_key=${key}`,
      `/receipts/sms/aliyun/${key}${'a'.repeat(300)}`,
      `/console/api/requests/${'a'.repeat(300)}${key}`,
    ]) {
      const answer = await exchange(
        service,
        `POST ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nConnection: close\r\n\r\n`,
      )
      assert.match(answer, /^HTTP\/1\.1 4\d\d/, path)
      assert.match(answer, /x-request-id: [0-9a-f-]{36}\r\n/, path)
      assert.ok(!answer.includes(key) && !answer.includes('FST_'), answer)
    }
    assert.ok(!service.logged.join('').includes(key))
  })

  it('24 who announces no body is not waited for', { timeout: 60_000 }, async () => {
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
          const answer = await exchange(
            service,
            `${method} ${path} HTTP/1.1\r\n${host}${typed}Connection: close\r\n\r\n`,
          )
          assert.match(answer, /^HTTP\/1\.1 [24](?!08)\d\d /, `${method} ${path} ${type}`)
        }
      }
    }
  })

  it('24 who connects and says nothing is cut', { timeout: 60_000 }, async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(service, '')))
    for (const answer of answers) assert.deepEqual(statusesOf(answer), ['408'])
    assert.equal((await get(`${service.url}/readyz`)).status, 200)
  })

  it('13 the metrics are for this machine, not for whom a proxy on it speaks', async () => {
    const url = `${service.url}/metrics`
    assert.equal((await fetch(url)).status, 200)
    for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
      assert.equal((await fetch(url, { headers: { [name]: '203.0.113.9' } })).status, 404, name)
    }
  })
})

describe('callers that hang up', () => {
  it('24 are not waited for when the service stops', { timeout: 60_000 }, async () => {
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
    // The drain itself lasts eight seconds when it has something to wait for.
    for (let waited = 0; waited < 6_000 && !stopped; waited += 50) await sleep(50)
    assert.ok(stopped, 'the stop waits for callers that are gone')
    await stop
  })

  it('24 leave their paid call to its end, which a stop waits for', { timeout: 60_000 }, async () => {
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
      // The sandbox keeps this one waiting for a while.
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
    const open = async () => (await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM operation`))?.n
    while ((await open()) !== 1) await sleep(20)
    socket.destroy()
    await service.app.stop()
    const [operation] = await db.all<{ state: string; sends: number }>('SELECT state, sends FROM operation')
    assert.equal(operation?.sends, 1, 'the call went on to its end')
    await service.installation.close()
    await service.storage.remove()
  })
})
