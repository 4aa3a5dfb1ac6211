// The guard around a gateway: breaker, bulkhead, timeout, counters. Uses short real times and asserts only order.

import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { hang, startFakeUpstream } from '../../test/support/fake-upstream.ts'
import { createGuard } from './guard.ts'
import type { Guard, GuardOptions } from './guard.ts'
import { httpCall } from './http-call.ts'
import type { Outcome } from './outcome.ts'

const accepted: Outcome<string> = { kind: 'accepted', value: 'id' }
const ambiguous: Outcome<string> = { kind: 'ambiguous', reason: 'UND_ERR_SOCKET' }
const refused: Outcome<string> = { kind: 'refused', code: 'bad_number', reason: 'isv.MOBILE_NUMBER_ILLEGAL' }
const throttledNumber: Outcome<string> = {
  kind: 'throttled',
  concerns: 'recipient',
  reason: 'isv.BUSINESS_LIMIT_CONTROL',
}
const throttledUs: Outcome<string> = { kind: 'throttled', concerns: 'us', reason: 'Throttling.User' }
const notSent: Outcome<string> = { kind: 'not_sent', reason: 'ECONNREFUSED' }
const thisMessage: Outcome<string> = { kind: 'not_sent', reason: 'template_unknown', onlyThisRequest: true }

function guardWith(options: Partial<GuardOptions> = {}): Guard {
  return createGuard({ timeoutMs: 2_000, maxConcurrent: 10, maxQueued: 10, ...options })
}

function give(guard: Guard, outcome: Outcome<string>): Promise<Outcome<string>> {
  return guard.run(async () => outcome)
}

async function giveTimes(guard: Guard, outcome: Outcome<string>, times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) assert.deepEqual(await give(guard, outcome), outcome)
}

function mustNotRun(): Promise<never> {
  return assert.fail('the gateway must not be called')
}

describe('outcomes', () => {
  it('are returned unchanged and counted', async () => {
    const guard = guardWith()
    const all = [accepted, refused, throttledNumber, throttledUs, notSent, thisMessage, ambiguous]
    for (const outcome of all) assert.deepEqual(await give(guard, outcome), outcome)
    assert.deepEqual(guard.counters, {
      calls: 7,
      accepted: 1,
      refused: 1,
      throttled: 2,
      not_sent: 2,
      ambiguous: 1,
      shedFull: 0,
      shedOpen: 0,
      timeouts: 0,
      opened: 0,
    })
  })

  it('treats an exception as ambiguous and hides its message', async () => {
    const guard = guardWith()
    const rejected = await guard.run(() => Promise.reject(new TypeError('to 13800138000')))
    assert.deepEqual(rejected, { kind: 'ambiguous', reason: 'exception:TypeError' })
    const thrown = await guard.run(() => {
      throw new RangeError('to 13800138000')
    })
    assert.deepEqual(thrown, { kind: 'ambiguous', reason: 'exception:RangeError' })
    assert.equal(guard.lastError?.reason, 'exception:RangeError')
    assert.ok(Math.abs(guard.lastError.at - Date.now()) < 60_000)
  })

  it('records no last error after a refusal', async () => {
    const guard = guardWith()
    for (const outcome of [accepted, refused, throttledNumber, thisMessage]) await give(guard, outcome)
    assert.equal(guard.lastError, undefined)
  })

  it('removes numbers and text from the last error', async () => {
    const guard = guardWith()
    await give(guard, { kind: 'ambiguous', reason: 'isp.ERR 张三 11010519491231002X +8613800138000' })
    assert.equal(guard.lastError?.reason, 'isp.ERR ?? #X ?#')
  })
})

