// Charges on SQLite: those of one turn of the event loop are one write job, which reads and writes each balance once.
//
// When one of them is refused by what commits with it, nothing of the job has happened, and every charge runs alone.
import { type Database, DatabaseUnavailable, type Tx } from '../../db/database.ts'
import {
  balanceName,
  chargeInTransaction,
  completeCharges,
  decideCharges,
  findBalanceAndKey,
  type HeldBalance,
  insertCharges,
  insertOperations,
  madeOf,
  spend,
} from './store.ts'
import type { ChargeRequest, ChargeResult } from '../operation.ts'
import type { AnswerSeal } from './sealed-answer.ts'

const batchLimit = 256

interface Pending {
  readonly request: ChargeRequest<unknown>
  readonly resolve: (result: ChargeResult<unknown>) => void
  readonly reject: (error: unknown) => void
}

export function chargeQueue(
  db: Database,
  seal: AnswerSeal,
): <T>(request: ChargeRequest<T>) => Promise<ChargeResult<T>> {
  let queue: Pending[] = []

  async function runNext(): Promise<void> {
    let batch: readonly Pending[] | undefined
    const take = (): readonly Pending[] => {
      const taken = queue.length <= batchLimit ? queue : queue.slice(0, batchLimit)
      queue = queue.slice(taken.length)
      if (queue.length > 0) void runNext()
      return taken
    }
    try {
      const results = await db.write((tx) => {
        // Taken as late as possible, and once: the job may be run again.
        batch ??= take()
        return chargeInTurn(
          tx,
          batch.map(({ request }) => request),
          seal,
        )
      })
      for (const [index, { resolve }] of batch!.entries()) resolve(results[index]!)
    } catch (error) {
      batch ??= take()
      for (const pending of batch) {
        if (error instanceof DatabaseUnavailable) pending.reject(error)
        else chargeAlone(pending.request).then(pending.resolve, pending.reject)
      }
    }
  }

  function chargeAlone<T>(request: ChargeRequest<T>): Promise<ChargeResult<T>> {
    return db.write((tx) => chargeInTransaction(tx, request, seal))
  }

  return <T>(request: ChargeRequest<T>) => {
    // Whether this one came before is looked up, and may be written, in a job of its own.
    if (request.idempotency) return chargeAlone(request)
    return new Promise<ChargeResult<T>>((resolve, reject) => {
      queue.push({ request, resolve, reject } as unknown as Pending)
      if (queue.length === 1) void runNext()
    })
  }
}

async function chargeInTurn(
  tx: Tx,
  batch: readonly ChargeRequest<unknown>[],
  seal: AnswerSeal,
): Promise<ChargeResult<unknown>[]> {
  const balances = new Map<string, HeldBalance | undefined>()
  for (const request of batch) {
    const name = balanceName(request)
    if (!balances.has(name)) balances.set(name, await findBalanceAndKey(tx, request))
  }
  const decided = decideCharges(batch, balances)
  for (const [, spenders] of Map.groupBy(decided.accepted, ({ request }) => balanceName(request))) {
    const cost = spenders.reduce((sum, { request }) => sum + request.cost, 0)
    await spend(tx, { ...spenders[0]!.request, cost })
  }
  const ids = await insertOperations(tx, decided.accepted)
  const made = madeOf(decided.accepted, ids)
  await insertCharges(tx, made)
  return completeCharges(tx, decided, made, seal)
}
