// HTTP calls to a faulty loopback server: which faults are not sent, which are ambiguous, and the limits.

import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

import fc from 'fast-check'

import * as fakes from '../../test/support/fake-upstream.ts'
import type { FakeUpstream, Handler } from '../../test/support/fake-upstream.ts'
import { httpCall } from './http-call.ts'
import type { HttpRequest, HttpResult } from './http-call.ts'
import { parseJsonObject } from './json.ts'

const PHONE = '13800138000'

async function fakeFor(t: TestContext, handler?: Handler): Promise<FakeUpstream> {
  const fake = await fakes.startFakeUpstream(handler)
  t.after(() => fake.close())
  return fake
}

function post(url: string): HttpRequest {
  const headers = { 'x-secret': PHONE, 'content-type': 'text/plain' }
  return { method: 'POST', url: `${url}?PhoneNumbers=${PHONE}`, headers, body: `to ${PHONE}` }
}

function send(url: string, timeoutMs = 5_000): Promise<HttpResult> {
  return httpCall(post(url), { timeoutMs })
}

function assertFailure(result: HttpResult, kind: 'not_sent' | 'ambiguous', reason?: string): void {
  assert.equal(result.kind, kind, JSON.stringify(result))
  if (reason !== undefined) assert.equal(result.reason, reason)
  assert.doesNotMatch(result.reason, /1380|127\.0|http|invalid$/i)
}

/** A TCP server with a handler for each socket. */
async function rawServer(
  t: TestContext,
  onSocket: (socket: Socket) => void,
): Promise<Server & { port: number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return Object.assign(server, { port: (server.address() as AddressInfo).port })
}

