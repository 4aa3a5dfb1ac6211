// Ledger compaction: fewer rows, the same balances and sums, a consistent ledger after every step.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { compactedNote } from '../../../contract/console/credits.ts'
import { systemActor } from '../../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import type { Database } from '../../db/database.ts'
import { createCompaction } from './compaction.ts'
import { type Chain, compactStep } from './compaction-store.ts'
import { compactedAction, type OldEntry, planRuns } from './compaction-plan.ts'
import { checkLedger } from './check-store.ts'
import { createCredits } from '../credits.ts'

const secret = 'a secret of thirty-two characters or more'
const longAgo = 500 * 86_400_000

interface Entry {
  readonly id: number
  readonly kind: string
  readonly amount: number
  readonly balance_after: number
  readonly operation_id: number | null
  readonly note: string | null
  readonly at: number
}

function entriesOf(db: Database, { account_id: id, api_type: type }: Chain): Promise<Entry[]> {
  return db.all<Entry>('SELECT * FROM ledger WHERE account_id = ? AND api_type = ? ORDER BY id', [id, type])
}

async function requireGood(db: Database): Promise<void> {
  assert.deepEqual((await checkLedger(db, 3_600_000)).problems, [])
}

/** Two grants, with charges before, between and after them: some refunded, some in part, one across the second grant. */
async function makeHistory(db: Database) {
  const credits = createCredits(db, secret)
  const account = await createAccount(db, systemActor, { username: 'payer' })
  const chain: Chain = { account_id: account.id, api_type: 'sms' }
  const grant = () =>
    credits.grant({ actor: systemActor, accountId: account.id, apiType: 'sms', amount: 100, note: '充值' })
  const charge = async (cost: number, held = false) => {
    const charged = await credits.charge({
      accountId: account.id,
      apiType: 'sms',
      action: 'sms.send',
      cost,
      requestId: 'r',
      ...(held ? { leaseMs: 3_600_000 } : {}),
    })
    assert.ok(charged.kind === 'charged')
    return charged.operationId
  }
  const end = (operationId: number, refund: number) =>
    credits.end({ accountId: account.id, operationId, end: { state: 'settled', refund } })
  await grant()
  for (let i = 0; i < 5; i += 1) await charge(2)
  await end(await charge(4, true), 4)
  await end(await charge(3, true), 1)
  const across = await charge(7, true)
  await grant()
  await end(across, 7)
  await charge(5)
  const makeOld = () =>
    db.write(async (tx) => {
      await tx.run(`UPDATE ledger SET at = at - ${longAgo} WHERE at > ${tx.now} - ${longAgo / 2}`)
      await tx.run(
        `UPDATE operation SET created_at = created_at - ${longAgo}, ended_at = ended_at - ${longAgo}
         WHERE created_at > ${tx.now} - ${longAgo / 2} AND action <> '${compactedAction}'`,
      )
    })
  return { credits, chain, grant, charge, end, makeOld }
}

