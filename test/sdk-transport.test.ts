// How the Node client sends a call and reads its response, against servers that respond in unusual ways.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { Tollgate, TollgateAbortError, TollgateError, type TollgateOptions } from '../sdk/node/src/index.ts'
import { until } from './support/until.ts'

interface Target {
  /** The bodies of the calls. */
  readonly received: readonly Readonly<Record<string, unknown>>[]
  readonly client: (options?: Partial<TollgateOptions>) => Tollgate
}

/** A server that gives the same response to every call, or none. */
async function respondWith(t: TestContext, body: string | undefined): Promise<Target> {
  const received: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    void text(request).then((sent) => {
      received.push(JSON.parse(sent) as Record<string, unknown>)
      if (body !== undefined) response.setHeader('content-type', 'application/json').end(body)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    received,
    client: (options) => new Tollgate({ baseUrl, username: 'demo', apiKey: 'key', ...options }),
  }
}

test('parameters that are not JSON are refused before anything is sent', async (t) => {
  const target = await respondWith(t, '{"code":0,"data":{}}')
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  for (const value of [5n, circle] as unknown as readonly number[]) {
    const sent = target.client().shortlink.get({ link_id: value })
    await assert.rejects(sent, { name: 'TypeError', message: /BigInt|circular/ })
  }
  assert.deepEqual(target.received, [])
})

test('a success without data is not a response of the service', async (t) => {
  const target = await respondWith(t, '{"success":true,"data":null}')
  await assert.rejects(
    target
      .client({ retries: 0 })
      .shortlink.generate({ target_url: 'https://example.com', title: 'x' }, { idempotencyKey: 'order-1' }),
    { name: 'TollgateConnectionError', message: /not a response of Tollgate/, idempotencyKey: 'order-1' },
  )
})

test('an aborted call has its idempotency key and the reason, before it is sent, while it runs and before a retry', async (t) => {
  const target = await respondWith(t, undefined)
  const unreachable = new Tollgate({ baseUrl: 'http://127.0.0.1:9', username: 'demo', apiKey: 'key' })
  const send = (client: Tollgate, signal: AbortSignal) =>
    client.identity.verify({ name: '张三', idcard: 'x' }, { idempotencyKey: 'order-1', signal })
  const reason = new Error('changed my mind')
  const expected = {
    message: /may have been executed: changed my mind/,
    idempotencyKey: 'order-1',
    cause: reason,
  }

  await assert.rejects(send(target.client(), AbortSignal.abort(reason)), expected)
  assert.equal(target.received.length, 0)

  const running = new AbortController()
  const sent = send(target.client(), running.signal)
  await until(() => target.received.length === 1)
  running.abort(reason)
  await assert.rejects(sent, expected)

  const waiting = new AbortController()
  const retried = send(unreachable, waiting.signal)
  setTimeout(() => waiting.abort(reason), 50)
  await assert.rejects(retried, expected)

  const byDefault = await send(target.client(), AbortSignal.abort()).catch((error: unknown) => error)
  assert.ok(byDefault instanceof TollgateAbortError && byDefault instanceof TollgateError)
  assert.equal(byDefault.name, 'AbortError')
  assert.match(byDefault.idempotencyKey!, /^order-1$/)
  await assert.rejects(target.client().sms.credits({}, { signal: AbortSignal.abort('no') }), {
    name: 'AbortError',
    cause: 'no',
    idempotencyKey: undefined,
  })
})

test('a signal that is passed to many calls keeps no listener of them', async (t) => {
  const target = await respondWith(t, '{"code":0,"data":{}}')
  const { signal } = new AbortController()
  const tollgate = target.client()
  for (let call = 0; call < 3; call += 1) await tollgate.sms.credits({}, { signal })
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a page of records has a limit, because without one the service names no next page', async (t) => {
  const target = await respondWith(t, '{"code":0,"data":[],"next_cursor":"next"}')
  const which: object = { phone_number: '13800138000', limit: undefined }
  const page = await target.client().sms.logsPage(which)
  assert.equal(page.next_cursor, 'next')
  await target.client().sms.logsPage({ phone_number: '13800138000', limit: 5 })
  assert.deepEqual(
    target.received.map((body) => body['limit']),
    [20, 5],
  )
})
