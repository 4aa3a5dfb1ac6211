// The credit ledger: grants, charges, ends and idempotency keys. It knows no product.
import { createHmac } from 'node:crypto'
import { type Actor, recordChange } from '../audit/audit.ts'
import { type ApiType, maxGrant } from '../../contract/credits.ts'
import { isOrderNumber } from '../../contract/payments.ts'
import { isRecord } from '../../contract/values.ts'
import type { Database, Tx } from '../db/database.ts'
import { invalidField } from '../http/errors.ts'
import { createChargeBatcher, createEndBatcher } from './batchers-store.ts'
import { createKnownBalances } from './charge/known-balances.ts'
import { createRepeats, type Repeats } from './charge/repeats.ts'
import { createResponseCipher } from './charge/response-cipher.ts'
import { chargeBatch, createPreviousCallFinder, type LedgerContext } from './charge/store.ts'
import { endBatch } from './end/store.ts'
import type {
  ChargeRequest,
  ChargeResult,
  EndRequest,
  EndResult,
  Idempotency,
  MovedCredits,
  PreviousCall,
} from './operation.ts'
import { addCredits, type CreditBalance, findBalance, findBalances } from './store.ts'

export interface Credits {
  balance(accountId: number, apiType: ApiType): Promise<CreditBalance>
  balances(accountId: number): Promise<CreditBalance[]>
  grant(change: CreditChange): Promise<CreditBalance>
  /** Takes unused credits away. */
  take(change: CreditChange): Promise<CreditBalance>
  /** Charges the cost, in one transaction with the product's rows. Concurrent charges share a transaction. */
  charge<T = undefined>(request: ChargeRequest<T>): Promise<ChargeResult<T>>
  /** Settles or refunds a held operation, or holds it longer. Concurrent ends share a transaction. */
  end(request: EndRequest): Promise<EndResult>
  /** Ends operations in a transaction of the caller. Results are in the order of the requests. */
  endIn(tx: Tx, requests: readonly EndRequest[]): Promise<EndResult[]>
  findPreviousCall(accountId: number, idempotency: Idempotency): Promise<PreviousCall | undefined>
  /** Accounts that repeat calls. */
  readonly repeats: Repeats
  /** Identifies an action with its parameters in any order. Keyed, because parameters contain personal data. */
  fingerprint(action: string, values: Readonly<Record<string, unknown>>): string
  /** As version 1.0 computed it: of all values, with the names in nested objects in the order that was sent. */
  olderFingerprint(action: string, values: Readonly<Record<string, unknown>>): string
  /** Called after the transaction that moved the credits has committed. */
  onMoved: ((moved: MovedCredits) => void) | undefined
}

export interface CreditChange {
  readonly accountId: number
  readonly apiType: ApiType
  readonly amount: number
  readonly actor: Actor
  readonly note?: string | undefined
}

export function createCredits(db: Database, secretKey: string): Credits {
  const context: LedgerContext = {
    cipher: createResponseCipher(secretKey),
    known: db.writeStatement && createKnownBalances(),
    onMoved: (moved) => credits.onMoved?.(moved),
  }
  const repeats = createRepeats()
  const charge = createChargeBatcher(db, context, repeats)

  function change(kind: 'grant' | 'adjust', request: CreditChange): Promise<CreditBalance | undefined> {
    const { actor, accountId, apiType, amount, note } = request
    requireAmount(amount)
    if (note !== undefined) requireOwnNote(note)
    const signed = kind === 'grant' ? amount : -amount
    return db.write(async (tx) => {
      const balance = await addCredits(tx, { accountId, apiType, kind, amount: signed, note: note ?? null })
      const action = kind === 'grant' ? 'credits.grant' : 'credits.take'
      if (balance) await recordChange(tx, actor, action, { accountId }, { api_type: apiType, amount })
      return balance
    })
  }

  const credits: Credits = {
    onMoved: undefined,
    balance: (accountId, apiType) => findBalance(db, accountId, apiType),
    balances: (accountId) => findBalances(db, accountId),
    async grant(request) {
      const balance = await change('grant', request)
      if (!balance) throw new Error(`account ${request.accountId} has no balance`)
      return balance
    },
    async take(request) {
      const balance = await change('adjust', request)
      if (balance) return balance
      throw invalidField('amount', {
        zh: '剩余额度不足以扣减',
        en: 'fewer credits are left than were to be taken',
      })
    },
    async charge<T>(request: ChargeRequest<T>) {
      if (!Number.isSafeInteger(request.cost) || request.cost < 0) throw new Error('a cost is a whole number')
      // A large charge has a transaction of its own, so that others do not wait for its rows.
      if (request.costs)
        return (await db.write((tx) => chargeBatch(tx, [request], context)))[0] as ChargeResult<T>
      return charge(request) as Promise<ChargeResult<T>>
    },
    end: createEndBatcher(db, context),
    endIn: (tx, requests) => endBatch(tx, requests, context),
    findPreviousCall: createPreviousCallFinder(db, context.cipher),
    repeats,
    fingerprint: (action, values) => digestOf(secretKey, action, sortNames(values)),
    olderFingerprint: (action, values) => digestOf(secretKey, action, values),
  }
  return credits
}

function digestOf(secretKey: string, action: string, values: Readonly<Record<string, unknown>>): string {
  const plain = Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, unknown] => [name, value instanceof Map ? sortByName([...value]) : value])
  return createHmac('sha256', secretKey)
    .update(JSON.stringify([action, sortByName(plain)]))
    .digest('hex')
}

/** Objects in lists and objects too: languages with unordered maps send the same names in another order. */
function sortNames<T>(value: T): T {
  if (Array.isArray(value)) return value.map(sortNames) as T
  if (!isRecord(value) || value instanceof Map) return value
  // Without a prototype, `__proto__` is a name like any other.
  const sorted = Object.create(null) as Record<string, unknown>
  for (const name of Object.keys(value).sort()) sorted[name] = sortNames(value[name])
  return sorted as T
}

function sortByName<T extends readonly [unknown, unknown]>(entries: T[]): T[] {
  return entries.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

/** An entry whose note is the number of an order is one of the order itself: `ledger check` would count this one too. */
function requireOwnNote(note: string): void {
  if (!isOrderNumber(note)) return
  throw invalidField('note', {
    zh: '备注不能只有订单号，否则会被当作该订单的流水，请再写上原因',
    en: 'a note of only an order number marks the entries of that order: add the reason',
  })
}

/** Positive, whole, and not so large that it must be a typing error. */
export function requireAmount(amount: number): void {
  if (Number.isSafeInteger(amount) && amount > 0 && amount <= maxGrant) return
  const problem = {
    zh: `数量必须是 1 至 ${maxGrant} 的整数`,
    en: `the amount must be a whole number from 1 to ${maxGrant}`,
  }
  throw invalidField('amount', problem)
}
