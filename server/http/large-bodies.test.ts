// Turns of large bodies, and how endpoints use them.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { until } from '../../test/support/until.ts'
import { peerOf } from './address.ts'
import { serveEndpoints } from './endpoint.ts'
import { QueueFull } from './fair-queue.ts'
import { createRefusedCalls } from './refused-calls.ts'
import { createLargeBodies } from './large-bodies.ts'

test('146 one address has a few large bodies at a time, more wait, and the rest are refused', async () => {
  const bodies = createLargeBodies({ maxOfAddress: 2, maxWaiting: 3 })
  const begun: (() => void)[] = []
  const begin = (address: string) => bodies.begin(address).then((end) => void begun.push(end))
  const sent = Array.from({ length: 5 }, () => begin('192.0.2.1'))
  await Promise.all(sent.slice(0, 2))
  await assert.rejects(begin('192.0.2.1'), QueueFull)
  await begin('192.0.2.2')
  assert.equal(begun.length, 3)
  for (const end of begun) {
    end()
    await new Promise(setImmediate)
  }
  await Promise.all(sent)
  assert.equal(begun.length, 6)
})

test('146 large bodies are decoded one by one, and addresses take turns', async () => {
  const bodies = createLargeBodies()
  const order: string[] = []
  const decode = (name: string, address: string) =>
    bodies.decode(address, 0, () => {
      order.push(name)
      setImmediate(() => order.push('other'))
      return name
    })
  const results = await Promise.all([
    decode('a1', 'a'),
    decode('a2', 'a'),
    decode('a3', 'a'),
    decode('b1', 'b'),
  ])
  assert.deepEqual(results, ['a1', 'a2', 'a3', 'b1'])
  // Addresses take turns, and the other work comes in between.
  assert.deepEqual(order.slice(0, 7), ['a1', 'other', 'a2', 'other', 'b1', 'other', 'a3'])
})

test('146 a body that took long to decode leaves as much time to other work', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bodies = createLargeBodies()
  const order: string[] = []
  const long = bodies.decode('a', 0, () => {
    const start = performance.now()
    while (performance.now() - start < 1);
    order.push('long')
  })
  const next = bodies.decode('b', 0, () => order.push('next'))
  await long
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
  assert.deepEqual(order, ['long'])
  t.mock.timers.tick(60_000)
  await next
  assert.deepEqual(order, ['long', 'next'])
})

test('the pause after a body is 20 ms for each megabyte at least', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const bodies = createLargeBodies()
  const order: string[] = []
  const sizes = { first: 1_048_576, second: 524_288, third: 1 }
  const all = Object.entries(sizes).map(([name, bytes]) => bodies.decode('a', bytes, () => order.push(name)))
  const afterMs = async (ms: number) => {
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate)
    return [...order]
  }
  assert.deepEqual(await afterMs(19), ['first'])
  assert.deepEqual(await afterMs(1), ['first', 'second'])
  assert.deepEqual(await afterMs(9), ['first', 'second'])
  assert.deepEqual(await afterMs(1), ['first', 'second', 'third'])
  await Promise.all(all)
})

test('173 small bodies of an address that took long are decoded in turn, those of others at once', async () => {
  const bodies = createLargeBodies({ maxOfAddress: 1, maxWaiting: 1, maxSmallWaiting: 2, burstMs: 0 })
  const decoded: string[] = []
  const work = (address: string, ms: number) => () => {
    const start = performance.now()
    while (performance.now() - start < ms);
    decoded.push(address)
  }
  const decode = (address: string, ms: number) => bodies.decodeSmall(() => address, work(address, ms))
  await decode('a', 100)
  const waiting = [decode('a', 0), decode('a', 0)]
  await assert.rejects(decode('a', 0), { status: 429 })
  await decode('b', 0)
  assert.deepEqual(decoded, ['a', 'b'])
  await Promise.all(waiting)
  assert.deepEqual(decoded, ['a', 'b', 'a', 'a'])
})

test('173 a body that is refused counts too', async () => {
  const bodies = createLargeBodies({ maxOfAddress: 1, maxWaiting: 1, burstMs: 0 })
  const refuse = () => {
    const start = performance.now()
    while (performance.now() - start < 100);
    throw new SyntaxError('refused')
  }
  await assert.rejects(
    bodies.decodeSmall(() => 'a', refuse),
    SyntaxError,
  )
  let isDecoded = false
  const waiting = bodies.decodeSmall(
    () => 'a',
    () => (isDecoded = true),
  )
  assert.equal(isDecoded, false)
  await waiting
  assert.equal(isDecoded, true)
})

test('146 a large body beside too many of its address is a 429 in the shape of the endpoint, a small one is read', async (t) => {
  const bodies = createLargeBodies({ maxOfAddress: 1, maxWaiting: 0 })
  let begun = 0
  const handle = async () => ({ status: 200, body: { read: true } })
  const serve = serveEndpoints(
    {
      errorStatus: 'mapped',
      addressOf: peerOf,
      requestIdOf: () => 'test',
      refusedCalls: createRefusedCalls(),
      largeBodies: {
        ...bodies,
        begin: (address) => bodies.begin(address).finally(() => (begun += 1)),
      },
      isStopping: () => false,
      onResponse: () => undefined,
      onError: (error) => assert.fail(String(error)),
    },
    [
      { endpoint: sms, handle },
      { endpoint: shortlink, handle },
    ],
  )
  const server = createServer({ requestTimeout: 0 }, (incoming, response) => void serve(incoming, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const open = (path: string) => {
    const sent = request({ port, path, method: 'POST', headers: { 'content-type': 'application/json' } })
    const answered = new Promise<{ status: number; body: unknown }>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', (response) => {
        let text = ''
        response.on('data', (data: Buffer) => (text += data.toString()))
        response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }))
      })
    })
    return { sent, answered }
  }
  const large = JSON.stringify({ a: 'x'.repeat(300_000) })
  const first = open(sms.path)
  first.sent.write(large.slice(0, 200_000))
  await until(() => begun === 1)
  for (const [path, body] of [
    [sms.path, { code: 429, message: '请求过于频繁，请 1 秒后重试' }],
    [shortlink.path, { success: false, message: '请求过于频繁，请 1 秒后重试' }],
  ] as const) {
    const second = open(path)
    second.sent.end(large)
    assert.deepEqual(await second.answered, { status: 429, body })
  }
  const small = open(sms.path)
  small.sent.end('{}')
  assert.equal((await small.answered).status, 200)
  first.sent.end(large.slice(200_000))
  assert.deepEqual(await first.answered, { status: 200, body: { read: true } })
  // Its slot is free again, also after a client has left.
  const third = open(sms.path)
  third.sent.write(large.slice(0, 200_000))
  await until(() => begun === 4)
  third.answered.catch(() => undefined)
  third.sent.destroy()
  await until(async () => {
    const next = open(sms.path)
    next.sent.end(large)
    return (await next.answered).status === 200
  })
})
