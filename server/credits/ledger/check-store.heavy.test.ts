// `ledger check` finds and names each kind of damage.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemActor } from '../../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { admin, startService } from '../../../test/support/service.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { checkLedger, findLedgerProblems, renewCheckpoint } from './check-store.ts'
import { findCheckpoint, moveCheckpoint, nextCheckpoint, noCheckpoint } from './checkpoint-store.ts'
import { createCredits } from '../credits.ts'

const damages: readonly { what: string; sql: string; found: RegExp }[] = [
  {
    what: 'a balance changed directly',
    sql: 'UPDATE credit SET total = total + 5',
    found: /differs from the sum/,
  },
  {
    what: 'used credits without a charge',
    sql: `UPDATE credit SET used = used + 1 WHERE api_type = 'sms'`,
    found: /differs/,
  },
  {
    what: 'a missing entry',
    sql: `DELETE FROM ledger WHERE kind = 'charge'`,
    found: /differs|not charged exactly once/,
  },
  {
    what: 'a changed entry',
    sql: `UPDATE ledger SET balance_after = balance_after + 1 WHERE kind = 'charge'`,
    found: /chain/,
  },
  {
    what: 'a refund without its amount',
    sql: `UPDATE operation SET given_back = 1 WHERE state = 'settled'`,
    found: /its refund/,
  },
  {
    what: 'a missing operation',
    sql: `DELETE FROM operation WHERE state = 'settled'`,
    found: /does not exist/,
  },
  {
    what: 'an end without a time',
    sql: `UPDATE operation SET ended_at = NULL WHERE state = 'settled'`,
    found: /no clear end/,
  },
  {
    what: 'an operation held past its lease',
    sql: `UPDATE operation SET lease_until = 1 WHERE state = 'held'`,
    found: /past its lease/,
  },
  {
    what: 'a held operation without a lease and without a waiting message',
    sql: `UPDATE operation SET lease_until = NULL WHERE state = 'held'`,
    found: /no clear end/,
  },
  {
    what: 'a waiting message whose operation has ended',
    sql: `INSERT INTO sms_queue (send_id, batch_id, account_id, operation_id, planned_at, due_at)
      SELECT 1, 1, 1, id, 0, 0 FROM operation WHERE state = 'settled'`,
    found: /waits without a held operation/,
  },
  { what: 'a second send', sql: 'UPDATE operation SET sends = 2', found: /sent twice/ },
  {
    what: 'an entry without an account',
    sql: `UPDATE ledger SET account_id = 999 WHERE kind = 'charge'`,
    found: /no balance/,
  },
]