describe('a response', () => {
  it('has status, headers and text, and the request arrives unchanged', async (t) => {
    const fake = await fakeFor(t, () => fakes.text(418, '茶', { 'x-a': 'b' }))
    const result = await send(fake.url)
    assert.equal(result.kind, 'response')
    assert.deepEqual([result.status, result.body, result.truncated], [418, '茶', false])
    assert.equal(result.headers['x-a'], 'b')
    const [request] = fake.requests
    assert.equal(request?.method, 'POST')
    assert.equal(request.target, `/?PhoneNumbers=${PHONE}`)
    assert.equal(request.body, `to ${PHONE}`)
    assert.equal(request.headers['x-secret'], PHONE)
    assert.equal(request.headers['accept-encoding'], 'identity')
  })

  it('may be the HTML page of a proxy', async (t) => {
    const fake = await fakeFor(t, () => fakes.html502())
    const result = await send(fake.url)
    assert.equal(result.kind, 'response')
    assert.equal(result.status, 502)
    assert.equal(parseJsonObject(result.body), undefined)
  })

  it('may be a redirect, which is not followed', async (t) => {
    const fake = await fakeFor(t, () => fakes.text(302, '', { location: '/elsewhere' }))
    const result = await send(fake.url)
    assert.equal(result.kind, 'response')
    assert.equal(result.status, 302)
    assert.equal(result.headers['location'], '/elsewhere')
    assert.equal(fake.requests.length, 1)
  })

  it('ignores early hints', async (t) => {
    const fake = await fakeFor(t, () => (response) => {
      response.writeEarlyHints({ link: '</a>; rel=preload' })
      response.writeHead(200, { 'x-real': 'yes' }).end('real')
    })
    const result = await send(fake.url)
    assert.equal(result.kind, 'response')
    assert.deepEqual([result.status, result.body, result.headers['x-real']], [200, 'real', 'yes'])
  })

  it('joins repeated headers', async (t) => {
    const fake = await fakeFor(t, () => (response) => {
      response.writeHead(200, [
        ['x-a', '1'],
        ['x-a', '2'],
      ])
      response.end()
    })
    const result = await send(fake.url)
    assert.equal(result.kind === 'response' && result.headers['x-a'], '1, 2')
  })

  it('may be a 204 with the length of a body that it cannot have', async (t) => {
    const server = await rawServer(t, (socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok')),
    )
    const result = await send(`http://127.0.0.1:${server.port}/`)
    assert.equal(result.kind, 'response', JSON.stringify(result))
    assert.deepEqual([result.status, result.body, result.truncated], [204, '', false])
  })

  it('may come late within the timeout', async (t) => {
    const fake = await fakeFor(t, () => fakes.late(50, fakes.json(200, { late: true })))
    const result = await send(fake.url)
    assert.equal(result.kind === 'response' && result.body, '{"late":true}')
  })
})

describe('the size of the body', () => {
  it('truncates 5 MB and closes the connection', async (t) => {
    const dropped = Promise.withResolvers<void>()
    const fake = await fakeFor(t, () => (response) => {
      response.once('close', () => dropped.resolve())
      fakes.hugePage()(response)
    })
    const result = await send(fake.url)
    assert.equal(result.kind, 'response')
    assert.deepEqual([result.body.length, result.truncated], [256 * 1024, true])
    await dropped.promise
  })

  it('truncates above the limit only', async (t) => {
    const fake = await fakeFor(t, (request) => fakes.text(200, 'x'.repeat(Number(request.query.get('n')))))
    const size = async (n: number): Promise<HttpResult> => {
      const request: HttpRequest = { method: 'GET', url: `${fake.url}?n=${n}`, headers: {}, body: '' }
      return httpCall(request, { timeoutMs: 5_000, maxBodyBytes: 1000 })
    }
    const exact = await size(1000)
    assert.deepEqual(exact.kind === 'response' && [exact.body.length, exact.truncated], [1000, false])
    const over = await size(1001)
    assert.deepEqual(over.kind === 'response' && [over.body.length, over.truncated], [1000, true])
  })

  it('replaces a character that is cut at the limit', async (t) => {
    const fake = await fakeFor(t, () => fakes.text(200, '短短'))
    const result = await httpCall(post(fake.url), { timeoutMs: 5_000, maxBodyBytes: 4 })
    assert.deepEqual(result.kind === 'response' && [result.body, result.truncated], ['短\ufffd', true])
  })
})

describe('proven not sent', () => {
  it('connection refused', async (t) => {
    const fake = await fakeFor(t)
    await fake.close()
    assertFailure(await send(fake.url), 'not_sent', 'ECONNREFUSED')
  })

  it('unknown host name', async () => {
    // Offline machines answer EAI_AGAIN instead of ENOTFOUND.
    assertFailure(await send('https://upstream.invalid/'), 'not_sent')
  })

  it('server without TLS', async (t) => {
    const fake = await fakeFor(t)
    assertFailure(await send(fake.url.replace('http:', 'https:')), 'not_sent')
    assert.equal(fake.requests.length, 0)
  })

  it('reset during the TLS handshake', async (t) => {
    const server = await rawServer(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
    assertFailure(await send(`https://127.0.0.1:${server.port}/`), 'not_sent', 'ECONNRESET')
  })

  it('timeout while connecting, nothing is sent later', async (t) => {
    // TCP is up, but the handshake gets no answer.
    const received: Buffer[] = []
    const server = await rawServer(t, (socket) => socket.on('data', (chunk) => received.push(chunk)))
    assertFailure(await send(`https://127.0.0.1:${server.port}/`, 100), 'not_sent', 'timeout')
    await sleep(50)
    assert.doesNotMatch(Buffer.concat(received).toString('latin1'), new RegExp(PHONE))
  })

  it('aborted before or while connecting', async (t) => {
    const fake = await fakeFor(t)
    const early = AbortSignal.abort()
    assertFailure(await httpCall(post(fake.url), { timeoutMs: 5_000, signal: early }), 'not_sent', 'aborted')
    // Aborted in the same turn: the socket is not connected yet, and undici connects all the same.
    const controller = new AbortController()
    const pending = httpCall(post(fake.url), { timeoutMs: 5_000, signal: controller.signal })
    controller.abort()
    assertFailure(await pending, 'not_sent', 'aborted')
    await sleep(50)
    assert.equal(fake.requests.length, 0)
  })

  it('invalid request', async (t) => {
    const fake = await fakeFor(t)
    assertFailure(await send('not a url'), 'not_sent', 'invalid_url')
    assertFailure(await send('file:///etc/passwd'), 'not_sent', 'invalid_url')
    const headers = { 'x-broken': `${PHONE}\r\nx-more: 1` }
    const broken = await httpCall({ ...post(fake.url), headers }, { timeoutMs: 5_000 })
    assertFailure(broken, 'not_sent', 'UND_ERR_INVALID_ARG')
    assert.equal(fake.requests.length, 0)
  })
})

describe('ambiguous', () => {
  it('timeout without a response', async (t) => {
    const fake = await fakeFor(t, () => fakes.hang())
    assertFailure(await send(fake.url, 1_500), 'ambiguous', 'timeout')
    assert.equal(fake.requests.length, 1)
  })

  it('timeout while the body arrives', async (t) => {
    const fake = await fakeFor(t, () => (response) => {
      const drip = setInterval(() => response.write('.'), 10)
      response.once('close', () => clearInterval(drip))
    })
    assertFailure(await send(fake.url, 1_500), 'ambiguous', 'timeout')
  })

  it('aborted after sending', async (t) => {
    const controller = new AbortController()
    const fake = await fakeFor(t, () => {
      controller.abort()
      return fakes.hang()
    })
    const result = await httpCall(post(fake.url), { timeoutMs: 5_000, signal: controller.signal })
    assertFailure(result, 'ambiguous', 'aborted')
  })

  it('connection closed or reset: sent once, never again', async (t) => {
    const fake = await fakeFor(t)
    for (const behaviour of [fakes.cutBeforeHeaders(), fakes.reset(), fakes.cutInBody()]) {
      fake.handle(() => behaviour)
      const before = fake.requests.length
      assertFailure(await send(fake.url), 'ambiguous')
      await sleep(20)
      assert.equal(fake.requests.length, before + 1)
    }
  })

  it('a response that is not HTTP', async (t) => {
    const server = await rawServer(t, (socket) =>
      socket.once('data', () => socket.end('hello there\r\n\r\n')),
    )
    assertFailure(await send(`http://127.0.0.1:${server.port}/`), 'ambiguous')
  })

  it('endless headers', async (t) => {
    const server = await rawServer(t, (socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(200_000)}`)),
    )
    assertFailure(await send(`http://127.0.0.1:${server.port}/`), 'ambiguous')
  })

  it('reused connection closed or reset', async (t) => {
    for (const end of [fakes.reset(), fakes.cutBeforeHeaders()]) {
      const fake = await fakeFor(t, fakes.inTurn(fakes.json(200, {}), end))
      assert.equal((await send(fake.url)).kind, 'response')
      await sleep(20)
      assertFailure(await send(fake.url), 'ambiguous')
      await sleep(20)
      const used = fake.requests.map((request) => request.connection)
      assert.deepEqual(used, [0, 0], 'the same connection, and no second try on a new one')
    }
  })
})

it('never returns not_sent for a written request when the connection ends at the same time', async (t) => {
  // undici publishes written requests on this channel: a second proof, independent of httpCall.
  const written: string[] = []
  const onWrite = (message: unknown): void => {
    written.push((message as { request: { path: string } }).request.path)
  }
  subscribe('undici:client:sendHeaders', onWrite)
  t.after(() => unsubscribe('undici:client:sendHeaders', onWrite))

  const arrived: string[] = []
  let idle: Socket | undefined
  const server = await rawServer(t, (socket) => {
    socket.on('data', (chunk) => {
      arrived.push(chunk.toString('latin1').split(' ')[1] ?? '')
      idle = socket
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  const call = (path: string): Promise<HttpResult> => {
    const url = `http://127.0.0.1:${server.port}${path}`
    return httpCall({ method: 'POST', url, headers: {}, body: '' }, { timeoutMs: 5_000 })
  }

  const kinds: Record<string, number> = {}
  for (let round = 0; round < 300; round += 1) {
    await call('/warm-up')
    await nextTurn()
    // Different numbers of turns before the end and before the call meet the connection in every state it can be in.
    const endConnection = async (): Promise<void> => {
      for (let turn = 0; turn < round % 5; turn += 1) await nextTurn()
      if (round % 2 === 0) idle?.resetAndDestroy()
      else idle?.destroy()
    }
    const path = `/${round}`
    const callThen = async (): Promise<HttpResult> => {
      for (let turn = 0; turn < round % 3; turn += 1) await nextTurn()
      return call(path)
    }
    const [, result] = await Promise.all([endConnection(), callThen()])
    await nextTurn()
    const timesWritten = written.filter((other) => other === path).length
    assert.equal(timesWritten, result.kind === 'not_sent' ? 0 : 1, `${path} ${result.kind}`)
    assert.ok(arrived.filter((other) => other === path).length <= timesWritten)
    kinds[result.kind] = (kinds[result.kind] ?? 0) + 1
  }
  t.diagnostic(JSON.stringify(kinds))
})

describe('parseJsonObject', () => {
  it('accepts only objects', () => {
    assert.deepEqual(parseJsonObject('{"a":1}'), { a: 1 })
    for (const text of ['', '[]', 'null', '1', '"a"', '{', '<html>'])
      assert.equal(parseJsonObject(text), undefined)
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        parseJsonObject(text)
      }),
    )
  })
})
