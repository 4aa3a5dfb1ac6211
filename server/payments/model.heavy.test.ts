// Random interleavings of payments, queries, refunds, faults of the provider and jumps of the clock, in two processes: the money
// that the provider moved is what the order says, and the credits follow it.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { dayMs, hourMs } from '../../contract/time.ts'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { startAlipay } from '../../test/support/fake-alipay.ts'
import type { Fault } from '../../test/support/fake-payments.ts'
import { startStripe } from '../../test/support/fake-stripe.ts'
import { startWechatpay } from '../../test/support/fake-wechatpay.ts'
import { createAccount, requireAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { createCredits } from '../credits/credits.ts'
import { checkLedger } from '../credits/ledger/check-store.ts'
import { findBalance } from '../credits/store.ts'
import { AppError } from '../http/errors.ts'
import { addPackage, removePackage } from './packages.ts'
import { createPayments } from './payments.ts'
import { leaseRefunds, listRefunds } from './refund-store.ts'
import { findOrder } from './store.ts'

class Killed extends Error {}

type Step =
  | { readonly do: 'pay' }
  | { readonly do: 'check'; readonly by: number }
  | { readonly do: 'refund'; readonly by: number; readonly amount: number }
  | { readonly do: 'send'; readonly by: number }
  | { readonly do: 'use'; readonly cost: number }
  | { readonly do: 'fault'; readonly fault: Fault }
  /** The process fails at one of its next writes. */
  | { readonly do: 'fail'; readonly by: number; readonly after: number }
  | { readonly do: 'remove package' }
  /** Hours by which the clock jumps. */
  | { readonly do: 'jump'; readonly hours: number }

const by = fc.nat(1)
const faults: readonly Fault[] = [
  'none',
  'silent_refund',
  'refund_refused',
  'refund_waits',
  'error',
  'unsigned',
  'down',
]
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: 'pay' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('check' as const), by }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fail' as const), by, after: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'remove package' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('refund' as const),
      by,
      amount: fc.constantFrom(1, 99, 100, 200, 500),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('send' as const), by }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('use' as const), cost: fc.integer({ min: 1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('fault' as const), fault: fc.constantFrom(...faults) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('jump' as const), hours: fc.integer({ min: -24, max: 24 }) }),
  },
)
/** The steps of an inner list run at the same time. */
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 14 })
const starts = { alipay: startAlipay, wechatpay: startWechatpay, stripe: startStripe }

onEachEngine('payments and refunds in any order', (engine) => {
  for (const provider of ['alipay', 'wechatpay', 'stripe'] as const) {
    it(`agree with ${provider} in the end`, { timeout: 900_000 }, async () => {
      await using fresh = await freshDatabase(engine)
      await using fake = await starts[provider]()
      const clock = { now: Date.now() }
      const db = withClock(fresh.db, clock)
      const config = readConfig({ ...fake.settings, PAYMENTS: provider, GATEWAY_TIMEOUT_MS: '300' })
      const writesLeft = [Infinity, Infinity]
      const processes = writesLeft.map((_all, index) => {
        const write: typeof fresh.db.write = (job) => {
          if (writesLeft[index] === 0) {
            writesLeft[index] = Infinity
            return Promise.reject(new Killed())
          }
          writesLeft[index]! -= 1
          return fresh.db.write(job)
        }
        const own = withClock({ ...fresh.db, write }, clock)
        return createPayments({ db: own, config, publicUrl: () => 'http://127.0.0.1:1' })
      })
      const credits = createCredits(db, 'a secret of thirty-two characters or more')
      const { leaseMs } = processes[0]!
      let accounts = 0

      await fc.assert(
        fc.asyncProperty(fc.boolean(), story, async (isPaid, batches) => {
          fake.fault = 'none'
          writesLeft.fill(Infinity)
          await removePackage(db, systemActor, 'p1').catch(() => undefined)
          await addPackage(db, systemActor, 'p1', { name: 'A', credits: { sms: 5 }, price: '5.00' })
          accounts += 1
          const { username } = await createAccount(db, systemActor, { username: `payer${accounts}` })
          const account = await requireAccount(db, username)
          const { orders } = processes[0]!
          const { id, number } = await orders.create(systemActor, account, { packageCode: 'p1', provider })
          const send = async (index: number) => {
            const leased = await db.write((tx) => leaseRefunds(tx, provider, { limit: 8, leaseMs }))
            for (const refund of leased) await processes[index]!.refunds.send(refund)
          }
          let used = 0
          const run = async (one: Step): Promise<unknown> => {
            clock.now += 20_000
            switch (one.do) {
              case 'pay':
                if (fake.trades.get(number)!.state === 'open') fake.pay(number)
                return
              case 'check':
                return processes[one.by]!.orders.check((await findOrder(db, number))!)
              case 'refund':
                return processes[one.by]!.refunds.request({ kind: 'operator', name: 'cli' }, number, {
                  amount: one.amount,
                  note: 'x',
                }).catch((error: unknown) => {
                  if (!(error instanceof AppError)) throw error
                })
              case 'send':
                return send(one.by)
              case 'use': {
                const request = {
                  accountId: account.id,
                  apiType: 'sms',
                  action: 'test',
                  requestId: 'r',
                } as const
                const charged = await credits.charge({ ...request, cost: one.cost })
                if (charged.kind === 'charged') used += one.cost
                return
              }
              case 'fault':
                fake.fault = one.fault
                return
              case 'fail':
                writesLeft[one.by] = one.after
                return
              case 'remove package':
                return removePackage(db, systemActor, 'p1').catch(() => undefined)
              case 'jump':
                clock.now += one.hours * hourMs
            }
          }
          const tryRun = (one: Step) =>
            run(one).catch((error: unknown) => {
              if (!(error instanceof Killed)) throw error
            })
          if (isPaid) {
            fake.pay(number)
            await run({ do: 'check', by: 0 })
          }
          for (const batch of batches) await Promise.all(batch.map(tryRun))

          fake.fault = 'none'
          writesLeft.fill(Infinity)
          for (let round = 0; round < 4; round += 1) {
            clock.now += dayMs
            await orders.check((await findOrder(db, number))!)
            await send(0)
          }
          const order = (await findOrder(db, number))!
          const trade = fake.trades.get(number)!
          const refunds = await listRefunds(db, id)
          const moved = [...trade.refunds.values()].reduce((sum, amount) => sum + amount, 0)
          assert.deepEqual(
            refunds.filter(({ state }) => state === 'pending'),
            [],
          )
          assert.equal(order.refunded, moved)
          const isGranted = order.granted_at !== null
          assert.equal(isGranted || order.state === 'refunded', trade.state === 'paid')
          const taken = refunds
            .filter(({ state }) => state === 'succeeded')
            .reduce((sum, one) => sum + ((JSON.parse(one.credits) as { sms?: number }).sms ?? 0), 0)
          const left = (isGranted ? 5 : 0) - taken - used
          assert.equal((await findBalance(db, account.id, 'sms')).remaining, left)
        }),
        { numRuns: 60 },
      )
      assert.deepEqual((await checkLedger(db, 0)).problems, [])
      assert.deepEqual(fake.problems, [])
    })
  }
})