onEachEngine('ledger check', (engine) => {
  for (const { what, sql, found } of damages) {
    it(`finds ${what}`, async () => {
      await using fresh = await freshDatabase(engine)
      const credits = createCredits(fresh.db, 'a secret of thirty-two characters or more')
      const { id } = await createAccount(fresh.db, systemActor, { username: 'payer' })
      await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 10 })
      const charge = { accountId: id, apiType: 'sms', action: 'test', cost: 1, requestId: 'r' } as const
      await credits.charge(charge)
      await credits.charge({ ...charge, leaseMs: 60_000 })
      const before = await checkLedger(fresh.db, 0)
      assert.deepEqual(before, { ok: true, accounts: 1, operations: 2, entries: 3, open: 1, problems: [] })

      await fresh.db.write((tx) => tx.run(sql))
      const after = await checkLedger(fresh.db, 0)
      assert.equal(after.ok, false)
      assert.match(after.problems.join('\n'), found)
    })
  }

  it('after a checkpoint reads only what is new, and finds the same damage in it', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const credits = createCredits(db, 'a secret of thirty-two characters or more')
    const { id } = await createAccount(db, systemActor, { username: 'payer' })
    const charge = { accountId: id, apiType: 'sms', action: 'test', cost: 1, requestId: 'r' } as const
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 100 })
    await credits.charge(charge)
    const held = await credits.charge({ ...charge, cost: 5, leaseMs: 60_000 })
    assert.equal(held.kind, 'charged')

    assert.deepEqual(await nextCheckpoint(db, Date.now()), noCheckpoint, 'entries of running transactions')
    await moveCheckpoint(db, noCheckpoint, await nextCheckpoint(db, Date.now(), -60_000))
    const since = await findCheckpoint(db)
    assert.ok(since.entryId > 0 && since.operationId > 0)
    const problems = () => findLedgerProblems(db, db.now, 60_000, since)
    assert.deepEqual(await problems(), [])

    // An operation from before the checkpoint ends after it.
    const operationId = held.kind === 'charged' ? held.operationId : 0
    await credits.end({ accountId: id, operationId, end: { state: 'refunded' } })
    await credits.charge(charge)
    await credits.charge({ ...charge, leaseMs: 60_000 })
    assert.deepEqual(await problems(), [])

    for (const { sql, found } of damages) {
      // Some damages name every row; those of entries and operations are limited to new ones here.
      const table = /(?:UPDATE|FROM) (ledger|operation)\b/.exec(sql)?.[1]
      const first = table === 'ledger' ? since.entryId : since.operationId
      const limited =
        table === undefined ? sql : `${sql}${/WHERE/.test(sql) ? ' AND' : ' WHERE'} id > ${first}`
      await assert.rejects(
        db.write(async (tx) => {
          assert.ok((await tx.run(limited)) > 0, limited)
          const names = await findLedgerProblems(tx, db.now, 60_000, since)
          assert.match(names.join('\n'), found)
          throw new RangeError('undo')
        }),
        RangeError,
      )
    }

    // Damage before the checkpoint is found only by the check of everything.
    const oldCharge = `(SELECT MIN(id) FROM ledger WHERE kind = 'charge')`
    await db.write((tx) => tx.run(`UPDATE ledger SET amount = 0 WHERE id = ${oldCharge}`))
    assert.deepEqual(await problems(), [])
    assert.equal((await checkLedger(db, 60_000)).ok, false)
  })

  it('replaces a checkpoint that contradicts the ledger after everything was counted', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const credits = createCredits(db, 'a secret of thirty-two characters or more')
    const { id } = await createAccount(db, systemActor, { username: 'payer' })
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 100 })
    const next = await nextCheckpoint(db, Date.now(), -60_000)
    await moveCheckpoint(db, noCheckpoint, next)
    await db.write((tx) => tx.run('UPDATE ledger_checkpoint SET bought = 7'))
    assert.equal((await findLedgerProblems(db, db.now, 0, await findCheckpoint(db))).length, 1)
    assert.equal((await checkLedger(db, 0)).ok, true)
    await renewCheckpoint(db, next, 0)
    assert.deepEqual(await findCheckpoint(db), next)
    assert.deepEqual(await findLedgerProblems(db, db.now, 0, next), [])
  })
  it('gives the sweeper the time that two decisions of a provider that does not respond take', async () => {
    await using service = await startService(engine, { SWEEP_S: '3600' })
    const { db } = service.installation
    const { id } = await service.account({ sms: 1 })
    const charge = { accountId: id, apiType: 'sms', action: 'test', cost: 1, requestId: 'r' } as const
    await service.app.services.credits.charge({ ...charge, leaseMs: 60_000 })
    const endLease = (secondsAgo: number) =>
      db.write((tx) => tx.run(`UPDATE operation SET lease_until = ${tx.now} - ?`, [secondsAgo * 1_000]))
    await endLease(30)
    assert.equal((await admin(service.storage.environment, 'ledger', 'check')).code, 0)
    await endLease(600)
    const late = await admin(service.storage.environment, 'ledger', 'check')
    assert.equal(late.code, 1)
    assert.match(late.stdout, /past its lease/)
  })
})
