// The tables of the watch list: domains under watch, and what became of them.
import type { Queries, Tx } from '../db/database.ts'
import type { Address, CheckVerdict } from './port.ts'
import type { Pause } from './words.ts'

/** The operator's own link domains belong to no account. */
export const platformAccount = 0

export interface WatchedDomain {
  readonly id: number
  readonly account_id: number
  /** As it was given. */
  readonly address: string
  readonly url: string
  readonly host: string
  readonly pause_reason: Pause | null
  /** 1 when the account itself has stopped it. */
  readonly stopped: number
  /** Null: as often as the settings say. */
  readonly every_minutes: number | null
  /** The last verdict there was, and since when. A check that failed does not change it. */
  readonly verdict: CheckVerdict | null
  readonly verdict_since: number | null
  readonly last_result: CheckVerdict | 'failed' | null
  readonly checked_at: number | null
  readonly due_at: number
  readonly created_at: number
}

export interface VerdictChange {
  readonly watch_id: number
  readonly verdict: CheckVerdict
  readonly at: number
}

const columns = `id, account_id, address, url, host, pause_reason, stopped, every_minutes, verdict, verdict_since, last_result, checked_at, due_at,
  created_at`

export type Insertion = 'added' | 'known' | 'full'

/** Due at once. */
export async function insertWatch(
  tx: Tx,
  watch: {
    accountId: number
    text: string
    address: Address
    limit: number
    everyMinutes?: number | undefined
  },
): Promise<Insertion> {
  // SQLite's write transaction is the lock. On PostgreSQL two insertions at once would not see each other's row.
  if (tx.engine === 'postgres')
    await tx.one('SELECT id FROM account WHERE id = ? FOR UPDATE', [watch.accountId])
  const counted = await tx.one<{ count: number; known: number | null }>(
    `SELECT COUNT(*) AS count, SUM(CASE WHEN url = ? THEN 1 ELSE 0 END) AS known FROM domain_watch WHERE account_id = ?`,
    [watch.address.url, watch.accountId],
  )
  if ((counted?.known ?? 0) > 0) return 'known'
  if ((counted?.count ?? 0) >= watch.limit) return 'full'
  await insertRow(tx, watch.accountId, watch.text, watch.address, watch.everyMinutes)
  return 'added'
}

async function insertRow(
  tx: Tx,
  accountId: number,
  text: string,
  address: Address,
  everyMinutes?: number,
): Promise<void> {
  await tx.run(
    `INSERT INTO domain_watch (account_id, address, url, host, every_minutes, due_at, created_at)
     VALUES (?, ?, ?, ?, ?, ${tx.now}, ${tx.now}) ON CONFLICT (account_id, url) DO NOTHING`,
    [accountId, text, address.url, address.host, everyMinutes ?? null],
  )
}