describe('the breaker', () => {
  for (const [name, failure] of Object.entries({ ambiguous, notSent })) {
    it(`opens after five consecutive ${name} outcomes`, async () => {
      const guard = guardWith()
      await giveTimes(guard, failure, 4)
      assert.equal(guard.state, 'closed')
      await giveTimes(guard, failure, 1)
      assert.equal(guard.state, 'open')
      assert.deepEqual(await guard.run(mustNotRun), { kind: 'not_sent', reason: 'guard_open' })
      assert.deepEqual([guard.counters.opened, guard.counters.shedOpen], [1, 1])
    })
  }

  it('opens after exceptions', async () => {
    const guard = guardWith({ breakAfterConsecutiveFailures: 2 })
    await guard.run(() => Promise.reject(new Error('x')))
    await guard.run(() => Promise.reject(new Error('x')))
    assert.equal(guard.state, 'open')
  })

  it('does not open for refusals, limits and single requests', async () => {
    const guard = guardWith()
    for (const outcome of [refused, throttledNumber, throttledUs, thisMessage])
      await giveTimes(guard, outcome, 20)
    assert.equal(guard.state, 'closed')
  })

  it('starts counting again after a success', async () => {
    const guard = guardWith()
    for (const good of [accepted, refused, throttledNumber]) {
      await giveTimes(guard, ambiguous, 4)
      await giveTimes(guard, good, 1)
    }
    assert.equal(guard.state, 'closed')
  })

  it('allows one trial call after the pause and closes when it succeeds', async () => {
    const guard = guardWith({ breakAfterConsecutiveFailures: 1, halfOpenAfterMs: 300 })
    await giveTimes(guard, ambiguous, 1)
    await sleep(350)
    const trial = Promise.withResolvers<Outcome<string>>()
    const running = guard.run(() => trial.promise)
    assert.equal(guard.state, 'half-open')
    assert.deepEqual(await guard.run(mustNotRun), { kind: 'not_sent', reason: 'guard_open' })
    trial.resolve(accepted)
    assert.deepEqual(await running, accepted)
    assert.equal(guard.state, 'closed')
    await giveTimes(guard, accepted, 1)
  })

  it('opens again when the trial call fails', async () => {
    const guard = guardWith({ breakAfterConsecutiveFailures: 1, halfOpenAfterMs: 300 })
    await giveTimes(guard, ambiguous, 1)
    await sleep(350)
    await giveTimes(guard, notSent, 1)
    assert.equal(guard.state, 'open')
    assert.equal((await guard.run(mustNotRun)).kind, 'not_sent')
    assert.equal(guard.counters.opened, 2)
    await sleep(350)
    await giveTimes(guard, accepted, 1)
    assert.equal(guard.state, 'closed')
  })

  it('measures the pause by the monotonic clock', async (t) => {
    const guard = guardWith({ breakAfterConsecutiveFailures: 1, halfOpenAfterMs: 300 })
    const now = Date.now()
    await giveTimes(guard, ambiguous, 1)
    t.mock.method(Date, 'now', () => now + 3_600_000)
    assert.equal((await guard.run(mustNotRun)).kind, 'not_sent')
    t.mock.method(Date, 'now', () => now - 3_600_000)
    await sleep(350)
    await giveTimes(guard, accepted, 1)
  })
})

