// The tables of the ledger and of redeem codes.
import type { ApiType } from '../../../contract/credits.ts'
import type { CalendarDay, Milliseconds } from './columns.ts'

export interface CreditTables {
  credit: CreditTable
  operation: OperationTable
  ledger: LedgerTable
  /** How far a ledger is compacted: `operation_id` replaces the compacted operations, entries before `next_id` are done. */
  ledger_compaction: { account_id: number; api_type: ApiType; operation_id: number; next_id: number }
  ledger_checkpoint: {
    account_id: number
    api_type: ApiType
    entry_id: number
    bought: number
    spent: number
  }
  redeem_batch: RedeemBatchTable
  redeem_code: RedeemCodeTable
}

interface CreditTable {
  account_id: number
  api_type: ApiType
  total: number
  used: number
  /** The balance after the last grant. */
  alert_base: number
  /** The lowest percentage of `alert_base` that was reported since; 101 if none was. */
  alerted_percent: number
  /** Credits that may be used in a day and in a month of Shanghai. Null: no cap. */
  daily_cap: number | null
  monthly_cap: number | null
  /** Day of the last charge; empty before the first. */
  usage_day: CalendarDay
  /** Used on that day, and in the month of it, less refunds. */
  used_on_day: number
  used_in_month: number
}

interface OperationTable {
  id: number
  account_id: number
  api_type: ApiType
  action: string
  cost: number
  /** The part of the cost that was refunded. */
  given_back: number
  state: 'held' | 'settled' | 'refunded'
  idempotency_key: string | null
  /** Hash of the parameters: a key may not be reused with others. */
  fingerprint: string | null
  /** The encrypted response for replays. */
  response: string | null
  /** Null: the operation was never held, or its work waits in a queue. */
  lease_until: Milliseconds | null
  /** How many messages went to a gateway under this operation. */
  sends: number
  request_id: string
  created_at: Milliseconds
  ended_at: Milliseconds | null
}

interface LedgerTable {
  id: number
  account_id: number
  api_type: ApiType
  kind: 'grant' | 'adjust' | 'charge' | 'refund'
  /** Signed: negative for a charge. */
  amount: number
  balance_after: number
  /** Null for grants and adjustments. */
  operation_id: number | null
  note: string | null
  at: Milliseconds
  /** The code that granted the credits. Entries that a process of an older version wrote during the update have none. */
  redeem_code_id: number | null
}

interface RedeemBatchTable {
  id: number
  api_type: ApiType
  amount: number
  count: number
  expires_on: CalendarDay | null
  note: string
  created_by: string
  created_at: Milliseconds
}

interface RedeemCodeTable {
  id: number
  batch_id: number
  code_hash: string
  hint: string
  state: 'unused' | 'redeemed' | 'revoked'
  account_id: number | null
  redeemed_at: Milliseconds | null
  revoked_at: Milliseconds | null
}
