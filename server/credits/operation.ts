// A paid operation as data: the requests to the ledger and their results.
import type { ApiType, CapPeriod } from '../../contract/credits.ts'
import { hourMs } from '../../contract/time.ts'
import type { KeyRestrictions } from '../accounts/key-limits.ts'
import type { Tables } from '../db/schema.ts'
import type { TransactionWrite } from './batch-writer.ts'

/** How long an `Idempotency-Key` is remembered. */
export const keyLifetimeMs = 24 * hourMs

/** A response as it was sent, to be sent again for the same `Idempotency-Key`. Further properties are stored too. */
export interface StoredResponse {
  readonly status: number
  readonly body: unknown
}

export interface Idempotency {
  readonly key: string
  readonly fingerprint: string
  /** As version 1.0 stored it: its calls can be repeated during an update. */
  readonly olderFingerprint?: () => string
}

export interface ChargeRequest<T = undefined> {
  readonly accountId: number
  readonly apiType: ApiType
  /** The product's operation, for example `sms.send`. */
  readonly action: string
  readonly cost: number
  readonly requestId: string
  /** Hash of the API key that was sent. It must still be the account's key when the charge commits. */
  readonly keyHash?: string | undefined
  /** The account's row must still have this version. */
  readonly accountVersion?: string | undefined
  /** The limits of the key that the call was checked against. */
  readonly keyLimits?: KeyRestrictions | undefined
  readonly idempotency?: Idempotency | undefined
  /** How long the operation may stay held. Without a lease the charge settles it, unless it waits. */
  readonly leaseMs?: number | undefined
  /** The operation is held without a lease until the product starts one: its work waits in a queue. */
  readonly waits?: boolean | undefined
  /** One operation for each of these costs, charged together or not at all. `cost` is their sum. The first has the key. */
  readonly costs?: readonly number[] | undefined
  /** Writes rows of the product, and may return the response for replays. */
  readonly inSameTransaction?: TransactionWrite<Charge, Written<T>> | undefined
}

export interface Charge {
  readonly operationId: number
  /** All operations of a charge with several costs, in their order. */
  readonly operationIds?: readonly number[]
  readonly remaining: number
  /** Time of the charge by the database's clock. */
  readonly at: number
}

export interface Written<T> {
  readonly value: T
  readonly response?: StoredResponse
}

/** Why an account may not be charged. */
export type NotAllowed = 'suspended' | 'expired' | 'sms_disabled'

export type ChargeResult<T> =
  | { readonly kind: 'charged'; readonly operationId: number; readonly remaining: number; readonly value: T }
  | { readonly kind: 'insufficient'; readonly remaining: number }
  /** The account has a cap that the charge would exceed. */
  | { readonly kind: 'capped'; readonly period: CapPeriod }
  /** The key was reset or cleared between authentication and the charge. */
  | { readonly kind: 'key_invalid' }
  /** So were the limits of the key. */
  | { readonly kind: 'key_limits_changed'; readonly keyLimits: KeyRestrictions }
  /** The account no longer has the version that the request names. */
  | { readonly kind: 'account_changed' }
  /** The state of the account changed between authentication and the charge. */
  | { readonly kind: 'not_allowed'; readonly reason: NotAllowed }
  | PreviousCall

/** The state of an earlier call with the same `Idempotency-Key`. */
export type PreviousCall =
  | { readonly kind: 'replay'; readonly response: StoredResponse }
  /** It ended without a response: the process exited, and the credits were refunded. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'other_parameters' }
  | { readonly kind: 'running'; readonly retryAfterMs: number }
  /** Its lease has expired, and the sweeper has not decided it yet. */
  | { readonly kind: 'overdue'; readonly operationId: number }

export type OperationEnd =
  /** `refund` is the part of the cost that goes back to the account. */
  | { readonly state: 'settled'; readonly refund?: number }
  /** With `ifOverdue` only while the lease has expired: the call may have renewed it since the operation was read. */
  | { readonly state: 'refunded'; readonly ifOverdue?: boolean }
  /** Not an end yet: the operation cannot be decided, and waits for a receipt or for the end of a new lease. */
  | { readonly state: 'held'; readonly leaseMs: number }

/** `remaining` is the balance after a refund; undefined without one. */
export type ResponseAfterEnd = (remaining: number | undefined) => StoredResponse

export interface EndRequest {
  /** Of the operation. Ends of one account share their transactions. */
  readonly accountId: number
  readonly operationId: number
  readonly end: OperationEnd
  /** Stored for replays, unless there is one. A function when the response contains the balance after the refund. */
  readonly response?: StoredResponse | ResponseAfterEnd | undefined
  /** How many requests may have reached an upstream for it. */
  readonly sends?: number
  /** For an end that does not know whether the call has counted its own: after it the operation has at least this many. */
  readonly minSends?: number
  /** Writes rows of the product. */
  readonly inSameTransaction?: TransactionWrite<EndResult, void> | undefined
}

export interface EndResult {
  /** False when the operation was decided before, for example by the sweeper: nothing was changed. */
  readonly ended: boolean
  readonly refunded: number
  /** The balance after a refund; undefined without one. */
  readonly remaining: number | undefined
}

export type HeldOperation = Pick<Tables['operation'], 'id' | 'account_id' | 'api_type' | 'action' | 'cost'>

/** Credits charged or refunded by a committed transaction. */
export interface MovedCredits {
  readonly kind: 'charge' | 'refund'
  readonly apiType: ApiType
  readonly amount: number
}
