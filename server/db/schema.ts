// The tables of both engines, one row type each. Stores take their row types from here: `Pick<Tables['link'], 'id' | 'code'>`.
//
// Times are milliseconds since 1970, flags are 0 or 1, JSON is text. A column that is null in some rows says so.
import type { ApiType } from '../../contract/credits.ts'
import type { AlertChannelKind, EventType, PlatformAlertType } from '../../contract/events.ts'
import type { Language } from '../../contract/text.ts'
import type { RedirectType } from '../../contract/shortlink.ts'
import type { TemplateState } from '../../contract/sms-text.ts'

type Flag = number
type Milliseconds = number
/** `2026-01-31`, Asia/Shanghai. */
type CalendarDay = string
type Json = string

export interface Tables {
  migration: {
    name: string
    applied_at: Milliseconds
    /** The oldest version that works with it; null: versions that know it. */
    oldest_version: string | null
  }
  service_process: {
    id: string
    version: string
    /** The most connections it opens to the database. */
    connections: number
    seen_at: Milliseconds
  }
  /** Facts about the installation, by name. */
  setting: { name: string; value: string }

  account: AccountTable
  credit: CreditTable
  operation: OperationTable
  ledger: LedgerTable
  /** How far a ledger is compacted: `operation_id` replaces the compacted operations, entries before `next_id` are done. */
  ledger_compaction: { account_id: number; api_type: ApiType; operation_id: number; next_id: number }
  redeem_batch: RedeemBatchTable
  redeem_code: RedeemCodeTable

  console_session: SessionTable
  audit: AuditTable
  request_log: RequestLogTable
  /** What a logged call can be found by: keyed hashes of phone numbers, serial numbers and short codes. */
  request_term: { account_id: number; term: string; request_id: string; at: Milliseconds }
  /** What unpaid calls of an account have added to the request log on a day, and how many were not recorded. */
  request_log_day: { account_id: number; day: CalendarDay; bytes: number; skipped: number }
  call_day: CallDayTable

  link: LinkTable
  link_code: LinkCodeTable
  link_domain: LinkDomainTable
  link_click: LinkClickTable
  /** The clicks of each link: people's in `clicks`, for sorting too. */
  link_total: { link_id: number; account_id: number; clicks: number; bots: number; previews: number }
  /** Clicks that are not yet added to `link_click`, many in a row. */
  link_click_journal: { id: number; is_aggregated: Flag; clicks: Json }
  /** Appends to the journal of the last day, so that a repeated append changes nothing. */
  link_click_batch: { id: string; at: Milliseconds }
  /** Salted hashes of one day's visitors; replaced by their number in `link_visitor_day` after the day. */
  link_visitor: { day: number; link_id: number; visitor: number }
  link_visitor_day: { link_id: number; day: number; visitors: number }
  link_salt: { day: number; salt: string }
  /** One row. SQLite triggers change `version` whenever a cached link may be stale. */
  link_change: { id: number; version: number }

  sms_template: TemplateTable
  sms_signature: SignatureTable
  sms_send: SendTable
  /** How many messages a number received in a period. */
  sms_number_count: { phone: string; period: string; count: number; ends_at: Milliseconds }

  identity_record: IdentityRecordTable

  domain_watch: WatchTable
  domain_verdict: { id: number; watch_id: number; verdict: DomainVerdict; at: Milliseconds }
  domain_run: DomainRunTable

  event: EventTable
  event_endpoint: EventEndpointTable
  event_delivery: EventDeliveryTable
  event_attempt: EventAttemptTable

  /** PostgreSQL only. */
  limit_bucket: LimitBucketTable
  /** PostgreSQL only. */
  limit_window: { key: string; attempts: number; started_at: Milliseconds; ends_at: Milliseconds }
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
}

