// Overdue operations are decided once, by the database's clock.
import { systemActor } from '../../audit/audit.ts'
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import type { Database, Engine } from '../../db/database.ts'
import { createJobs } from '../../jobs.ts'
import { checkLedger } from '../ledger/check-store.ts'
import { type Credits, createCredits } from '../credits.ts'
import { type Decide, createSweeper } from './sweeper.ts'

function sweeperOf(db: Database, credits: Credits, deciders: ReadonlyMap<string, Decide> = new Map()) {
  const errors: unknown[] = []
  const sweeper = createSweeper({
    db,
    credits,
    deciders,
    maxLeaseMs: 900_000,
    onError: (error) => errors.push(error),
  })
  return { sweeper, errors }
}

async function open(engine: Engine) {
  const fresh = await freshDatabase(engine)
  const credits = createCredits(fresh.db, 'a secret of thirty-two characters or more')
  const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
  await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 10 })
  const charge = async (leaseMs: number, action = 'test') => {
    const result = await credits.charge({
      accountId: id,
      apiType: 'sms',
      action,
      cost: 2,
      requestId: 'r',
      leaseMs,
    })
    assert.ok(result.kind === 'charged')
    return result.operationId
  }
  const remaining = async () => (await credits.balance(id, 'sms')).remaining
  return { ...fresh, credits, charge, remaining, [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose]() }
}

onEachEngine('sweeper', (engine) => {
  it('refunds overdue operations and leaves the others', async () => {
    await using t = await open(engine)
    await t.charge(0)
    await t.charge(60_000)
    assert.equal(await t.remaining(), 6)
    const { sweeper } = sweeperOf(t.db, t.credits)
    assert.equal(await sweeper.sweep(), 1)
    assert.equal(await t.remaining(), 8)
    assert.equal(await sweeper.sweep(), 0)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
  })

  it('refunds once when several processes sweep at the same time', async () => {
    await using t = await open(engine)
    await t.charge(0)
    await t.charge(0)
    const other = t.storage.open()
    const sweepers = [t.db, t.db, other].map((db) => sweeperOf(db, t.credits).sweeper)
    await Promise.all(sweepers.map((sweeper) => sweeper.sweep()))
    assert.equal(await t.remaining(), 10)
    assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
    await other.close()
  })

  it('calls the decider of the product, and continues after one fails', async () => {
    await using t = await open(engine)
    const settled = await t.charge(0, 'known')
    await t.charge(0, 'broken')
    await t.charge(0)
    const { sweeper, errors } = sweeperOf(
      t.db,
      t.credits,
      new Map<string, Decide>([
        [
          'known',
          async (operation) => {
            assert.equal(operation.id, settled)
            const { id: operationId, account_id: accountId } = operation
            await t.credits.end({ accountId, operationId, end: { state: 'settled' }, sends: 1 })
          },
        ],
        ['broken', () => Promise.reject(new Error('the gateway is unavailable'))],
      ]),
    )
    await sweeper.sweep()
    assert.equal(await t.remaining(), 6)
    assert.equal(errors.length, 1)
    assert.equal((await checkLedger(t.db, 60_000)).open, 1)
  })

  it('shortens leases that a clock set back has left in the far future', async () => {
    await using t = await open(engine)
    const id = await t.charge(60_000)
    await t.db.write((tx) =>
      tx.run('UPDATE operation SET lease_until = lease_until + 2592000000 WHERE id = ?', [id]),
    )
    await sweeperOf(t.db, t.credits).sweeper.sweep()
    const row = await t.db.one<{ left: number }>(`SELECT lease_until - ${t.db.now} AS "left" FROM operation`)
    assert.ok(row!.left <= 900_000)
  })

  it('runs as a job until the jobs are stopped', async () => {
    await using t = await open(engine)
    await t.charge(0)
    const { sweeper } = sweeperOf(t.db, t.credits)
    const jobs = createJobs(pino({ enabled: false }), new Registry())
    sweeper.start(jobs, 10)
    while ((await t.remaining()) < 10) await sleep(10)
    await jobs.stop()
    await t.charge(0)
    await sleep(100)
    assert.equal(await t.remaining(), 8, 'nothing sweeps any more')
  })
})
