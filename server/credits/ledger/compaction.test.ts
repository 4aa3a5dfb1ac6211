// Carrying old entries over: fewer rows, the same balances, the same sums, a good ledger after every step.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import type { Database } from '../../db/database.ts'
import { openCarryOver } from './compaction.ts'
import { carryStep, type Chain } from './compaction-store.ts'
import { carriedAction, carriedNote, type OldEntry, planRuns } from './compaction-plan.ts'
import { checkLedger } from './check-store.ts'
import { openCredits } from '../credits.ts'

const secret = 'a secret of thirty-two characters or more'
const onError = (error: unknown) => assert.fail(String(error))
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

/** Two grants, with charges before, between and after them: some given back, some in part, one across the second grant. */
async function makeHistory(db: Database) {
  const credits = openCredits(db, secret)
  const account = await createAccount(db, { username: 'payer' })
  const chain: Chain = { account_id: account.id, api_type: 'sms' }
  const grant = () => credits.grant({ accountId: account.id, apiType: 'sms', amount: 100, note: '充值' })
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
  const end = (operationId: number, giveBack: number) =>
    db.write((tx) => credits.end(tx, { operationId, end: { state: 'settled', giveBack } }))
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
         WHERE created_at > ${tx.now} - ${longAgo / 2} AND action <> '${carriedAction}'`,
      )
    })
  return { credits, chain, grant, charge, end, makeOld }
}

onEachEngine('carrying over', (engine) => {
  it('leaves grants and one entry between them, with the balances that stood there', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { credits, chain, makeOld } = await makeHistory(db)
    await makeOld()
    const before = await entriesOf(db, chain)
    const balance = await credits.balance(chain.account_id, 'sms')
    const gone = await openCarryOver({ db, keepDays: 400, onError }).carry()
    const after = await entriesOf(db, chain)
    assert.equal(before.length - after.length, gone)
    assert.deepEqual(
      after.map(({ kind, amount, note }) => [kind, amount, note]),
      [
        ['grant', 100, '充值'],
        ['charge', -19, carriedNote],
        ['grant', 100, '充值'],
        ['refund', 2, carriedNote],
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
    assert.deepEqual(operations, [{ action: carriedAction, cost: 19, given_back: 2 }])
    await requireGood(db)
  })

  it('goes on where it stopped, with what has become old since', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, charge, end, makeOld } = await makeHistory(db)
    const open = await charge(6, true)
    await makeOld()
    const job = openCarryOver({ db, keepDays: 400, onError })
    await job.carry()
    // The open one stays, and so does what is new.
    assert.deepEqual(
      (await entriesOf(db, chain)).map(({ amount }) => amount),
      [100, -19, 100, 2, -6],
    )
    await charge(1)
    await end(open, 6)
    assert.equal(await job.carry(), 0)
    await makeOld()
    await job.carry()
    assert.deepEqual(
      (await entriesOf(db, chain)).map(({ amount }) => amount),
      [100, -19, 100, 1],
    )
    assert.equal((await db.all('SELECT id FROM operation')).length, 1)
    assert.equal(await job.carry(), 0)
    await requireGood(db)
  })

  it('keeps what is younger than the setting says', async () => {
    await using fresh = await freshDatabase(engine)
    const { chain } = await makeHistory(fresh.db)
    const before = await entriesOf(fresh.db, chain)
    assert.equal(await openCarryOver({ db: fresh.db, keepDays: 400, onError }).carry(), 0)
    assert.deepEqual(await entriesOf(fresh.db, chain), before)
    assert.deepEqual(await fresh.db.all('SELECT * FROM ledger_compaction'), [])
  })

  it('is good after every step, and a step that fails leaves nothing behind', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, makeOld } = await makeHistory(db)
    await makeOld()
    for (let steps = 0; ; steps += 1) {
      assert.ok(steps < 50)
      const before = await entriesOf(db, chain)
      await assert.rejects(
        db.write(async (tx) => {
          await carryStep(tx, chain, 400, 3)
          throw new Error('the process dies here')
        }),
      )
      assert.deepEqual(await entriesOf(db, chain), before)
      const { more } = await db.write((tx) => carryStep(tx, chain, 400, 3))
      await requireGood(db)
      if (!more) break
    }
    await openCarryOver({ db, keepDays: 400, onError }).carry()
    assert.equal((await entriesOf(db, chain)).length, 4)
    await requireGood(db)
  })

  it('runs in two processes at once, beside charges', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { chain, charge, makeOld } = await makeHistory(db)
    for (let i = 0; i < 40; i += 1) await charge(1)
    await makeOld()
    const other = fresh.storage.open()
    try {
      await Promise.all([
        openCarryOver({ db, keepDays: 400, onError }).carry(),
        openCarryOver({ db: other, keepDays: 400, onError }).carry(),
        ...Array.from({ length: 20 }, () => charge(1)),
      ])
    } finally {
      await other.close()
    }
    await requireGood(db)
    assert.equal((await entriesOf(db, chain)).length, 4 + 20)
  })

  it('is seen by the check when the sum does not fit', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const { makeOld } = await makeHistory(db)
    await makeOld()
    await openCarryOver({ db, keepDays: 400, onError }).carry()
    await db.write((tx) => tx.run(`UPDATE operation SET cost = cost + 1 WHERE action = '${carriedAction}'`))
    assert.equal((await checkLedger(db, 3_600_000)).problems.length, 1)
  })
})

describe('the plan', () => {
  const carried = 1_000_000
  /** A chain by its operations: each is charged, and may be given back some entries later. */
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
        const givenBack = held || !back ? 0 : Math.min(back.part, cost)
        const operation = {
          operation_id: index + 1,
          state: held ? 'held' : 'settled',
          cost,
          given_back: givenBack,
        }
        put({ kind: 'charge', amount: -cost, ...operation })
        if (givenBack > 0) {
          later.push({ at: index + back!.later, entry: { kind: 'refund', amount: givenBack, ...operation } })
        }
        for (const one of later.filter(({ at }) => at === index)) put(one.entry)
      }
      return entries
    })

  it('merges neighbours only, changes no sum, and takes operations whole or not at all', () => {
    fc.assert(
      fc.property(chains, (entries) => {
        const { runs, operations, nextId } = planRuns(entries, carried)
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
