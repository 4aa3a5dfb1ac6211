// Charges on SQLite: those of one turn of the event loop are one write job, which reads and writes each balance once.
//
// When one of them is refused by what commits with it, nothing of the job has happened, and every charge runs alone.
import { type Database, DatabaseUnavailable, type Tx } from '../db/database.ts'
import {
  chargeInTransaction,
  decideCharge,
  findBalanceAndKey,
  type HeldBalance,
  insertCharges,
  insertOperations,
  runAlongside,
  spend,
} from './charge-store.ts'
import type { ChargeRequest, ChargeResult } from './operation.ts'
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
        return chargeInTurn(tx, batch, seal)
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

interface Spending {
  readonly held: HeldBalance | undefined
  spent: number
}

async function chargeInTurn(
  tx: Tx,
  batch: readonly Pending[],
  seal: AnswerSeal,
): Promise<ChargeResult<unknown>[]> {
  const balances = new Map<string, Spending>()
  const accepted: { request: ChargeRequest<unknown>; remaining: number; place: number }[] = []
  const results: ChargeResult<unknown>[] = []
  for (const [place, { request }] of batch.entries()) {
    const name = `${request.accountId} ${request.apiType}`
    let known = balances.get(name)
    if (!known) {
      known = { held: await findBalanceAndKey(tx, request), spent: 0 }
      balances.set(name, known)
    }
    const refusal = decideCharge(request, known.held)
    if (refusal) {
      results[place] = refusal
      continue
    }
    known.spent += request.cost
    accepted.push({ request, remaining: (known.held!.remaining -= request.cost), place })
  }

  for (const { held, spent } of balances.values()) {
    if (held && spent > 0) {
      await spend(tx, { accountId: held.account_id, apiType: held.api_type, cost: spent })
    }
  }
  const ids = await insertOperations(
    tx,
    accepted.map(({ request }) => request),
  )
  const made = accepted.map(({ request, remaining }, index) => ({
    request,
    charged: { operationId: ids[index]!, remaining },
  }))
  await insertCharges(tx, made)
  const values = await runAlongside(tx, made, seal)
  for (const [index, { place }] of accepted.entries()) {
    results[place] = { kind: 'charged', ...made[index]!.charged, value: values[index] }
  }
  return results
}
