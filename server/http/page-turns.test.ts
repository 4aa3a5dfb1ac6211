// Requests for pages start in turns: a few per turn of the event loop, and clients one after another.
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startInTurns } from './page-turns.ts'

interface Arrived {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A page handler that notes which requests start, and which are rejected. */
function createPages() {
  const started: string[] = []
  const rejected: string[] = []
  const names = new WeakMap<IncomingMessage, string>()
  const addresses = new WeakMap<IncomingMessage, string>()
  const handle = startInTurns(
    (request) => addresses.get(request)!,
    (request) => started.push(names.get(request)!),
    (request) => rejected.push(names.get(request)!),
  )
  return {
    started,
    rejected,
    arrive(name: string, address: string): Arrived {
      const request = new IncomingMessage(new Socket())
      const response = new ServerResponse(request)
      names.set(request, name)
      addresses.set(request, address)
      handle(request, response)
      return { request, response }
    },
  }
}

describe('requests for pages', () => {
  it('178 start four per turn of the event loop, the first ones immediately', async () => {
    const { started, arrive } = createPages()
    for (let i = 0; i < 10; i += 1) arrive(String(i), '192.0.2.1')
    assert.deepEqual(started, ['0', '1', '2', '3'])
    await nextTurn()
    assert.equal(started.length, 8)
    await nextTurn()
    assert.deepEqual(started, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it('178 of one client wait for each other, not those of another', async () => {
    const { started, arrive } = createPages()
    for (let i = 0; i < 100; i += 1) arrive(`crowd ${i}`, '192.0.2.1')
    arrive('neighbour', '192.0.2.2')
    await nextTurn()
    assert.ok(started.includes('neighbour'))
    assert.equal(started.length, 8)
  })

  it('count one client of a network with IPv6', async () => {
    const { started, arrive } = createPages()
    for (let i = 0; i < 100; i += 1) arrive(`crowd ${i}`, `2001:db8:0:1::${i}`)
    arrive('neighbour', '2001:db8:0:2::1')
    await nextTurn()
    assert.ok(started.includes('neighbour'))
  })

  it('do not start when their client has left', async () => {
    const { started, arrive } = createPages()
    for (let i = 0; i < 4; i += 1) arrive(String(i), '192.0.2.1')
    const left = arrive('left', '192.0.2.1')
    arrive('next', '192.0.2.1')
    left.request.socket.destroy()
    await nextTurn()
    assert.deepEqual(started, ['0', '1', '2', '3', 'next'])
    assert.ok(left.response.writableEnded)
  })

  it('178 are rejected when two thousand wait, those of the largest client first', async () => {
    const { rejected, arrive } = createPages()
    for (let i = 0; i < 2_004; i += 1) arrive(`crowd ${i}`, '192.0.2.1')
    arrive('one more', '192.0.2.1')
    arrive('neighbour', '192.0.2.2')
    await nextTurn()
    assert.deepEqual(rejected, ['one more', 'crowd 2003'])
  })
})
