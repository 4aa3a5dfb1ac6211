// One provider that does not respond delays neither the refunds of other operations nor other accounts.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { systemActor } from '../../audit/audit.ts'
import { freshDatabase, onEachEngine } from '../../../test/support/engines.ts'
import { createAccount } from '../../accounts/accounts.ts'
import type { Engine } from '../../db/database.ts'
import { createJobs } from '../../jobs.ts'
import { createCredits } from '../credits.ts'
import type { HeldOperation } from '../operation.ts'
import { createSweeper, type Decide } from './sweeper.ts'

async function open(engine: Engine) {
  const fresh = await freshDatabase(engine)
  const credits = createCredits(fresh.db, 'a secret of thirty-two characters or more')
  const createPayer = async (username: string) => {
    const { id } = await createAccount(fresh.db, systemActor, { username })
    await credits.grant({ actor: systemActor, accountId: id, apiType: 'sms', amount: 1_000 })
    return id
  }
  const charge = async (accountId: number, action: string, count: number) => {
    await Promise.all(
      Array.from({ length: count }, () =>
        credits.charge({ accountId, apiType: 'sms', action, cost: 1, requestId: 'r', leaseMs: 0 }),
      ),
    )
  }
  const remaining = async (accountId: number) => (await credits.balance(accountId, 'sms')).remaining
  const end = ({ id, account_id: accountId }: HeldOperation) =>
    credits.end({ accountId, operationId: id, end: { state: 'settled' } })
  const sweeperOf = (
    deciders: Readonly<Record<string, Decide>>,
    errors: unknown[],
    decideTimeoutMs?: number,
  ) =>
    createSweeper({
      db: fresh.db,
      credits,
      deciders: new Map(Object.entries(deciders)),
      maxLeaseMs: 900_000,
      onError: (error) => errors.push(error),
      ...(decideTimeoutMs === undefined ? {} : { decideTimeoutMs }),
    })
  return {
    ...fresh,
    createPayer,
    charge,
    remaining,
    end,
    sweeperOf,
    [Symbol.asyncDispose]: () => fresh[Symbol.asyncDispose](),
  }
}

const never = () => new Promise<void>(() => undefined)

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10))
}

onEachEngine('sweeper beside a provider that hangs', (engine) => {
  it('refunds the operations of other actions meanwhile', { timeout: 30_000 }, async () => {
    await using t = await open(engine)
    const [busy, other] = [await t.createPayer('busy'), await t.createPayer('other')]
    await t.charge(busy, 'hangs', 60)
    await t.charge(other, 'responds', 1)
    const sweeper = t.sweeperOf({ hangs: never, responds: async (one) => void (await t.end(one)) }, [], 500)
    const jobs = createJobs(pino({ enabled: false }), new Registry())
    sweeper.start(jobs, 10)
    await t.charge(other, 'no decider', 1)
    await until(async () => (await t.remaining(other)) === 999)
    assert.equal(await t.remaining(busy), 940)
    await jobs.stop()
  })

  it('asks for several operations at the same time, with a share for each account', async () => {
    await using t = await open(engine)
    const [busy, other] = [await t.createPayer('busy'), await t.createPayer('other')]
    await t.charge(busy, 'slow', 100)
    await t.charge(other, 'slow', 2)
    const asked: number[] = []
    let release = () => undefined as void
    const gate = new Promise<void>((resolve) => (release = resolve))
    const sweeper = t.sweeperOf(
      {
        async slow(operation) {
          asked.push(operation.account_id)
          await gate
          await t.end(operation)
        },
      },
      [],
    )
    const sweeping = sweeper.sweep()
    await until(() => asked.length >= 18)
    assert.equal(asked.filter((id) => id === other).length, 2)
    assert.equal(asked.filter((id) => id === busy).length, 16)
    release()
    assert.equal(await sweeping, 18)
  })

  it('gives up on a decision that takes too long, and tries it again later', async () => {
    await using t = await open(engine)
    const payer = await t.createPayer('payer')
    await t.charge(payer, 'hangs', 3)
    const errors: unknown[] = []
    let isBack = false
    const decide: Decide = async (operation) => (isBack ? void (await t.end(operation)) : never())
    const sweeper = t.sweeperOf({ hangs: decide }, errors, 1_000)
    assert.equal(await sweeper.sweep(), 0)
    assert.equal(errors.length, 3)
    isBack = true
    assert.equal(await sweeper.sweep(), 3)
  })
})
