// A clock that was ahead and is set back, for example a machine whose hardware clock has the local time.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dayMs, hourMs, minuteMs } from '../../contract/time.ts'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import {
  findSettledDays,
  insertReconciliation,
  leaseReconciliation,
  postponeReconciliation,
} from './reconciliation-store.ts'
import { hasDueRefund, insertRefund, leaseRefund, leaseRefunds, postponeRefund } from './refund-store.ts'
import { hasDueOrder, leaseOrders, planNextQuery, pullInQueries } from './schedule-store.ts'
import { findOrderById, insertOrder } from './store.ts'

const provider = 'alipay'
const lease = { limit: 1, leaseMs: 3 * minuteMs }

onEachEngine('payments after the clock was set back', (engine) => {
  async function open() {
    const fresh = await freshDatabase(engine)
    const clock = { now: Date.now() }
    const db = withClock(fresh.db, clock)
    const { id } = await db.write((tx) =>
      insertOrder(tx, {
        number: 'T0000001',
        accountId: 1,
        packageCode: 'p1',
        packageName: 'p1',
        credits: {},
        amount: 100,
        currency: 'CNY',
        provider,
        payToken: 't',
        ttlMs: 2 * hourMs,
        providerTtlMs: 2 * hourMs,
        firstQueryMs: 0,
      }),
    )
    return { db, clock, orderId: id, [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose]() }
  }

  it('an order is queried, although a killed process has leased it', async () => {
    await using opened = await open()
    const { db, clock, orderId } = opened
    const take = async () => [
      await hasDueOrder(db, provider),
      (await db.write((tx) => leaseOrders(tx, provider, lease))).map(({ id }) => id),
    ]
    clock.now += 8 * hourMs
    assert.deepEqual(await take(), [true, [orderId]])
    clock.now -= minuteMs
    assert.deepEqual(await take(), [false, []], 'a process works on it, and the clock was corrected a little')
    clock.now -= 8 * hourMs - 2 * minuteMs
    assert.deepEqual(await take(), [true, [orderId]])
  })

  it('an order is queried, although its query was planned by the clock ahead', async () => {
    await using opened = await open()
    const { db, clock, orderId } = opened
    const plan = () => db.write((tx) => planNextQuery(tx, orderId, [5, 3_600]))
    const pullIn = () => db.write(pullInQueries)
    await plan()
    assert.equal(await pullIn(), 0, 'it is queried as planned')
    const created = clock.now
    clock.now -= 30 * dayMs
    assert.equal(await hasDueOrder(db, provider), false)
    assert.equal(await pullIn(), 1)
    assert.equal(await hasDueOrder(db, provider), true)
    await plan()
    assert.deepEqual([await hasDueOrder(db, provider), await pullIn()], [false, 0])
    assert.equal((await findOrderById(db, orderId))?.next_query_at, clock.now + 6 * hourMs)
    clock.now = created
    await plan()
    assert.equal((await findOrderById(db, orderId))?.next_query_at, created + 5_000)
  })

  it('a refund is sent, although it was postponed or leased by a killed process', async () => {
    await using opened = await open()
    const { db, clock, orderId } = opened
    clock.now += 8 * hourMs
    const order = (await findOrderById(db, orderId))!
    const { id } = await db.write((tx) =>
      insertRefund(tx, order, { amount: 1, credits: {}, note: '', requestedBy: 'a' }),
    )
    const take = async () => [
      await hasDueRefund(db, provider),
      (await db.write((tx) => leaseRefunds(tx, provider, lease))).map((one) => one.id),
    ]
    assert.deepEqual(await take(), [true, [id]])
    assert.deepEqual(await take(), [false, []])
    clock.now -= 8 * hourMs
    assert.deepEqual(await take(), [true, [id]])

    clock.now += 8 * hourMs
    await db.write((tx) => postponeRefund(tx, id, { waitMs: 6 * hourMs, reason: '', ref: null }))
    assert.deepEqual(await take(), [false, []])
    clock.now -= 8 * hourMs
    assert.deepEqual(await take(), [true, [id]])

    clock.now += 8 * hourMs
    const send = async () => (await db.write((tx) => leaseRefund(tx, id, lease.leaseMs)))?.id
    assert.equal(await send(), id)
    assert.equal(await send(), undefined)
    clock.now -= 8 * hourMs
    assert.equal(await send(), id)
  })

  it('a day is reconciled, although it was postponed or leased by a killed process', async () => {
    await using opened = await open()
    const { db, clock } = opened
    const day = '2026-01-02'
    await db.write((tx) => insertReconciliation(tx, provider, day))
    const take = () =>
      db.write((tx) => leaseReconciliation(tx, provider, day, { leaseMs: 10 * minuteMs, dueOnly: true }))
    const isSettled = async () => (await findSettledDays(db, provider, day)).has(day)
    clock.now += 8 * hourMs
    assert.ok(await take())
    assert.deepEqual([await isSettled(), await take()], [true, undefined])
    clock.now -= 8 * hourMs
    assert.equal(await isSettled(), false)
    const row = (await take()) ?? assert.fail('leased')

    clock.now += 8 * hourMs
    await db.write((tx) => postponeReconciliation(tx, row, { waitMs: 6 * hourMs, reason: '' }))
    assert.deepEqual([await isSettled(), await take()], [true, undefined])
    clock.now -= 8 * hourMs
    assert.equal(await isSettled(), false)
    assert.ok(await take())
  })
})
