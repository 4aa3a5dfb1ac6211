// Locks the balances of a batch of charges, together with their accounts.
import type { ApiType } from '../../../contract/credits.ts'
import type { Tx } from '../../db/database.ts'
import { forUpdate, jsonObject, rowVersion, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import type { CountedUsage } from './caps-store.ts'

type ChargedAccount = Pick<
  Tables['account'],
  'suspended' | 'expires_on' | 'sms_enabled' | 'scopes' | 'allow_ips' | 'event_types' | 'alert_percents'
>

type WatchedBalance = Pick<
  Tables['credit'],
  'alert_base' | 'alerted_percent' | 'daily_cap' | 'monthly_cap'
> & { readonly remaining_before: number }

/** What may refuse a charge or follow it. */
export type Settings = ChargedAccount & WatchedBalance

/** A balance with the key of its account, locked by this transaction. */
export type LockedBalance = Pick<Tables['credit'], 'account_id' | 'api_type'> &
  Pick<Tables['account'], 'key_hash'> &
  CountedUsage & {
    remaining: number
    /** The time of the charge by the database's clock. */
    readonly at: number
    /** Undefined where all of them have their defaults, as for most accounts: reading eleven more columns takes 3 µs. */
    readonly settings: Settings | undefined
    /** Of the account's row; null on SQLite. */
    readonly version: string | null
  }

type BalanceRow = Omit<LockedBalance, 'settings'> & { readonly settings: string | null }

/** Conditions on an account `a` and its balance `c`: no settings. */
export const areDefaults = `a.suspended = 0 AND a.expires_on IS NULL AND a.sms_enabled = 1 AND a.scopes IS NULL
  AND a.allow_ips IS NULL AND a.event_types = '' AND c.daily_cap IS NULL AND c.monthly_cap IS NULL`

const settingsJson = jsonObject({
  suspended: 'a.suspended',
  expires_on: 'a.expires_on',
  sms_enabled: 'a.sms_enabled',
  scopes: 'a.scopes',
  allow_ips: 'a.allow_ips',
  event_types: 'a.event_types',
  alert_percents: 'a.alert_percents',
  alert_base: 'c.alert_base',
  alerted_percent: 'c.alerted_percent',
  daily_cap: 'c.daily_cap',
  monthly_cap: 'c.monthly_cap',
  remaining_before: 'c.total - c.used',
} satisfies Record<keyof Settings, string>)

export interface BalanceId {
  readonly accountId: number
  readonly apiType: ApiType
}

export function balanceName({ accountId, apiType }: BalanceId): string {
  return `${accountId} ${apiType}`
}

const idColumns = { account_id: 'bigint', api_type: 'text' } as const

/** Returns the balances by name. */
export async function lockBalances(tx: Tx, ids: readonly BalanceId[]): Promise<Map<string, LockedBalance>> {
  const wanted = new Map<string, Pick<Tables['credit'], 'account_id' | 'api_type'>>()
  for (const id of ids) {
    const name = balanceName(id)
    if (!wanted.has(name)) wanted.set(name, { account_id: id.accountId, api_type: id.apiType })
  }
  const list = valueTable(tx, idColumns, [...wanted.values()])
  // The account is locked too: its key must stay valid until the charge commits, and charges of different API types must not
  // insert the same Idempotency-Key.
  const rows = await tx.all<BalanceRow>(
    `SELECT c.account_id, c.api_type, c.total - c.used AS remaining, c.usage_day, c.used_on_day, c.used_in_month, a.key_hash,
       ${rowVersion(tx, 'a')} AS version,
       ${tx.now} AS at, CASE WHEN ${areDefaults} THEN NULL ELSE ${settingsJson(tx)} END AS settings
     FROM ${list.sql} AS t JOIN account a ON a.id = t.account_id
       JOIN credit c ON c.account_id = t.account_id AND c.api_type = t.api_type
     ${forUpdate(tx, 'ORDER BY c.account_id, c.api_type FOR NO KEY UPDATE OF a FOR UPDATE OF c')}`,
    list.values,
  )
  const balances = new Map<string, LockedBalance>()
  for (const row of rows) balances.set(`${row.account_id} ${row.api_type}`, toBalance(row))
  return balances
}

function toBalance(row: BalanceRow): LockedBalance {
  return { ...row, settings: row.settings === null ? undefined : (JSON.parse(row.settings) as Settings) }
}
