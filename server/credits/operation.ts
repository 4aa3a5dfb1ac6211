// The life of one paid call, as data: what is asked of the ledger and what it answers.
import type { ApiType } from '../../contract/credits.ts'
import type { Tx } from '../db/database.ts'

/** An answer as it went out, so that the same `Idempotency-Key` gets the very same one. */
export interface StoredAnswer {
  readonly status: number
  readonly body: unknown
}

export interface ChargeRequest<T = undefined> {
  readonly accountId: number
  readonly apiType: ApiType
  /** Which operation of which product, `sms.send` for instance. */
  readonly action: string
  readonly cost: number
  readonly requestId: string
  /** The key the caller showed. It must still be the account's key when the charge commits. */
  readonly keyHash?: string | undefined
  readonly idempotency?: { readonly key: string; readonly fingerprint: string } | undefined
  /** How long the operation may stay undecided. Without it the operation is settled by the charge itself. */
  readonly leaseMs?: number | undefined
  /** What commits together with the charge: rows of the product's own, and the answer for a later repeat. */
  readonly alongside?: AlongsideWork<T> | undefined
}

/** For one charge, or in a form in which it can be done for many at once. */
export type AlongsideWork<T> = ((tx: Tx, charged: Charged) => Promise<Alongside<T>>) | AnySharedWork<T>

/** Charges of one batch whose `run` is the same are handed to it together; it answers in their order. */
export interface SharedWork<I, T> {
  readonly run: (tx: Tx, items: readonly SharedItem<I>[]) => Promise<readonly Alongside<T>[]>
  readonly item: I
}

/** The same, when nobody needs to know what its items are. */
export interface AnySharedWork<T> {
  readonly run: SharedWork<never, T>['run']
  readonly item: unknown
}

export interface SharedItem<I> {
  readonly item: I
  readonly charged: Charged
}

export interface Charged {
  readonly operationId: number
  readonly remaining: number
  /** When, by the database's clock. */
  readonly at: number
}

export interface Alongside<T> {
  readonly value: T
  readonly answer?: StoredAnswer
}

export type ChargeResult<T> =
  | { readonly kind: 'charged'; readonly operationId: number; readonly remaining: number; readonly value: T }
  | { readonly kind: 'insufficient'; readonly remaining: number }
  /** The key was reset or cleared between the check and the charge. */
  | { readonly kind: 'key_invalid' }
  | Repeat

/** What the ledger knows of an `Idempotency-Key` that came before. */
export type Repeat =
  | { readonly kind: 'replay'; readonly answer: StoredAnswer }
  /** It ended without an answer: the process died, and the credits were given back. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'other_parameters' }
  | { readonly kind: 'running'; readonly retryAfterMs: number }
  /** Its lease is over and nobody has decided yet. */
  | { readonly kind: 'overdue'; readonly operationId: number }

export type OperationEnd =
  | { readonly state: 'settled'; readonly giveBack?: number }
  | { readonly state: 'refunded' }

/** `remaining` is the balance after credits went back; undefined when none did. */
export type AnswerAfterEnd = (remaining: number | undefined) => StoredAnswer

export interface EndRequest {
  readonly operationId: number
  readonly end: OperationEnd
  /** A function where the answer tells the balance, which is known only when the credits are back. */
  readonly answer?: StoredAnswer | AnswerAfterEnd | undefined
  /** How many requests may have reached an upstream for it. */
  readonly sends?: number
}

/** `ended` is false when somebody else (the sweeper) has decided before: nothing was changed then. */
export interface EndResult {
  readonly ended: boolean
  readonly givenBack: number
  /** The balance after credits went back; undefined when none did. */
  readonly remaining: number | undefined
}

/** What commits with an end: for one, or in a form in which it can be done for many at once. */
export type AfterEnd = ((tx: Tx, result: EndResult) => Promise<void>) | AnySharedEnd

/** Ends of one batch whose `run` is the same are handed to it together. */
export interface SharedEnd<I> {
  readonly run: (tx: Tx, items: readonly { readonly item: I; readonly result: EndResult }[]) => Promise<void>
  readonly item: I
}

export interface AnySharedEnd {
  readonly run: SharedEnd<never>['run']
  readonly item: unknown
}

export interface OpenOperation {
  readonly id: number
  readonly account_id: number
  readonly api_type: ApiType
  readonly action: string
  readonly cost: number
  readonly lease_until: number
}
