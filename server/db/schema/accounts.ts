// The tables of accounts and their sessions, and the audit log.
import type { OperatorRole } from '../../../contract/console/roles.ts'
import type { SignInMethod } from '../../../contract/console/limits.ts'
import type { CalendarDay, Flag, Json, Milliseconds } from './columns.ts'

export interface AccountTables {
  account: AccountTable
  console_session: SessionTable
  account_contact: ContactTable
  account_note: NoteTable
  audit: AuditTable
  operator_token: OperatorTokenTable
  operator_call: OperatorCallTable
}

interface AccountTable {
  id: number
  username: string
  /** The name without differences of case and width. Null for accounts that shared it when it became unique. */
  unique_name: string | null
  role: 'account' | 'operator'
  /** Meaningful for operators only. */
  operator_role: OperatorRole
  password_hash: string
  key_hash: string | null
  /** The few characters of the API key that the console shows. */
  key_hint: string | null
  key_created_at: Milliseconds | null
  /** The last valid day, inclusive. */
  expires_on: CalendarDay | null
  suspended: Flag
  sms_enabled: Flag
  /** The SMS signature in use. */
  sign_name: string | null
  /** 1 once a number was on the account's SMS stop list. */
  has_stops: Flag
  rate_limit: string | null
  /** Scopes of the API key, separated by commas. Null: all. */
  scopes: string | null
  /** Addresses and CIDR ranges that the API key may be used from, separated by commas. Null: any. */
  allow_ips: string | null
  /** Prices that differ from those of the installation, for example `generate=2`. Null: none. */
  prices: string | null
  /** Space-separated types of events that an endpoint of the account receives, or `*`. */
  event_types: string
  /** Percentages of the last grant at which low credits are reported, for example `20,5`. */
  alert_percents: string
  expiry_reported: string
  created_at: Milliseconds
}

interface SessionTable {
  id: number
  token_hash: string
  account_id: number
  address: string
  agent: string
  created_at: Milliseconds
  seen_at: Milliseconds
  method: SignInMethod
  /** When the user last proved in this session who they are; null: not since the sign-in. */
  confirmed_at: Milliseconds | null
}

/** Whom operators call or write to. Account holders do not see it. */
interface ContactTable {
  account_id: number
  company: string
  name: string
  phone: string
  mail: string
  updated_at: Milliseconds
}

/** What operators noted about an account. */
interface NoteTable {
  id: number
  account_id: number
  at: Milliseconds
  author: string
  note: string
}

interface AuditTable {
  id: number
  at: Milliseconds
  /** An operator's user name, or `cli`. */
  actor: string
  action: string
  target: string
  note: string
  details: Json
}

interface OperatorTokenTable {
  id: number
  /** The operator who created it. */
  account_id: number
  name: string
  token_hash: string
  /** The few characters of the token that are shown. */
  hint: string
  /** Separated by commas. */
  scopes: string
  created_at: Milliseconds
  used_at: Milliseconds | null
  /** The last valid day; null: valid until it is revoked. */
  expires_on: string | null
}

interface OperatorCallTable {
  id: number
  /** Minus the id of the account for an operator in the console. */
  token_id: number
  /** Hash of the `Idempotency-Key`. */
  idempotency_key: string
  /** Hash of route and input. */
  fingerprint: string
  request_id: string
  /** The encrypted response. Null while the call runs, or when its process exited before it was stored. */
  response: string | null
  created_at: Milliseconds
}