onEachEngine('ledger compaction', (engine) => {
  it('leaves grants and one entry between them, with the same balances', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { credits, chain, makeOld } = await makeHistory(db)
    await makeOld()
    const before = await entriesOf(db, chain)
    const balance = await credits.balance(chain.account_id, 'sms')
    const removed = await createCompaction(db, 400).run()
    const after = await entriesOf(db, chain)
    assert.equal(before.length - after.length, removed)
    assert.deepEqual(
      after.map(({ kind, amount, note }) => [kind, amount, note]),
      [
        ['grant', 100, '充值'],
        ['charge', -19, compactedNote],
        ['grant', 100, '充值'],
        ['refund', 2, compactedNote],
      ],
    )
    for (const entry of after) {
      const same = before.find(({ id }) => id === entry.id)!
      assert.deepEqual([entry.at, entry.balance_after], [same.at, same.balance_after])
    }
    assert.deepEqual(await credits.balance(chain.account_id, 'sms'), balance)
    const operations = await db.all<{ action: string; cost: number; given_back: number }>(
      'SELECT action, cost, given_back FROM operation',
    )
    assert.deepEqual(operations, [{ action: compactedAction, cost: 19, given_back: 2 }])
    await requireGood(db)
  })

  it('continues where it stopped, with entries that have become old since', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, charge, end, makeOld } = await makeHistory(db)
    const open = await charge(6, true)
    await makeOld()
    const job = createCompaction(db, 400)
    await job.run()
    // The held operation stays, and so do new entries.
    assert.deepEqual(
      (await entriesOf(db, chain)).map(({ amount }) => amount),
      [100, -19, 100, 2, -6],
    )
    await charge(1)
    await end(open, 6)
    assert.equal(await job.run(), 0)
    await makeOld()
    await job.run()
    assert.deepEqual(
      (await entriesOf(db, chain)).map(({ amount }) => amount),
      [100, -19, 100, 1],
    )
    assert.equal((await db.all('SELECT id FROM operation')).length, 1)
    assert.equal(await job.run(), 0)
    await requireGood(db)
  })

  it('keeps entries younger than the setting', async () => {
    await using fresh = await freshDatabase(engine)
    const { chain } = await makeHistory(fresh.db)
    const before = await entriesOf(fresh.db, chain)
    assert.equal(await createCompaction(fresh.db, 400).run(), 0)
    assert.deepEqual(await entriesOf(fresh.db, chain), before)
    assert.deepEqual(await fresh.db.all('SELECT * FROM ledger_compaction'), [])
  })

  it('is consistent after every step, and a failed step changes nothing', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, makeOld } = await makeHistory(db)
    await makeOld()
    for (let steps = 0; ; steps += 1) {
      assert.ok(steps < 50)
      const before = await entriesOf(db, chain)
      await assert.rejects(
        db.write(async (tx) => {
          await compactStep(tx, chain, 400, 3)
          throw new Error('the process exits here')
        }),
      )
      assert.deepEqual(await entriesOf(db, chain), before)
      const { more } = await db.write((tx) => compactStep(tx, chain, 400, 3))
      await requireGood(db)
      if (!more) break
    }
    await createCompaction(db, 400).run()
    assert.equal((await entriesOf(db, chain)).length, 4)
    await requireGood(db)
  })

  it('runs in two processes at the same time, beside charges', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, charge, makeOld } = await makeHistory(db)
    for (let i = 0; i < 40; i += 1) await charge(1)
    await makeOld()
    const other = fresh.storage.open()
    try {
      await Promise.all([
        createCompaction(db, 400).run(),
        createCompaction(other, 400).run(),
        ...Array.from({ length: 20 }, () => charge(1)),
      ])
    } finally {
      await other.close()
    }
    await requireGood(db)
    assert.equal((await entriesOf(db, chain)).length, 4 + 20)
  })

  it('is found by the check when the sum is wrong', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { makeOld } = await makeHistory(db)
    await makeOld()
    await createCompaction(db, 400).run()
    await db.write((tx) => tx.run(`UPDATE operation SET cost = cost + 1 WHERE action = '${compactedAction}'`))
    assert.equal((await checkLedger(db, 3_600_000)).problems.length, 1)
  })
})

describe('the compaction plan', () => {
  const compacted = 1_000_000
  /** A chain by its operations: each is charged, and may be refunded some entries later. */
  const chains = fc
    .array(
      fc.record({
        cost: fc.nat(9),
        back: fc.option(fc.record({ part: fc.nat(9), later: fc.nat(6) })),
        grant: fc.boolean(),
        held: fc.boolean(),
      }),
      { maxLength: 20 },
    )
    .map((list) => {
      const entries: OldEntry[] = []
      const later: { at: number; entry: Omit<OldEntry, 'id'> }[] = []
      const put = (entry: Omit<OldEntry, 'id'>) => entries.push({ ...entry, id: entries.length + 1 })
      const none = { operation_id: null, state: null, cost: null, given_back: null }
      for (const [index, { cost, back, grant, held }] of list.entries()) {
        if (grant) put({ kind: 'grant', amount: 10, ...none })
        const refunded = held || !back ? 0 : Math.min(back.part, cost)
        const operation = {
          operation_id: index + 1,
          state: held ? 'held' : 'settled',
          cost,
          given_back: refunded,
        }
        put({ kind: 'charge', amount: -cost, ...operation })
        if (refunded > 0) {
          later.push({ at: index + back!.later, entry: { kind: 'refund', amount: refunded, ...operation } })
        }
        for (const one of later.filter(({ at }) => at === index)) put(one.entry)
      }
      return entries
    })

  it('merges adjacent entries only, changes no sum, and deletes only complete operations', () => {
    fc.assert(
      fc.property(chains, (entries) => {
        const { runs, operations, nextId } = planRuns(entries, compacted)
        const inRuns = entries.filter(({ id }) => runs.some((run) => run.firstId <= id && id <= run.lastId))
        assert.ok(inRuns.every(({ kind }) => kind !== 'grant'))
        assert.deepEqual(new Set(inRuns.map((entry) => entry.operation_id)), new Set(operations))
        const sum = (list: readonly { amount: number }[]) => list.reduce((all, { amount }) => all + amount, 0)
        assert.equal(sum(runs.map(({ net }) => ({ amount: net }))), sum(inRuns))
        assert.ok(sum(inRuns) <= 0)
        const left = entries.filter((entry) => entry.operation_id !== null && !inRuns.includes(entry))
        for (const entry of left) {
          assert.ok(entry.id >= nextId)
          assert.ok(!operations.includes(entry.operation_id!))
        }
      }),
      { numRuns: 500 },
    )
  })
})