interface AccountTable {
  id: number
  username: string
  /** The name without differences of case and width. Null for accounts that shared it when it became unique. */
  unique_name: string | null
  role: 'account' | 'operator'
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
  rate_limit: string | null
  /** Space-separated types of events that an endpoint of the account receives, or `*`. */
  event_types: string
  /** Percentages of the last grant at which low credits are reported, for example `20,5`. */
  alert_percents: string
  expiry_reported: string
  created_at: Milliseconds
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
  /** Null: the operation was never held. */
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

interface SessionTable {
  id: number
  token_hash: string
  account_id: number
  address: string
  agent: string
  created_at: Milliseconds
  seen_at: Milliseconds
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
}

interface LinkTable {
  id: number
  account_id: number
  code: string
  title: string
  target_url: string
  /** Empty: a_url leads to target_url too. */
  redirect_url_a: string
  redirect_type: RedirectType
  /** The ASCII forms that are sent in `Location`. */
  location_a: string
  location_b: string
  /** Empty: the address is on PUBLIC_URL. */
  host_a: string
  host_b: string
  created_at: Milliseconds
  updated_at: Milliseconds
}

/** Rows are never deleted: the primary key keeps a code from being assigned twice. */
interface LinkCodeTable {
  /** The code, decrypted by the permutation: new codes are neighbours in the index. */
  position: number
  link_id: number
  /** Null for the present code of a link. */
  retired_at: Milliseconds | null
  live_until: Milliseconds | null
}

interface LinkDomainTable {
  id: number
  host: string
  pool: 'a' | 'b'
  removed: Flag
  blocked: Flag
  blocked_at: Milliseconds | null
  probed_at: Milliseconds | null
  probe_failed: Flag
  added_at: Milliseconds
}

interface LinkClickTable {
  link_id: number
  /** Hours since 1970. A rolled-up day is stored in its first hour in Shanghai. */
  hour: number
  kind: 'person' | 'bot' | 'preview'
  device: string
  browser: string
  referrer: string
  clicks: number
}

interface TemplateTable {
  id: number
  /** Null: shared by the operator with all accounts. */
  account_id: number | null
  code: string
  name: string
  content: string
  /** List of names, in the order of their first appearance. */
  variables: Json
  status: TemplateState
  reason: string
  /** The provider's template id by gateway. */
  gateway_codes: Json
  /** Grows with every edit, so that a review applies to the text that was read. */
  revision: number
  created_at: Milliseconds
  updated_at: Milliseconds
}

/** One per account: the open request, or the last decided one. */
interface SignatureTable {
  id: number
  account_id: number
  sign_name: string
  status: TemplateState
  reason: string
  at: Milliseconds
}

interface SendTable {
  id: number
  account_id: number
  operation_id: number
  phone: string
  template_code: string
  template_params: Json
  sign_name: string
  parts: number
  /** The gateway that was called last, written before the call. */
  gateway: string
  /** The provider's id of the message. */
  gateway_id: string | null
  state: 'sending' | 'accepted' | 'delivered' | 'undelivered' | 'refused' | 'unknown'
  success: Flag
  /** 1 while the credits are held or spent, 0 after a refund. */
  charged: Flag
  problem: string
  problem_code: string
  created_at: Milliseconds
  /** When the delivery receipt arrived. */
  receipt_at: Milliseconds | null
}

/** Masks, a keyed hash and the verdict: never a name, never an identity number. */
interface IdentityRecordTable {
  id: number
  account_id: number
  name_mask: string
  number_mask: string
  person_hash: string
  /** Which generation of the hash key `person_hash` was computed with. */
  generation: number
  verdict: 'match' | 'mismatch' | 'no_record' | 'failed'
  gateway: string | null
  reason: string | null
  operation_id: number
  request_id: string
  at: Milliseconds
}

type DomainVerdict = 'passes' | 'blocked'

interface WatchTable {
  id: number
  /** 0 is the platform: its link domains are watched free of charge. */
  account_id: number
  /** As the account entered it. */
  address: string
  url: string
  host: string
  /** Why it is not checked at present; it resumes without action by the account. */
  pause_reason: 'no_credit' | 'expired' | 'suspended' | null
  /** 1: stopped by the account. */
  stopped: Flag
  /** Null: the interval of the settings. */
  every_minutes: number | null
  /** The last verdict. A check that failed does not change it. */
  verdict: DomainVerdict | null
  verdict_since: Milliseconds | null
  last_result: DomainVerdict | 'failed' | null
  checked_at: Milliseconds | null
  due_at: Milliseconds
  created_at: Milliseconds
}

/** A check of many addresses from the console. */
interface DomainRunTable {
  id: number
  account_id: number
  operation_id: number
  idempotency_key: string | null
  fingerprint: string
  at: Milliseconds
  total: number
  done: number
  finished: Flag
  /** Lists of the same length: the addresses, and the verdicts so far. */
  items: Json
  results: Json
  /** The number of results by verdict. */
  counts: Json
}

interface LimitBucketTable {
  account_id: number
  /** Thousandths of tokens, so that a millisecond's inflow is a whole number. */
  milli_tokens: number
  updated_at: Milliseconds
  per_second: number
  burst: number
  requested: number
  granted: number
}

interface EventTable {
  id: number
  /** The `webhook-id` of every attempt. */
  uid: string
  account_id: number
  type: EventType | PlatformAlertType
  data: Json
  /** Alerts with the same key are sent at most once an hour. */
  alert_key: string
  at: Milliseconds
}

interface EventEndpointTable {
  id: number
  account_id: number
  kind: 'webhook' | AlertChannelKind
  /** Encrypted, except for webhooks: the URL of a robot is a credential. */
  url: string
  /** Space-separated, or `*` for all. */
  event_types: string
  /** Encrypted. Null if the channel needs none. */
  secret: string | null
  /** Encrypted. Signs as well until `previous_until`. */
  previous_secret: string | null
  previous_until: Milliseconds | null
  state: 'unconfirmed' | 'active' | 'disabled'
  disabled_reason: 'gone' | 'failing' | 'rejected' | 'by_user' | 'unsubscribed' | null
  /** The first failure since the last success. */
  failing_since: Milliseconds | null
  /** Nothing is sent before this time: the receiver asked for a pause. */
  paused_until: Milliseconds
  /** Until when one process delivers to this endpoint. */
  lease_until: Milliseconds
  served_at: Milliseconds
  /** Of alerts. */
  language: Language
  /** Keyed hash of the code that confirms the channel. */
  confirm_hash: string | null
  confirm_attempts: number
  created_at: Milliseconds
}

interface EventDeliveryTable {
  id: number
  event_id: number
  endpoint_id: number
  account_id: number
  state: 'pending' | 'delivered' | 'failed'
  /** Recorded attempts since the delivery was created or sent again. */
  attempts: number
  due_at: Milliseconds
  created_at: Milliseconds
  ended_at: Milliseconds | null
  last_status: number | null
  last_error: string | null
}

interface EventAttemptTable {
  id: number
  delivery_id: number
  at: Milliseconds
  duration_ms: number
  /** HTTP status; null without a response. */
  status: number | null
  error: string | null
  /** The first characters of the response. */
  response: string
}