describe('the bulkhead', () => {
  it('limits running and queued calls and rejects the rest', async () => {
    const guard = guardWith({ maxConcurrent: 2, maxQueued: 1 })
    const order: string[] = []
    const gates = new Map<string, () => void>()
    const call = (name: string): Promise<Outcome<string>> =>
      guard.run(async () => {
        order.push(name)
        await new Promise<void>((resolve) => gates.set(name, resolve))
        return { kind: 'accepted', value: name }
      })
    const first = call('first')
    const second = call('second')
    const third = call('third')
    assert.deepEqual(await call('fourth'), { kind: 'not_sent', reason: 'guard_full' })
    assert.deepEqual(order, ['first', 'second'])
    gates.get('first')?.()
    await first
    await sleep(5)
    assert.deepEqual(order, ['first', 'second', 'third'])
    gates.get('second')?.()
    gates.get('third')?.()
    assert.deepEqual(await Promise.all([second, third]), [
      { kind: 'accepted', value: 'second' },
      { kind: 'accepted', value: 'third' },
    ])
    assert.equal(guard.state, 'closed')
    assert.deepEqual([guard.counters.shedFull, guard.counters.not_sent, guard.counters.accepted], [1, 1, 3])
  })

  it('does not open the breaker when it is full', async () => {
    const guard = guardWith({ maxConcurrent: 1, maxQueued: 0 })
    const gate = Promise.withResolvers<Outcome<string>>()
    const running = guard.run(() => gate.promise)
    for (let n = 0; n < 20; n += 1) assert.equal((await guard.run(mustNotRun)).kind, 'not_sent')
    gate.resolve(accepted)
    await running
    assert.equal(guard.state, 'closed')
  })

  it('rejects a call that waited too long and never sends it', async () => {
    const guard = guardWith({ maxConcurrent: 1, maxQueued: 5, timeoutMs: 200 })
    const forever = (): Promise<Outcome<string>> => new Promise(() => undefined)
    const first = guard.run(forever)
    await sleep(100)
    // The second begins when the first is over, while the third one is queued, and outlasts it.
    const second = guard.run(forever)
    let called = false
    const third = guard.run(async () => {
      called = true
      return accepted
    })
    assert.deepEqual(await Promise.all([first, third, second]), [
      { kind: 'ambiguous', reason: 'guard_timeout' },
      { kind: 'not_sent', reason: 'guard_queue_timeout' },
      { kind: 'ambiguous', reason: 'guard_timeout' },
    ])
    await sleep(20)
    assert.equal(called, false)
    await giveTimes(guard, accepted, 1)
  })

  it('rejects queued calls when the breaker opens', async () => {
    const guard = guardWith({ maxConcurrent: 1, maxQueued: 5, breakAfterConsecutiveFailures: 1 })
    const gate = Promise.withResolvers<Outcome<string>>()
    const running = guard.run(() => gate.promise)
    const waiting = [guard.run(mustNotRun), guard.run(mustNotRun)]
    gate.resolve(ambiguous)
    await running
    for (const outcome of await Promise.all(waiting)) {
      assert.deepEqual(outcome, { kind: 'not_sent', reason: 'guard_open' })
    }
  })
})

describe('the timeout', () => {
  it('is ambiguous, aborts the signal and counts as a failure', async () => {
    const guard = guardWith({ timeoutMs: 20, breakAfterConsecutiveFailures: 1 })
    let aborted = false
    const outcome = await guard.run<string>((signal) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => undefined)
    })
    assert.deepEqual(outcome, { kind: 'ambiguous', reason: 'guard_timeout' })
    assert.ok(aborted)
    assert.equal(guard.state, 'open')
    assert.deepEqual([guard.counters.timeouts, guard.lastError?.reason], [1, 'guard_timeout'])
  })

  it('ignores a call that fails after the timeout', async () => {
    const guard = guardWith({ timeoutMs: 10 })
    await guard.run(() => sleep(30).then(() => Promise.reject(new Error('late'))))
    await sleep(40)
    assert.equal(guard.counters.calls, 1)
  })

  it('returns ambiguous for an HTTP request that was sent', async (t) => {
    const fake = await startFakeUpstream(() => hang())
    t.after(() => fake.close())
    const outcome = await guardWith({ timeoutMs: 1_500 }).run((signal) => callThrough(fake.url, signal))
    assert.equal(outcome.kind, 'ambiguous')
    assert.equal(fake.requests.length, 1)
  })

  it('returns not_sent for an HTTP request that was still connecting', async (t) => {
    // Accepts TCP and never answers the TLS handshake.
    const silent = createServer((socket) => {
      socket.on('error', () => undefined)
      t.after(() => socket.destroy())
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    t.after(() => silent.close())
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/`
    const outcome = await guardWith({ timeoutMs: 100 }).run((signal) => callThrough(url, signal))
    assert.deepEqual(outcome, { kind: 'not_sent', reason: 'aborted' })
  })

  async function callThrough(url: string, signal: AbortSignal): Promise<Outcome<string>> {
    const result = await httpCall(
      { method: 'POST', url, headers: {}, body: 'x' },
      { timeoutMs: 10_000, signal },
    )
    return result.kind === 'response' ? { kind: 'accepted', value: result.body } : result
  }
})
