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
  link_click_journal: { id: number; is_aggregated: 0 | 1 | 2; clicks: Json }
  /** Appends to the journal of the last day, so that a repeated append changes nothing. */
  link_click_batch: { id: string; at: Milliseconds }
  /** Salted hashes of one day's visitors; replaced by their number in `link_visitor_day` after the day. */
  link_visitor: { day: number; link_id: number; visitor: number }
  /** `sketch`: some of the hashes, to count the visitors of several links together; empty for days that a version without it counted. */
  link_visitor_day: { link_id: number; day: number; visitors: number; sketch: string }
  link_salt: { day: number; salt: string }
  /** One row. SQLite triggers change `version` whenever a cached link may be stale. */
  link_change: { id: number; version: number }
  /** People's visits since `max_clicks` was set; one row for each link with a limit. */
  link_usage: { link_id: number; used: number }
  /** Links whose expiry is not reported yet. */
  link_expiry: { link_id: number; account_id: number; expires_at: Milliseconds }
  /** The tags of `link`, to find links by them. */
  link_tag: { account_id: number; tag: string; link_id: number }
  /** People's clicks of a day by a property that `link_click` does not have. Unknown values have no row. */
  link_click_part: { link_id: number; part: ClickPart; day: number; value: string; clicks: number }
  link_own_domain: LinkOwnDomainTable
  link_ban: LinkBanTable
  link_report: LinkReportTable
  link_import: LinkImportTable
  link_import_row: LinkImportRowTable
  link_share: LinkShareTable
}

export type ClickPart = 'country' | 'province' | 'os' | 'app'

interface LinkTable {
  id: number
  /** Negative after `delete`: no query of the account finds the link any more. */
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
  paused: Flag
  /** Zero: not banned. Bits: 1 the link itself, 2 the host of one of its targets. */
  banned: number
  /** Null again when the clicks of the deleted link are deleted too. */
  deleted_at: Milliseconds | null
  expires_at: Milliseconds | null
  /** Empty: an expired link answers 410. `expired_location` is its ASCII form. */
  expired_url: string
  expired_location: string
  max_clicks: number | null
  password_hash: string | null
  /** A JSON list; empty without rules. */
  rules: Json
  /** A JSON list; empty without tags. */
  tags: Json
  /** Unique in the account. */
  external_id: string | null
  /** The account's own domain that a_url is on; empty for the pool. */
  own_domain: string
}

/** Rows are never deleted: the primary key keeps a code from being assigned twice. */
interface LinkCodeTable {
  /**
   * The code, decrypted by the permutation: new codes are neighbours in the index. Negative for a chosen code that is outside of the
   * permutation: a keyed hash of `code`.
   */
  position: number
  link_id: number
  /** Null for the present code of a link. */
  retired_at: Milliseconds | null
  live_until: Milliseconds | null
  /** The text of a code with a negative position, else null. */
  code: string | null
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

/** A domain of an account. Several accounts may claim a host; at most one claim is verified. */
interface LinkOwnDomainTable {
  id: number
  account_id: number
  host: string
  /** What the TXT record must contain. */
  token: string
  /** Null: not verified, or no longer. */
  verified_at: Milliseconds | null
  checked_at: Milliseconds | null
  /** Since when checks of a verified domain have not found its record. */
  missing_since: Milliseconds | null
  blocked: Flag
  blocked_at: Milliseconds | null
  added_at: Milliseconds
}

/** Of a host and everything below it, or of one link. */
interface LinkBanTable {
  id: number
  host: string | null
  link_id: number | null
  /** The code of the link when it was banned. */
  code: string
  note: string
  created_by: string
  created_at: Milliseconds
  /** The job has marked links up to this one. */
  marked_id: number
  /** 1: for all links. */
  marked: Flag
}

/** A visitor's report of a link. */
interface LinkReportTable {
  id: number
  /** Null: the address is none of our links. */
  link_id: number | null
  address: string
  reason: string
  details: string
  contact: string
  state: 'open' | 'banned' | 'dismissed'
  decided_by: string
  decided_at: Milliseconds | null
  at: Milliseconds
}

interface LinkImportTable {
  id: number
  account_id: number
  file_name: string
  format: string
  encoding: string
  options: Json
  state: 'uploading' | 'checking' | 'checked' | 'running' | 'paused' | 'finished' | 'cancelled'
  total: number
  /** Rows with problems that the dry run found. */
  invalid: number
  created: number
  failed: number
  /** The first row that was not processed yet. */
  next_row: number
  pause_reason: string
  /** Until when one process works on it. */
  lease_until: Milliseconds
  created_at: Milliseconds
  ended_at: Milliseconds | null
}

interface LinkImportRowTable {
  import_id: number
  row_index: number
  line: number
  input: Json
  state: 'ready' | 'invalid' | 'created' | 'failed'
  problem: string
  link_id: number | null
}

/** A link to read-only statistics of one link or tag. */
interface LinkShareTable {
  id: number
  account_id: number
  link_id: number | null
  tag: string | null
  token_hash: string
  expires_at: Milliseconds
  created_at: Milliseconds
}
