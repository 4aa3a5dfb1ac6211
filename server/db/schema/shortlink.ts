// The tables of short links, their domains and their clicks.
import type { RedirectType } from '../../../contract/shortlink.ts'
import type { Flag, Json, Milliseconds } from './columns.ts'

export interface LinkTables {
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
