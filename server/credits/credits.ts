// The credit ledger as everyone else sees it: grant, charge, end, hold, repeat. It knows no product.
import { createHmac } from 'node:crypto'
import { type ApiType, largestGrant } from '../../contract/credits.ts'
import type { Database, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { chargeLanes } from './charge/lanes-store.ts'
import { type EndOne, openEnds } from './end/lanes-store.ts'
import { chargeQueue } from './charge/queue-store.ts'
import { findRepeat } from './charge/store.ts'
import type { ChargeRequest, ChargeResult, EndRequest, EndResult, Repeat, StoredAnswer } from './operation.ts'
import { answerSeal } from './charge/sealed-answer.ts'
import { addCredits, type Balance, endOperation, findBalance, findBalances, holdOperation } from './store.ts'

export interface Credits {
  balance(accountId: number, apiType: ApiType): Promise<Balance>
  balances(accountId: number): Promise<Balance[]>
  grant(change: CreditChange): Promise<Balance>
  /** Takes unused credits back. */
  take(change: CreditChange): Promise<Balance>
  /** Takes the price, in one transaction with everything that is only ours. */
  charge<T = undefined>(request: ChargeRequest<T>): Promise<ChargeResult<T>>
  /** Decides an open operation inside the caller's transaction, beside the caller's own rows. */
  end(tx: Tx, request: EndRequest): Promise<EndResult>
  /** The same in a transaction of its own, which many may share. */
  endSoon: EndOne
  /** Leaves an operation open that nobody can decide yet; false when it was decided already. */
  hold(
    tx: Tx,
    hold: { operationId: number; leaseMs: number; answer?: StoredAnswer; sends?: number },
  ): Promise<boolean>
  /** Asks, before anything else is checked, whether this call came before. */
  findRepeat(
    accountId: number,
    idempotency: { key: string; fingerprint: string },
  ): Promise<Repeat | undefined>
  /** What makes two calls "the same parameters". Keyed, because parameters hold personal data. */
  fingerprint(action: string, values: Readonly<Record<string, unknown>>): string
  /** Watched by the metrics. */
  onMoved: ((moved: { kind: 'charge' | 'refund'; apiType: ApiType; amount: number }) => void) | undefined
}

export interface CreditChange {
  readonly accountId: number
  readonly apiType: ApiType
  readonly amount: number
  readonly note?: string | undefined
  /** What commits together with it: the line of the audit log that tells of it. */
  readonly alongside?: ((tx: Tx) => Promise<void>) | undefined
}

export function openCredits(db: Database, secretKey: string): Credits {
  const seal = answerSeal(secretKey)
  const chargeOne = db.engine === 'postgres' ? chargeLanes(db, seal) : chargeQueue(db, seal)

  return {
    onMoved: undefined,
    balance: (accountId, apiType) => findBalance(db, accountId, apiType),
    balances: (accountId) => findBalances(db, accountId),
    async grant({ accountId, apiType, amount, note, alongside }) {
      requireAmount(amount)
      const balance = await db.write(async (tx) => {
        const after = await addCredits(tx, { accountId, apiType, kind: 'grant', amount, note: note ?? null })
        if (after) await alongside?.(tx)
        return after
      })
      if (!balance) throw new Error(`account ${accountId} has no balance`)
      return balance
    },
    async take({ accountId, apiType, amount, note, alongside }) {
      requireAmount(amount)
      const balance = await db.write(async (tx) => {
        const after = await addCredits(tx, {
          accountId,
          apiType,
          kind: 'adjust',
          amount: -amount,
          note: note ?? null,
        })
        if (after) await alongside?.(tx)
        return after
      })
      if (!balance) {
        throw new AppError(1002, {
          zh: '剩余额度不足以扣减',
          en: 'fewer credits are left than were to be taken',
        })
      }
      return balance
    },
    async charge(request) {
      if (!Number.isSafeInteger(request.cost) || request.cost < 0) throw new Error('a cost is a whole number')
      const result = await chargeOne(request)
      if (result.kind === 'charged')
        this.onMoved?.({ kind: 'charge', apiType: request.apiType, amount: request.cost })
      return result
    },
    end: (tx, request) => endOperation(tx, request, seal),
    endSoon: openEnds(db, seal),
    hold: (tx, hold) => holdOperation(tx, hold, seal),
    findRepeat: (accountId, idempotency) => findRepeat(db, accountId, idempotency, seal),
    fingerprint(action, values) {
      const plain = Object.entries(values)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]): [string, unknown] => [name, value instanceof Map ? byName([...value]) : value])
      return createHmac('sha256', secretKey)
        .update(JSON.stringify([action, byName(plain)]))
        .digest('hex')
    },
  }
}

function byName<T extends readonly [unknown, unknown]>(entries: T[]): T[] {
  return entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

/** More than nothing, whole, and not so much that it must be a slip. */
export function requireAmount(amount: number): void {
  if (Number.isSafeInteger(amount) && amount > 0 && amount <= largestGrant) return
  throw new AppError(1002, {
    zh: `数量须为 1 到 ${largestGrant} 的整数`,
    en: `the amount must be a whole number from 1 to ${largestGrant}`,
  })
}
