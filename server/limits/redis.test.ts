// A Redis that fails without closing its connections, like a machine without power or a network that drops everything.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { openFaultyProxy } from '../../test/support/faulty-proxy.ts'
import { noRedis, startRedis } from '../../test/support/redis.ts'
import { freePort } from '../../test/support/service.ts'
import { createSharedLimits } from './limits.ts'
import { openRedisStore } from './redis.ts'

/** So small that no tokens are drawn ahead. */
const limit = { perSecond: 1, burst: 10 }
/** Longer than a busy machine may stand still. */
const silenceMs = 2_000

function open(url: string) {
  const metrics = new Registry()
  const log = pino({ enabled: false })
  const limits = createSharedLimits(openRedisStore(url, 'test', silenceMs), { log, metrics })
  const isShared = async () => {
    const { values } = await metrics.getSingleMetric('tollgate_limits_shared')!.get()
    return values[0]?.value === 1
  }
  const untilShared = async () => {
    while (!(await isShared())) await sleep(20)
  }
  return { limits, isShared, untilShared, [Symbol.dispose]: () => limits.stop() }
}

describe('limits in Redis', { skip: noRedis, timeout: 60_000 }, () => {
  it('are counted locally while a connection is silent, and are shared again over a new one', async () => {
    await using server = await startRedis()
    await using proxy = await openFaultyProxy(server.url)
    using process = open(proxy.url)
    assert.equal((await process.limits.take(1, limit)).remaining, 9)

    proxy.dropTraffic('')
    proxy.restoreTraffic()
    assert.equal((await process.limits.take(1, limit)).remaining, 9, 'counted by this process alone')
    assert.equal(await process.isShared(), false)
    await process.untilShared()
  })

  it('are shared after a start while Redis was silent', async () => {
    await using server = await startRedis()
    await using proxy = await openFaultyProxy(server.url)
    proxy.dropTraffic('')
    using process = open(proxy.url)
    assert.ok((await process.limits.take(1, limit)).allowed)
    assert.equal(await process.isShared(), false)
    proxy.restoreTraffic()
    await process.untilShared()
  })

  it('an idle connection stays open', async () => {
    await using server = await startRedis()
    await using proxy = await openFaultyProxy(server.url)
    const store = openRedisStore(proxy.url, 'test', silenceMs)
    await store.ping()
    await sleep(3 * silenceMs)
    await store.ping()
    assert.equal(proxy.accepted(), 1)
    store.close()
  })

  it('a Redis that cannot be reached at the start fails at once', async () => {
    const store = openRedisStore(`redis://127.0.0.1:${await freePort()}`, 'test')
    await assert.rejects(store.ping())
    store.close()
  })
})