export function findWatch(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<WatchedDomain | undefined> {
  return queries.one<WatchedDomain>(`SELECT ${columns} FROM domain_watch WHERE account_id = ? AND id = ?`, [
    accountId,
    id,
  ])
}

export function findWatchByUrl(
  queries: Queries,
  accountId: number,
  url: string,
): Promise<WatchedDomain | undefined> {
  return queries.one<WatchedDomain>(`SELECT ${columns} FROM domain_watch WHERE account_id = ? AND url = ?`, [
    accountId,
    url,
  ])
}

/** False when there is none. What goes on again, or more often than before, is due at once. */
export async function updateWatch(
  tx: Tx,
  accountId: number,
  id: number,
  change: { everyMinutes?: number | undefined; stopped?: boolean | undefined },
): Promise<boolean> {
  const stopped = change.stopped === undefined ? null : change.stopped ? 1 : 0
  const minutes = change.everyMinutes ?? null
  const changed = await tx.run(
    `UPDATE domain_watch SET
       due_at = CASE WHEN (stopped = 1 AND CAST(? AS integer) = 0) OR CAST(? AS integer) < every_minutes
         THEN ${tx.now} ELSE due_at END,
       stopped = COALESCE(CAST(? AS integer), stopped), every_minutes = COALESCE(CAST(? AS integer), every_minutes)
     WHERE account_id = ? AND id = ?`,
    [stopped, minutes, stopped, minutes, accountId, id],
  )
  return changed === 1
}

/** False when it was not there. */
export async function deleteWatch(tx: Tx, accountId: number, url: string): Promise<boolean> {
  const row = await findWatchByUrl(tx, accountId, url)
  return row !== undefined && deleteWatchById(tx, accountId, row.id)
}

export async function deleteWatchById(tx: Tx, accountId: number, id: number): Promise<boolean> {
  const deleted = await tx.run('DELETE FROM domain_watch WHERE account_id = ? AND id = ?', [accountId, id])
  if (deleted === 0) return false
  await tx.run('DELETE FROM domain_verdict WHERE watch_id = ?', [id])
  return true
}

/** Makes the operator's part of the list hold exactly these. */
export async function setPlatformWatches(
  tx: Tx,
  wanted: readonly { text: string; address: Address }[],
): Promise<void> {
  const known = await findWatches(tx, platformAccount)
  const urls = new Set(wanted.map(({ address }) => address.url))
  for (const { url } of known) if (!urls.has(url)) await deleteWatch(tx, platformAccount, url)
  const knownUrls = new Set(known.map(({ url }) => url))
  for (const { text, address } of wanted)
    if (!knownUrls.has(address.url)) await insertRow(tx, platformAccount, text, address)
}

export function findWatches(queries: Queries, accountId: number): Promise<WatchedDomain[]> {
  return queries.all<WatchedDomain>(`SELECT ${columns} FROM domain_watch WHERE account_id = ? ORDER BY id`, [
    accountId,
  ])
}

/** The newest first. */
export function findHistory(queries: Queries, accountId: number, limit: number): Promise<VerdictChange[]> {
  return queries.all<VerdictChange>(
    `SELECT v.watch_id, v.verdict, v.at FROM domain_verdict v JOIN domain_watch w ON w.id = v.watch_id
     WHERE w.account_id = ? ORDER BY v.id DESC LIMIT ${limit}`,
    [accountId],
  )
}

export interface VerdictRow {
  readonly id: number
  readonly verdict: CheckVerdict
  readonly at: number
}

/** The changes of one watched domain, the newest first. */
export function findVerdicts(
  queries: Queries,
  watchId: number,
  search: { start?: number | undefined; end?: number | undefined; before?: number | undefined },
  limit: number,
): Promise<VerdictRow[]> {
  return queries.all<VerdictRow>(
    `SELECT id, verdict, at FROM domain_verdict WHERE watch_id = ? AND id < ? AND at >= ? AND at < ?
     ORDER BY id DESC LIMIT ?`,
    [
      watchId,
      search.before ?? Number.MAX_SAFE_INTEGER,
      search.start ?? 0,
      search.end ?? Number.MAX_SAFE_INTEGER,
      limit,
    ],
  )
}

/**
 * Takes up to `limit` domains whose time has come, and sets their next time: that is the claim, and no other process finds
 * them due. A clock that was set back leaves times far in the future, which are due as well.
 */
export function claimDue(
  tx: Tx,
  claim: { intervalMs: number; limit: number; platformToo: boolean },
): Promise<WatchedDomain[]> {
  // Said twice: PostgreSQL looks again only at the outer condition when another process was first.
  const interval = 'COALESCE(every_minutes * CAST(60000 AS bigint), CAST(? AS bigint))'
  const isDue = `(stopped = 0 AND (due_at <= ${tx.now} OR due_at > ${tx.now} + ${interval}))`
  const whose = claim.platformToo ? '' : `AND account_id <> ${platformAccount}`
  return tx.all<WatchedDomain>(
    `UPDATE domain_watch SET due_at = ${tx.now} + ${interval}
     WHERE ${isDue} AND id IN (SELECT id FROM domain_watch WHERE ${isDue} ${whose} ORDER BY due_at LIMIT ${claim.limit})
     RETURNING ${columns}`,
    [claim.intervalMs, claim.intervalMs, claim.intervalMs],
  )
}

/** Keeps what a check brought. Only a change of the verdict is history. */
export async function recordVerdict(tx: Tx, watch: WatchedDomain, verdict: CheckVerdict): Promise<void> {
  const changed = await tx.run(
    `UPDATE domain_watch SET verdict = ?, verdict_since = ${tx.now} WHERE id = ? AND (verdict IS NULL OR verdict <> ?)`,
    [verdict, watch.id, verdict],
  )
  if (changed > 0) {
    await tx.run(`INSERT INTO domain_verdict (watch_id, verdict, at) VALUES (?, ?, ${tx.now})`, [
      watch.id,
      verdict,
    ])
  }
  await tx.run(
    `UPDATE domain_watch SET last_result = ?, checked_at = ${tx.now}, pause_reason = NULL WHERE id = ?`,
    [verdict, watch.id],
  )
}

/** No verdict this time: it is tried again sooner. */
export async function recordFailure(tx: Tx, watchId: number, againMs: number): Promise<void> {
  await tx.run(
    `UPDATE domain_watch SET last_result = 'failed', checked_at = ${tx.now}, pause_reason = NULL,
       due_at = ${tx.now} + CAST(? AS bigint) WHERE id = ?`,
    [againMs, watchId],
  )
}

export async function recordPause(tx: Tx, watchId: number, pause: Pause): Promise<void> {
  await tx.run('UPDATE domain_watch SET pause_reason = ? WHERE id = ?', [pause, watchId])
}
