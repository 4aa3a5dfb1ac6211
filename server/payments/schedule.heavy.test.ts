// When an order is queried: a notification that comes while it is being queried is not forgotten.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { leaseOrders, planNextQuery, querySoon } from './schedule-store.ts'
import { findOrderById, insertOrder } from './store.ts'

const schedule = [1, 3_600]

onEachEngine('queries of an order', (engine) => {
  it('a notification during a query asks for another one soon', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { id } = await db.write((tx) =>
      insertOrder(tx, {
        number: 'T0000001',
        accountId: 1,
        packageCode: 'p1',
        packageName: 'p1',
        credits: {},
        amount: 100,
        currency: 'CNY',
        provider: 'alipay',
        payToken: 't',
        ttlMs: 7_200_000,
        providerTtlMs: 7_200_000,
        firstQueryMs: 0,
      }),
    )
    // The first query of the schedule is over.
    await db.write((tx) =>
      tx.run('UPDATE payment_order SET created_at = created_at - 2000 WHERE id = ?', [id]),
    )
    const lease = () => db.write((tx) => leaseOrders(tx, 'alipay', { limit: 1, leaseMs: 600_000 }))
    const nextQuery = async () => (await findOrderById(db, id))!
    const [leased] = await lease()
    assert.equal(leased?.id, id)
    await db.write((tx) => querySoon(tx, id, 2_000))
    await db.write((tx) => planNextQuery(tx, id, schedule, leased.next_query_at))
    const asked = await nextQuery()
    assert.ok(asked.next_query_at! < asked.created_at + 3_600_000, 'not as late as the schedule says')

    // Without a notification the schedule counts.
    await db.write((tx) => tx.run('UPDATE payment_order SET next_query_at = created_at WHERE id = ?', [id]))
    const [again] = await lease()
    await db.write((tx) => planNextQuery(tx, id, schedule, again!.next_query_at))
    const planned = await nextQuery()
    assert.equal(planned.next_query_at, planned.created_at + 3_600_000)
  })
})
