// Large bodies of routes that Fastify serves.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type ClientRequest, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { fastify } from 'fastify'
import { until } from '../../test/support/until.ts'
import { peerOf } from './address.ts'
import { AppError } from './errors.ts'
import { bytesOf, decodeInTurn, readBodiesInTurn } from './fastify-bodies.ts'
import { createLargeBodies } from './large-bodies.ts'

const large = 'x'.repeat(300_000)

const turns = createLargeBodies({ maxOfAddress: 1, maxWaiting: 0 })
let begun = 0
let decoded = 0
const context = {
  addressOf: peerOf,
  largeBodies: {
    begin: (address: string) => turns.begin(address).finally(() => (begun += 1)),
    decode: <T>(address: string, bytes: number, work: () => T) =>
      turns.decode(address, bytes, work).finally(() => (decoded += 1)),
    decodeSmall: turns.decodeSmall,
  },
}
const app = fastify({ requestTimeout: 0 })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

before(async () => {
  readBodiesInTurn(app, context)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, _request, reply) =>
    reply.code(error instanceof AppError ? error.status : 400).send(String(error)),
  )
  app.post('/unread', async () => 'unread')
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.post('/read', (received) =>
      decodeInTurn(context, received, bytesOf(received), (body) => String(body.length)),
    )
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
})

after(async () => {
  agent.destroy()
  await app.close()
})

/** Starts a request without ending it. */
function open(path: string, headers: Record<string, string | number>, on?: Agent): ClientRequest {
  const { port } = app.server.address() as AddressInfo
  const sent = request({
    port,
    path,
    method: 'POST',
    headers: { 'content-type': 'text/plain', ...headers },
    ...(on && { agent: on }),
  })
  sent.on('error', () => undefined)
  return sent
}

async function answerTo(sent: ClientRequest): Promise<readonly [status: number | undefined, text: string]> {
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const data of response) text += String(data)
  return [response.statusCode, text]
}

function post(path: string, text: string, headers = {}, on?: Agent) {
  const sent = open(path, headers, on)
  const answered = answerTo(sent)
  sent.end(text)
  return answered
}

test('146 a large body beside too many of its address is a 429, a small one is read', async () => {
  for (const headers of [{ 'content-length': large.length }, { 'transfer-encoding': 'chunked' }]) {
    const started = begun
    const first = open('/read', headers)
    first.write(large.slice(0, 200_000))
    await until(() => begun === started + 1)
    assert.equal((await post('/read', large))[0], 429)
    assert.equal((await post('/read', large, { 'transfer-encoding': 'chunked' }))[0], 429)
    assert.deepEqual(await post('/read', 'small'), [200, '5'])
    assert.deepEqual(await post('/read', 'small', { 'transfer-encoding': 'chunked' }), [200, '5'])
    const decodedBefore = decoded
    const answered = answerTo(first)
    first.end(large.slice(200_000))
    assert.deepEqual(await answered, [200, '300000'])
    assert.equal(decoded, decodedBefore + 1)
  }
})

test('146 the place is free again after the client has left', async () => {
  const started = begun
  const first = open('/read', {})
  first.write(large)
  await until(() => begun === started + 1)
  first.destroy()
  await until(async () => (await post('/read', large))[0] === 200)
})

test('146 a body that no route reads takes no place, and its connection is used again', async () => {
  const started = begun
  for (const headers of [{ 'content-length': large.length }, { 'transfer-encoding': 'chunked' }]) {
    assert.deepEqual(await post('/unread', large, headers, agent), [200, 'unread'])
  }
  assert.deepEqual(await post('/read', 'small', {}, agent), [200, '5'])
  assert.equal(begun, started)
})
