// After the fault: lets everything come to its end, as time and the vendors' receipts would bring it about.
import { setTimeout as sleep } from 'node:timers/promises'
import { admin } from '../support/service.ts'
import { meaningOf, spentOn } from './calls.ts'
import type { Entry } from './journal.ts'
import { sendCall } from './load.ts'
import type { World } from './world.ts'

/** For one answer. */
const patienceMs = 60_000

const parallel = 8

export interface LedgerCheck {
  readonly ok: boolean
  readonly open: number
  readonly operations: number
  readonly problems: readonly string[]
}

export async function settle(world: World): Promise<LedgerCheck> {
  world.gateways.setMood('well')
  await finishKeyed(world)
  const giveUpAt = performance.now() + world.settleMs
  for (;;) {
    await world.gateways.sendReceipts(world.slots[0]!.url)
    const check = await ledgerCheck(world)
    if (check.open === 0 || performance.now() > giveUpAt) return check
    await sleep(500)
  }
}

/** Customers who never heard the end of a call with a key ask again until they do. */
async function finishKeyed(world: World): Promise<void> {
  const unfinished = world.journal.entries.filter(
    ({ fate, idempotencyKey }) => idempotencyKey !== undefined && fate === 'unknown',
  )
  // Where keys have become old by a jump of the clock, a repeat would be a new call.
  if (world.epoch() > 0) return
  await inParallel(unfinished, (entry) => finish(world, entry))
}

async function finish(world: World, entry: Entry): Promise<void> {
  const giveUpAt = performance.now() + world.settleMs
  for (;;) {
    const { url } = world.random.pick(world.slots)
    const reply = await sendCall(entry, url, patienceMs, entry.customer.key)
    if (typeof reply !== 'string') {
      const meaning = meaningOf(entry.wish, reply)
      if (meaning !== 'running' && meaning !== 'unknown') {
        entry.fate = meaning
        entry.answer = reply
        entry.spent = meaning === 'success' ? spentOn(entry.wish, reply) : 0
        entry.requestId = undefined
        return
      }
      if (performance.now() > giveUpAt) {
        world.problems.push(`${entry.wish.subject}: a repeat still gets ${reply.status} long after the lease`)
        return
      }
    } else if (performance.now() > giveUpAt) {
      world.problems.push(`${entry.wish.subject}: a repeat gets no answer`)
      return
    }
    await sleep(250)
  }
}

export async function ledgerCheck(world: World): Promise<LedgerCheck> {
  const result = await admin(world.environment, 'ledger', 'check', '--json')
  if (result.stdout === '') throw new Error(`ledger check said nothing: ${result.stderr}`)
  return JSON.parse(result.stdout) as LedgerCheck
}

export async function inParallel<T>(items: readonly T[], job: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async (): Promise<void> => {
    for (const item of rest) await job(item)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
