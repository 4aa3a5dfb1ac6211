// Random interleavings of grants, charges, ends, crashes, sweeps and compaction against a model that only adds and subtracts.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { systemActor } from '../../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { compactStep } from './compaction-store.ts'
import { checkLedger, findLedgerProblems } from './check-store.ts'
import { findCheckpoint, moveCheckpoint, nextCheckpoint } from './checkpoint-store.ts'
import { type Credits, createCredits } from '../credits.ts'
import { createSweeper } from '../end/sweeper.ts'

type Action =
  | { readonly do: 'grant'; readonly amount: number }
  | { readonly do: 'take'; readonly amount: number }
  | { readonly do: 'charge'; readonly cost: number; readonly held: boolean }
  /** Ends one of the held operations, three times at the same time. */
  | { readonly do: 'end'; readonly pick: number; readonly how: 'settle' | 'part' | 'refund' }
  /** The process exits: its held operations are left to the sweeper. */
  | { readonly do: 'crash' }
  | { readonly do: 'sweep' }
  /** Every ended operation counts as old, a few entries per step. */
  | { readonly do: 'compact'; readonly perStep: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('grant' as const), amount: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('take' as const), amount: fc.integer({ min: 1, max: 10 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('charge' as const),
      cost: fc.integer({ min: 0, max: 6 }),
      held: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      pick: fc.nat(20),
      how: fc.constantFrom('settle' as const, 'part' as const, 'refund' as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'sweep' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('compact' as const), perStep: fc.integer({ min: 2, max: 12 }) }),
  },
)

/** The actions of an inner list run concurrently; the next list begins when all of them have ended. */
const story = fc.array(fc.array(action, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 })

interface Model {
  total: number
  used: number
  /** Operations this process still knows, by id. */
  readonly mine: Map<number, number>
  /** Operations that only the database knows. */
  readonly orphans: Map<number, number>
}

onEachEngine('ledger against a model', (engine) => {
  it('agrees with the model after every round', { timeout: 120_000 }, async () => {
    await using fresh = await freshDatabase(engine)
    let number = 0
    await fc.assert(
      fc.asyncProperty(story, async (rounds) => {
        number += 1
        await play(fresh.db, rounds, `model-${number}`)
        // The check reads all rows, so it does not run after every sequence. With a checkpoint it reads the last few.
        if (number % 20 === 0) assert.deepEqual((await checkLedger(fresh.db, 3_600_000)).problems, [])
        if (number % 3 > 0) return
        const since = await findCheckpoint(fresh.db)
        assert.deepEqual(await findLedgerProblems(fresh.db, fresh.db.now, 3_600_000, since), [])
        await moveCheckpoint(fresh.db, since, await nextCheckpoint(fresh.db, Date.now(), -60_000))
      }),
      { numRuns: engine === 'sqlite' ? 300 : 80 },
    )
    assert.deepEqual((await checkLedger(fresh.db, 3_600_000)).problems, [])
  })
})

async function play(db: Database, rounds: readonly (readonly Action[])[], username: string): Promise<void> {
  const credits = createCredits(db, 'a secret of thirty-two characters or more')
  const accountId = await insertPayer(db, username)
  const model: Model = { total: 0, used: 0, mine: new Map(), orphans: new Map() }
  for (const round of rounds) {
    const chargesOnly = round.every((one) => one.do === 'charge')
    const available = model.total - model.used
    const granted = await Promise.all(round.map((one) => perform(db, credits, accountId, model, one)))
    const { total, used, remaining } = await credits.balance(accountId, 'sms')
    assert.deepEqual({ total, used }, { total: model.total, used: model.used })
    assert.ok(remaining >= 0)
    if (!chargesOnly) continue
    if (db.engine === 'sqlite') assert.deepEqual(granted, chargeInOrder(round, available))
    else requireSomeOrder(round, granted, available)
  }
}

