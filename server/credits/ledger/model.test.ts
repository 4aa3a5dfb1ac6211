// Random interleavings of grants, charges, ends, crashes, sweeps and carrying over against a model that only adds and subtracts.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import type { Database } from '../../db/database.ts'
import { carryStep } from './compaction-store.ts'
import { checkLedger } from './check-store.ts'
import { type Credits, openCredits } from '../credits.ts'
import { openSweeper } from '../end/sweeper.ts'

type Action =
  | { readonly do: 'grant'; readonly amount: number }
  | { readonly do: 'take'; readonly amount: number }
  | { readonly do: 'charge'; readonly cost: number; readonly held: boolean }
  /** Ends one of the open operations, and tries it a second time at the same moment. */
  | { readonly do: 'end'; readonly pick: number; readonly how: 'settle' | 'part' | 'refund' }
  /** The process dies: what it held open is left to the sweeper. */
  | { readonly do: 'crash' }
  | { readonly do: 'sweep' }
  /** Everything that has ended counts as old, a few entries at a time. */
  | { readonly do: 'carry'; readonly atATime: number }

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
    arbitrary: fc.record({ do: fc.constant('carry' as const), atATime: fc.integer({ min: 2, max: 12 }) }),
  },
)

/** Each inner list happens at the same moment; the next one begins when all of it is answered. */
const story = fc.array(fc.array(action, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 })

interface Model {
  total: number
  used: number
  /** Operations this process still knows, by id. */
  readonly mine: Map<number, number>
  /** Operations nobody knows any more but the database. */
  readonly orphans: Map<number, number>
}

onEachEngine('ledger against a model', (engine) => {
  it('agrees after every round', { timeout: 120_000 }, async () => {
    await using fresh = await freshDatabase(engine)
    let number = 0
    await fc.assert(
      fc.asyncProperty(story, async (rounds) => {
        number += 1
        await play(fresh.db, rounds, `model-${number}`)
        // The check reads everything there is, so not every story can afford one.
        if (number % 20 === 0) assert.deepEqual((await checkLedger(fresh.db, 3_600_000)).problems, [])
      }),
      { numRuns: engine === 'sqlite' ? 300 : 80 },
    )
    assert.deepEqual((await checkLedger(fresh.db, 3_600_000)).problems, [])
  })
})

async function play(db: Database, rounds: readonly (readonly Action[])[], username: string): Promise<void> {
  const credits = openCredits(db, 'a secret of thirty-two characters or more')
  const accountId = await insertPayer(db, username)
  const model: Model = { total: 0, used: 0, mine: new Map(), orphans: new Map() }
  for (const round of rounds) {
    const chargesOnly = round.every((one) => one.do === 'charge')
    const room = model.total - model.used
    const granted = await Promise.all(round.map((one) => perform(db, credits, accountId, model, one)))
    const { total, used, remaining } = await credits.balance(accountId, 'sms')
    assert.deepEqual({ total, used }, { total: model.total, used: model.used })
    assert.ok(remaining >= 0)
    if (chargesOnly) assert.deepEqual(granted, greedy(round, room))
  }
}

/** What a room full of callers gets who are served in the order in which they came. */
function greedy(round: readonly Action[], room: number): boolean[] {
  let left = room
  return round.map((one) => {
    const cost = one.do === 'charge' ? one.cost : 0
    if (cost > left) return false
    left -= cost
    return true
  })
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
      await credits.grant({ accountId, apiType: 'sms', amount: one.amount })
      model.total += one.amount
      return true
    case 'take': {
      const taken = await credits.take({ accountId, apiType: 'sms', amount: one.amount }).then(
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
          : { state: 'settled' as const, giveBack: one.how === 'part' ? part : 0 }
      const results = await Promise.all([
        db.write((tx) => credits.end(tx, { operationId, end })),
        db.write((tx) => credits.end(tx, { operationId, end })),
      ])
      assert.equal(results.filter((result) => result.ended).length, 1)
      model.used -= results[0].givenBack + results[1].givenBack
      return true
    }
    case 'crash':
      for (const [id, cost] of model.mine) model.orphans.set(id, cost)
      model.mine.clear()
      return true
    case 'sweep':
      return sweepOrphans(db, credits, model)
    case 'carry': {
      const chain = { account_id: accountId, api_type: 'sms' as const }
      let more = true
      while (more) ({ more } = await db.write((tx) => carryStep(tx, chain, -1, one.atATime)))
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
    openSweeper({
      db,
      credits,
      sweepMs: 1,
      longestLeaseMs: 3_600_000,
      deciders: new Map(),
      onError: (error) => assert.fail(String(error)),
    }),
  )
  await Promise.all(sweepers.map((sweeper) => sweeper.sweep()))
  return true
}

/** Hashing a password for each story would take most of the time. */
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
