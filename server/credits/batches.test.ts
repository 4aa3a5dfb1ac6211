// Calls of one account share transactions in every path, so that its flood delays no other account.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemActor } from '../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { until } from '../../test/support/until.ts'
import { createAccount } from '../accounts/accounts.ts'
import type { Database, Engine } from '../db/database.ts'
import { checkLedger } from './ledger/check-store.ts'
import { createCredits } from './credits.ts'
import { createSweeper } from './end/sweeper.ts'
import type { OperationEnd } from './operation.ts'

const secret = 'a secret of thirty-two characters or more'
const calls = 200

async function open(engine: Engine) {
  const fresh = await freshDatabase(engine)
  const credits = createCredits(fresh.db, secret)
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  for (const apiType of ['sms', 'short_link'] as const)
    await credits.grant({ actor: systemActor, accountId: id, apiType, amount: 10_000 })
  const chargeAll = (leaseMs: number) =>
    Promise.all(
      Array.from({ length: calls }, async () => {
        const charged = await credits.charge({
          accountId: id,
          apiType: 'sms',
          action: 'test',
          cost: 2,
          requestId: 'r',
          leaseMs,
        })
        assert.ok(charged.kind === 'charged')
        return charged.operationId
      }),
    )
  return {
    ...fresh,
    id,
    credits,
    chargeAll,
    remaining: async () => (await credits.balance(id, 'sms')).remaining,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

async function countCommits(db: Database, work: () => Promise<unknown>): Promise<number> {
  let commits = 0
  db.stats.onCommit = () => (commits += 1)
  await work()
  db.stats.onCommit = undefined
  return commits
}

onEachEngine('batches', (engine) => {
  it('settles, refunds, refunds in part and holds 200 operations of one account in a few transactions', async () => {
    await using t = await open(engine)
    const ends: readonly OperationEnd[] = [
      { state: 'held', leaseMs: 60_000 },
      { state: 'settled' },
      { state: 'settled', refund: 1 },
      { state: 'refunded' },
    ]
    for (const end of ends) {
      const operations = await t.chargeAll(60_000)
      const commits = await countCommits(t.db, () =>
        Promise.all(
          operations.map((operationId) => t.credits.end({ accountId: t.id, operationId, end, sends: 1 })),
        ),
      )
      // On PostgreSQL, 200 are written in halves: 100, 50, 32 and 18.
      assert.ok(commits <= 4, `${end.state}: ${commits} transactions`)
    }
    assert.equal(await t.remaining(), 10_000 - calls * (2 + 2 + 1))
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('refunds 200 overdue operations of one account in a few transactions', async () => {
    await using t = await open(engine)
    await t.chargeAll(0)
    const sweeper = createSweeper({
      db: t.db,
      credits: t.credits,
      deciders: new Map(),
      maxLeaseMs: 900_000,
      onError: (error) => assert.fail(String(error)),
    })
    const commits = await countCommits(t.db, () => sweeper.sweep())
    assert.ok(commits <= 6, `${commits} transactions`)
    assert.equal(await t.remaining(), 10_000)
  })

  it('decides several requests for one operation in a batch in their order', async () => {
    await using t = await open(engine)
    const [operationId] = (await t.chargeAll(60_000)) as [number]
    const request = { accountId: t.id, operationId }
    const results = await Promise.all([
      t.credits.end({ ...request, end: { state: 'held', leaseMs: 60_000 }, sends: 1 }),
      t.credits.end({ ...request, end: { state: 'settled' }, minSends: 1 }),
      t.credits.end({ ...request, end: { state: 'refunded' } }),
    ])
    assert.deepEqual(
      results.map(({ ended }) => ended),
      [true, true, false],
    )
    const row = await t.db.one<{ state: string; sends: number }>(
      'SELECT state, sends FROM operation WHERE id = ?',
      [operationId],
    )
    assert.deepEqual({ ...row }, { state: 'settled', sends: 1 })
  })

  it('never deadlocks when two processes end the same operations in opposite order', async () => {
    await using t = await open(engine)
    const other = t.storage.open()
    const credits = createCredits(other, secret)
    for (let round = 0; round < 5; round += 1) {
      const operations = await t.chargeAll(60_000)
      const endAll = (one: typeof credits, ids: readonly number[]) =>
        ids.map((operationId) => one.end({ accountId: t.id, operationId, end: { state: 'refunded' } }))
      const results = await Promise.all([
        ...endAll(t.credits, operations),
        ...endAll(credits, operations.toReversed()),
      ])
      assert.equal(results.filter(({ ended }) => ended).length, calls)
    }
    await other.close()
    assert.equal(await t.remaining(), 10_000)
    if (engine === 'postgres') {
      // The other connections have reported: they are closed.
      const row = await t.db.one<{ deadlocks: number }>(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      )
      assert.equal(row?.deadlocks, 0)
    }
  })

  it('charges once for one Idempotency-Key on different operations of two processes', async () => {
    await using t = await open(engine)
    const other = t.storage.open()
    const credits = createCredits(other, secret)
    for (let round = 0; round < 60; round += 1) {
      const results = await Promise.all(
        [t.credits, credits].map((one, i) =>
          one.charge({
            accountId: t.id,
            apiType: i === 0 ? 'sms' : 'short_link',
            action: `test.${i}`,
            cost: 1,
            requestId: 'r',
            idempotency: { key: `key-${round}`, fingerprint: `f${i}` },
          }),
        ),
      )
      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ['charged', 'other_parameters'])
    }
    await other.close()
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })
})

it('a charge with an Idempotency-Key runs again after a deadlock', async () => {
  await using t = await open('postgres')
  const other = t.storage.open()
  const charge = (key: string) =>
    t.credits.charge({
      accountId: t.id,
      apiType: 'sms',
      action: 'test',
      cost: 1,
      requestId: 'r',
      idempotency: { key, fingerprint: 'f' },
    })
  // The first charge on a connection takes longer.
  assert.equal((await charge('first')).kind, 'charged')
  const isWaiting = async () =>
    (
      await other.all(
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
    ).length > 0
  let charging: ReturnType<typeof charge> | undefined
  await other.write(async (tx) => {
    // Opposite to the order of a charge, which waits first and so finds the deadlock.
    await tx.all(`SELECT 1 FROM credit WHERE account_id = ? AND api_type = 'sms' FOR UPDATE`, [t.id])
    charging ??= charge('second')
    await until(isWaiting)
    await tx.run('UPDATE account SET suspended = suspended WHERE id = ?', [t.id])
  })
  assert.equal((await charging)?.kind, 'charged')
  // The server counts them with a delay.
  const countDeadlocks = `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`
  await until(async () => (await t.db.one<{ deadlocks: number }>(countDeadlocks))!.deadlocks > 0)
  assert.equal(await t.remaining(), 9_998)
  await other.close()
})
