// Calls of a network whose calls are often refused start in turns.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sms } from '../../contract/sms.ts'
import { until } from '../../test/support/until.ts'
import { peerOf } from './address.ts'
import { serveEndpoints } from './endpoint.ts'
import { AppError } from './errors.ts'
import { createLargeBodies } from './large-bodies.ts'
import { createRefusedCalls } from './refused-calls.ts'

const flooding = () => '192.0.2.1'
const other = () => '192.0.2.2'

/** After so many refused calls of one network, with a clock that stands still. */
function createAfterRefusals(count: number) {
  const clock = { ms: 0 }
  const refused = createRefusedCalls(() => clock.ms)
  for (let i = 0; i < count; i += 1) refused.count(flooding())
  return { refused, clock }
}

describe('refused calls', () => {
  it('179 after a hundred of a network at once, its calls start eight per turn of the event loop', async () => {
    const { refused } = createAfterRefusals(100)
    let started = 0
    for (let i = 0; i < 20; i += 1) void refused.turnOf(flooding)!.then(() => (started += 1))
    await Promise.resolve()
    await Promise.resolve()
    assert.equal(started, 8)
    await nextTurn()
    assert.equal(started, 16)
    await nextTurn()
    assert.equal(started, 20)
  })

  it('179 do not delay a network with fewer of them, or with none', () => {
    const { refused } = createAfterRefusals(99)
    assert.equal(refused.turnOf(flooding), undefined)
    refused.count(flooding())
    assert.notEqual(refused.turnOf(flooding), undefined)
    assert.equal(refused.turnOf(other), undefined)
  })

  it('are forgotten: fifty a second, and a fifth of a second after a flood', () => {
    const { refused, clock } = createAfterRefusals(100_000)
    clock.ms = 190
    assert.notEqual(refused.turnOf(flooding), undefined)
    clock.ms = 210
    assert.equal(refused.turnOf(flooding), undefined)
  })

  it('are counted by endpoints, and a client that leaves while it waits is no error', async (t) => {
    const refused = createRefusedCalls()
    const open: { release: () => void }[] = []
    let counted = 0
    const errors: unknown[] = []
    const serve = serveEndpoints(
      {
        errorStatus: 'mapped',
        addressOf: peerOf,
        requestIdOf: () => 'test',
        largeBodies: createLargeBodies(),
        refusedCalls: {
          count(network) {
            counted += 1
            refused.count(network)
          },
          // Waits until the test lets the call go on.
          turnOf: () => new Promise((release) => open.push({ release })),
        },
        isStopping: () => false,
        onResponse: () => undefined,
        onError: (error) => errors.push(error),
      },
      [{ endpoint: sms, handle: () => Promise.reject(new AppError(1003, { zh: '错误', en: 'wrong' })) }],
    )
    const ended: boolean[] = []
    const server = createServer((incoming, response) => {
      response.on('close', () => ended.push(response.writableEnded))
      serve(incoming, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const send = () => {
      const sent = request({ port, path: sms.path, method: 'POST', agent: false })
      sent.on('error', () => undefined)
      sent.end('{}')
      return sent
    }

    const answered = once(send(), 'response')
    await until(() => open.length === 1)
    open[0]!.release()
    const [response] = (await answered) as [{ statusCode: number; resume: () => void }]
    response.resume()
    assert.equal(response.statusCode, 401)
    assert.equal(counted, 1)

    const left = send()
    await until(() => open.length === 2)
    left.destroy()
    await until(() => ended.length === 2)
    open[1]!.release()
    await nextTurn()
    assert.equal(counted, 1)
    assert.deepEqual(errors, [])
  })
})