/** Which charges succeed when they are decided in the order of arrival. */
function chargeInOrder(round: readonly Action[], available: number): boolean[] {
  let left = available
  return round.map((one) => {
    const cost = one.do === 'charge' ? one.cost : 0
    if (cost > left) return false
    left -= cost
    return true
  })
}

/** On PostgreSQL, charges that one statement can write and those that have to be decided overtake each other. */
function requireSomeOrder(round: readonly Action[], granted: readonly boolean[], available: number): void {
  const costs = round.map((one) => (one.do === 'charge' ? one.cost : 0))
  const left = costs.reduce((sum, cost, i) => (granted[i] ? sum - cost : sum), available)
  assert.ok(left >= 0)
  // Refused charges may have come last, when the least was left.
  for (const [i, cost] of costs.entries()) assert.ok(granted[i] || cost > left, `refused ${cost} of ${left}`)
}

async function perform(
  db: Database,
  credits: Credits,
  accountId: number,
  model: Model,
  one: Action,
): Promise<boolean> {
  switch (one.do) {
    case 'grant':
      await credits.grant({ actor: systemActor, accountId, apiType: 'sms', amount: one.amount })
      model.total += one.amount
      return true
    case 'take': {
      const taken = await credits
        .take({ actor: systemActor, accountId, apiType: 'sms', amount: one.amount })
        .then(
          () => true,
          () => false,
        )
      if (taken) model.total -= one.amount
      return taken
    }
    case 'charge': {
      const lease = one.held ? { leaseMs: 3_600_000 } : {}
      const result = await credits.charge({
        accountId,
        apiType: 'sms',
        action: 'model',
        cost: one.cost,
        requestId: 'model',
        ...lease,
      })
      if (result.kind !== 'charged') return false
      model.used += one.cost
      if (one.held) model.mine.set(result.operationId, one.cost)
      return true
    }
    case 'end': {
      const picked = [...model.mine][one.pick % Math.max(1, model.mine.size)]
      if (!picked) return false
      const [operationId, cost] = picked
      model.mine.delete(operationId)
      const part = Math.floor(cost / 2)
      const end =
        one.how === 'refund'
          ? { state: 'refunded' as const }
          : { state: 'settled' as const, refund: one.how === 'part' ? part : 0 }
      const results = await Promise.all([1, 2, 3].map(() => credits.end({ accountId, operationId, end })))
      assert.equal(results.filter((result) => result.ended).length, 1)
      for (const { refunded } of results) model.used -= refunded
      return true
    }
    case 'crash':
      for (const [id, cost] of model.mine) model.orphans.set(id, cost)
      model.mine.clear()
      return true
    case 'sweep':
      return sweepOrphans(db, credits, model)
    case 'compact': {
      const chain = { account_id: accountId, api_type: 'sms' as const }
      let more = true
      while (more) ({ more } = await db.write((tx) => compactStep(tx, chain, -1, one.perStep)))
      return true
    }
  }
}

async function sweepOrphans(db: Database, credits: Credits, model: Model): Promise<boolean> {
  const orphans = new Map(model.orphans)
  model.orphans.clear()
  for (const [id, cost] of orphans) {
    await db.write((tx) => tx.run('UPDATE operation SET lease_until = 0 WHERE id = ?', [id]))
    model.used -= cost
  }
  const sweepers = [1, 2].map(() =>
    createSweeper({
      db,
      credits,
      maxLeaseMs: 3_600_000,
      deciders: new Map(),
      onError: (error) => assert.fail(String(error)),
    }),
  )
  await Promise.all(sweepers.map((sweeper) => sweeper.sweep()))
  return true
}

/** Without a password: hashing one for each sequence would take most of the time. */
function insertPayer(db: Database, username: string): Promise<number> {
  return db.write(async (tx) => {
    const row = await tx.one<{ id: number }>(
      `INSERT INTO account (username, role, password_hash, created_at) VALUES (?, 'account', '', 0) RETURNING id`,
      [username],
    )
    await tx.run(`INSERT INTO credit (account_id, api_type) VALUES (?, 'sms')`, [row!.id])
    return row!.id
  })
}
