// Bodies that are read into the same buffers one after the other.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { shortlink } from '../../contract/shortlink.ts'
import { until } from '../../test/support/until.ts'
import { peerOf } from './address.ts'
import { createBodyBuffers } from './body-buffers.ts'
import { bodyLimit, serveEndpoints } from './endpoint.ts'
import { createLargeBodies } from './large-bodies.ts'
import { createRefusedCalls } from './refused-calls.ts'

test('a buffer that is given back is used again, and few are kept', () => {
  const buffers = createBodyBuffers(10)
  const taken = Array.from({ length: 20 }, () => buffers.take())
  assert.equal(new Set(taken).size, 20)
  for (const buffer of taken) buffers.giveBack(buffer)
  const again = Array.from({ length: 20 }, () => buffers.take())
  assert.equal(again.filter((buffer) => taken.includes(buffer)).length, 4)
  assert.ok(again.every(({ length }) => length === 10))
})

test('each call gets its own body, also beside clients that leave and bodies that are too large', async (t) => {
  const bodies = createLargeBodies({ maxOfAddress: 4, maxWaiting: 1_000 })
  let begun = 0
  let ended = 0
  const serve = serveEndpoints(
    {
      errorStatus: 'mapped',
      addressOf: peerOf,
      requestIdOf: () => 'test',
      refusedCalls: createRefusedCalls(),
      largeBodies: {
        ...bodies,
        async begin(address) {
          const end = await bodies.begin(address)
          begun += 1
          return () => {
            ended += 1
            end()
          }
        },
      },
      isStopping: () => false,
      onResponse: () => undefined,
      onError: (error) => assert.fail(String(error)),
    },
    [{ endpoint: shortlink, handle: async ({ sources }) => ({ status: 200, body: { ...sources.json } }) }],
  )
  const server = createServer({ requestTimeout: 0 }, (incoming, response) => void serve(incoming, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo

  async function call(body: string, isChunked: boolean): Promise<{ status: number; text: string }> {
    const headers = {
      'content-type': 'application/json',
      ...(!isChunked && { 'content-length': body.length }),
    }
    const sent = request({ port, path: shortlink.path, method: 'POST', headers })
    for (let at = 0; at < body.length; at += 50_000) sent.write(body.slice(at, at + 50_000))
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { status: response.statusCode!, text: Buffer.concat(chunks).toString() }
  }
  /** Announces a megabyte, sends a part and leaves. */
  async function leave(): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${shortlink.path} HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\n${'z'.repeat(200_000)}`,
    )
    await once(socket, 'connect')
    await new Promise((resolve) => setTimeout(resolve, 20))
    socket.destroy()
  }
  const sizes = [1_040_000, 70_000, 500_000, 66_000, 10, 900_000, 120_000, 65_600]
  const calls = Array.from({ length: 40 }, async (_, n) => {
    if (n % 10 === 9) return leave()
    const isTooLarge = n % 10 === 8
    const letter = String.fromCodePoint(0x61 + (n % 26))
    const value = letter.repeat(isTooLarge ? bodyLimit : sizes[n % sizes.length]!)
    const { status, text } = await call(JSON.stringify({ n, value }), n % 3 === 0)
    assert.equal(status, isTooLarge ? 413 : 200)
    if (!isTooLarge) assert.ok(text === JSON.stringify({ n, value }), `call ${n}`)
  })
  await Promise.all(calls)
  await until(() => begun > 20 && ended === begun)
})
