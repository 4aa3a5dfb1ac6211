// Statements when the clock jumps: every entry is in one of them, and they go on from each other.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { dayMs, hourMs, minuteMs } from '../../contract/time.ts'
import { systemActor } from '../audit/audit.ts'
import { createAccountWithoutKey } from '../credits/create-account.ts'
import { createCredits } from '../credits/credits.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import type { Engine } from '../db/database.ts'
import { readRows } from './file.ts'
import { createStatements, monthOf } from './statements.ts'
import { listStatements } from './store.ts'

async function open(engine: Engine, start: string) {
  const fresh = await freshDatabase(engine)
  const clock = { now: Date.parse(start) }
  const db = withClock(fresh.db, clock)
  const first = [{ apiType: 'sms', amount: 100 }] as const
  const { id, username } = await createAccountWithoutKey(db, systemActor, { username: 'holder' }, first)
  const account = { id, username, created_at: clock.now }
  const credits = createCredits(db, 'secret')
  const statements = createStatements({ db, secretKey: 'secret' })
  const smsOf = (content: string) => {
    const { api_type: type, ...amounts } = readRows(content).find((row) => row.api_type === 'sms')!
    assert.equal(type, 'sms')
    return amounts
  }
  return {
    ...fresh,
    db,
    clock,
    account,
    credits,
    statements,
    freeze: () => statements.freezeAll(new AbortController().signal),
    charge: (cost: number) =>
      credits.charge({ accountId: id, apiType: 'sms', action: 'test', cost, requestId: 'r' }),
    grant: (amount: number) => credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount }),
    take: (amount: number) => credits.take({ actor: systemActor, accountId: id, apiType: 'sms', amount }),
    async chargeAndRefund(cost: number) {
      const request = {
        accountId: id,
        apiType: 'sms',
        action: 'test',
        requestId: 'r',
        leaseMs: minuteMs,
      } as const
      const charged = await credits.charge({ ...request, cost })
      if (charged.kind !== 'charged') return
      await credits.end({ accountId: id, operationId: charged.operationId, end: { state: 'refunded' } })
    },
    remaining: async () => (await credits.balance(id, 'sms')).remaining,
    async make(month: string) {
      const { content, isFinal } = await statements.make(account, month)
      return { ...smsOf(content), isFinal }
    },
    /** Frozen ones, oldest first. */
    async frozen() {
      const stored = await listStatements(db, id)
      return stored.reverse().map(({ content, digest }) => ({
        ...smsOf(content),
        digest,
        previous: /^previous,(.*)\r$/m.exec(content)![1],
      }))
    },
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

onEachEngine('statements when the clock jumps', (engine) => {
  it('have what came after a month was frozen early in the next month', async () => {
    await using t = await open(engine, '2026-11-20T12:00:00+08:00')
    // Eight hours ahead on the last evening of the month.
    t.clock.now = Date.parse('2026-12-01T04:00:00+08:00')
    await t.charge(10)
    await t.freeze()
    t.clock.now -= 8 * hourMs
    const november = { opening: 0, bought: 100, used: 0, refunded: 0, adjusted: 0, closing: 100 }
    assert.deepEqual(await t.make('2026-11'), { ...november, isFinal: true })
    await t.charge(20)
    await t.grant(7)
    await t.chargeAndRefund(3)
    await t.take(2)
    t.clock.now = Date.parse('2026-12-15T12:00:00+08:00')
    await t.charge(5)
    t.clock.now += minuteMs
    const december = { opening: 100, bought: 7, used: 38, refunded: 3, adjusted: -2, closing: 70 }
    assert.deepEqual(await t.make('2026-12'), { ...december, isFinal: false })
    t.clock.now = Date.parse('2027-01-01T01:00:00+08:00')
    await t.charge(1)
    await t.freeze()
    assert.deepEqual(await t.make('2026-11'), { ...november, isFinal: true })
    assert.deepEqual(await t.make('2026-12'), { ...december, isFinal: true })
    t.clock.now += 1
    assert.deepEqual(await t.make('2027-01'), {
      ...{ opening: 70, bought: 0, used: 1, refunded: 0, adjusted: 0, closing: 69 },
      isFinal: false,
    })
  })

  it('go on from one of version 1.0, which summed by time, without what earlier ones have', async () => {
    await using t = await open(engine, '2026-09-10T12:00:00+08:00')
    await t.charge(1)
    await t.charge(99)
    t.clock.now = Date.parse('2026-10-05T12:00:00+08:00')
    await t.grant(100)
    // The later entry has the earlier time.
    const end = Date.parse('2026-11-01T00:00:00+08:00')
    t.clock.now = end + 1
    await t.charge(2)
    t.clock.now = end - 1
    await t.charge(1)
    t.clock.now = end + hourMs
    await t.freeze()
    // Its closing was the balance once: in September.
    const content = (await listStatements(t.db, t.account.id))[0]!.content.replace(
      /^sms,.*\r$/m,
      'sms,0,100,1,0,0,99\r',
    )
    await t.db.write((tx) => tx.run(`UPDATE statement SET content = ? WHERE month = '2026-10'`, [content]))
    t.clock.now += hourMs
    await t.charge(5)
    t.clock.now += 1
    assert.deepEqual(await t.make('2026-11'), {
      ...{ opening: 99, bought: 0, used: 5, refunded: 0, adjusted: -2, closing: 92 },
      isFinal: false,
    })
  })

  it('end at the balance, whatever the clock does', { timeout: 240_000 }, async () => {
    const amount = fc.integer({ min: 1, max: 30 })
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constantFrom('charge', 'grant', 'take', 'back'), amount }),
      },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('wait'), amount: fc.integer({ min: 1, max: 20 }) }),
      },
      // Hours that the clock is ahead of or behind the true time from now on.
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant('skew'), amount: fc.integer({ min: -30, max: 30 }) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constantFrom('freeze', 'make'), amount: fc.constant(0) }),
      },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        await using t = await open(engine, '2026-01-25T12:00:00+08:00')
        let time = t.clock.now
        let skew = 0
        for (const { kind, amount: given } of steps) {
          // Every entry has a time of its own.
          time += 1
          if (kind === 'wait') time += given * dayMs
          if (kind === 'skew') skew = given * hourMs
          t.clock.now = time + skew
          if (kind === 'charge') await t.charge(given)
          if (kind === 'grant') await t.grant(given)
          if (kind === 'take') await t.take(given).catch(() => undefined)
          if (kind === 'back') await t.chargeAndRefund(given)
          if (kind === 'freeze') await t.freeze()
          if (kind === 'make') {
            const month = monthOf(t.clock.now)
            if (month >= monthOf(t.account.created_at)) await t.make(month)
          }
        }
        // The clock is right again, and a month passes.
        t.clock.now = time + 70 * dayMs
        await t.freeze()
        let [closing, previous] = [0, '']
        for (const one of await t.frozen()) {
          assert.equal(one.opening, closing)
          assert.equal(one.closing, one.opening + one.bought - one.used + one.refunded + one.adjusted)
          assert.ok(one.bought >= 0 && one.used >= 0 && one.refunded >= 0)
          assert.equal(one.previous, previous)
          ;({ closing, digest: previous } = one)
        }
        assert.equal(closing, await t.remaining())
        assert.deepEqual((await checkLedger(t.db, 0)).problems, [])
      }),
      { numRuns: engine === 'sqlite' ? 40 : 10 },
    )
  })
})
