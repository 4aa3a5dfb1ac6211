// The tables of domain checks.
import type { Flag, Json, Milliseconds } from './columns.ts'

type StoredVerdict = 'passes' | 'blocked'

export interface DomainCheckTables {
  domain_watch: WatchTable
  domain_verdict: { id: number; watch_id: number; verdict: StoredVerdict; at: Milliseconds }
  domain_run: DomainRunTable
}

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
  verdict: StoredVerdict | null
  verdict_since: Milliseconds | null
  last_result: StoredVerdict | 'failed' | null
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
