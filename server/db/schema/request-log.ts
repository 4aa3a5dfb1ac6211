// The tables of the request log and of the counters of calls.
import type { CalendarDay, Flag, Json, Milliseconds } from './columns.ts'

export interface RequestLogTables {
  request_log: RequestLogTable
  /** What a logged call can be found by: keyed hashes of phone numbers, serial numbers and short codes. */
  request_term: { account_id: number; term: string; request_id: string; at: Milliseconds }
  /** What unpaid calls of an account have added to the request log on a day, and how many were not recorded. */
  request_log_day: { account_id: number; day: CalendarDay; bytes: number; skipped: number }
  call_day: CallDayTable
}

/** Personal data is masked before it is stored. */
interface RequestLogTable {
  id: number
  account_id: number
  request_id: string
  at: Milliseconds
  endpoint: string
  action: string | null
  method: string
  status: number
  code: number
  ok: Flag
  message: string | null
  duration_us: number
  gateway: string | null
  charged: number
  given_back: number
  replayed: Flag
  idempotent: Flag
  address: string
  /** `console` for a call that a signed-in user made in the console. */
  source: 'api' | 'console'
  parameters: Json
  answer: Json | null
  steps: Json
}

/** Counts outlive the logged calls. Account 0 is the whole platform. */
interface CallDayTable {
  account_id: number
  day: CalendarDay
  endpoint: string
  code: number
  calls: number
  succeeded: number
  /** Successful calls that cost something. */
  paid: number
  credits: number
  /** How many of `calls` and `paid` were made in the console. */
  console_calls: number
  console_paid: number
}
