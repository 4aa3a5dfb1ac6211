// The watch list: watched domains, and the history of their verdicts.
import { lockAccount } from '../accounts/store.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import type { Address, CheckVerdict } from './port.ts'
import type { PauseReason } from './texts.ts'

/** The account id of the operator's link domains. */
export const platformAccount = 0

export type WatchedDomain = Tables['domain_watch']
export type VerdictRow = Tables['domain_verdict']

/** A new watch is due immediately. */
export async function insertWatch(
  tx: Tx,
  watch: {
    accountId: number
    text: string
    address: Address
    limit: number
    everyMinutes?: number | undefined
  },
): Promise<'added' | 'known' | 'full'> {
  // Concurrent inserts do not see each other's rows, so the limit needs a lock.
  await lockAccount(tx, watch.accountId)
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
  return queries.one<WatchedDomain>('SELECT * FROM domain_watch WHERE account_id = ? AND id = ?', [
    accountId,
    id,
  ])
}

export function findWatchByUrl(
  queries: Queries,
  accountId: number,
  url: string,
): Promise<WatchedDomain | undefined> {
  return queries.one<WatchedDomain>('SELECT * FROM domain_watch WHERE account_id = ? AND url = ?', [
    accountId,
    url,
  ])
}

/** Returns false for an unknown id. A resumed watch, or one with a shorter interval, is due immediately. */
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

/** Returns false for an unknown address. */
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

/** Replaces the operator's part of the list. */
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
  return queries.all<WatchedDomain>('SELECT * FROM domain_watch WHERE account_id = ? ORDER BY id', [
    accountId,
  ])
}

/** Newest first. */
export function findHistory(
  queries: Queries,
  accountId: number,
  limit: number,
): Promise<Omit<VerdictRow, 'id'>[]> {
  return queries.all<Omit<VerdictRow, 'id'>>(
    `SELECT v.watch_id, v.verdict, v.at FROM domain_verdict v JOIN domain_watch w ON w.id = v.watch_id
     WHERE w.account_id = ? ORDER BY v.id DESC LIMIT ${limit}`,
    [accountId],
  )
}

export interface VerdictFilter {
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

/** The verdict changes of one watched domain, newest first. */
export function findVerdicts(
  queries: Queries,
  watchId: number,
  { before = Number.MAX_SAFE_INTEGER, start = 0, end = Number.MAX_SAFE_INTEGER }: VerdictFilter,
  limit: number,
): Promise<VerdictRow[]> {
  return queries.all<VerdictRow>(
    `SELECT id, watch_id, verdict, at FROM domain_verdict WHERE watch_id = ? AND id < ? AND at >= ? AND at < ?
     ORDER BY id DESC LIMIT ?`,
    [watchId, before, start, end, limit],
  )
}

/**
 * Claims up to `limit` due domains: setting their next time in the same statement keeps other processes from claiming them.
 * A clock that was set back leaves times in the far future, which count as due.
 */
export function claimDue(
  tx: Tx,
  claim: { intervalMs: number; limit: number; platformToo: boolean },
): Promise<WatchedDomain[]> {
  // The condition appears twice, because PostgreSQL re-evaluates only the outer one after a concurrent update.
  const interval = 'COALESCE(every_minutes * CAST(60000 AS bigint), CAST(? AS bigint))'
  const isDue = `(stopped = 0 AND (due_at <= ${tx.now} OR due_at > ${tx.now} + ${interval}))`
  const whose = claim.platformToo ? '' : `AND account_id <> ${platformAccount}`
  return tx.all<WatchedDomain>(
    `UPDATE domain_watch SET due_at = ${tx.now} + ${interval}
     WHERE ${isDue} AND id IN (SELECT id FROM domain_watch WHERE ${isDue} ${whose} ORDER BY due_at
       LIMIT ${claim.limit}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')})
     RETURNING *`,
    [claim.intervalMs, claim.intervalMs, claim.intervalMs],
  )
}

/** Only a change of the verdict is added to the history. */
/** Returns whether the verdict changed. */
export async function recordVerdict(tx: Tx, watch: WatchedDomain, verdict: CheckVerdict): Promise<boolean> {
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
  return changed > 0
}

/** Schedules the retry. */
export async function recordFailure(tx: Tx, watchId: number, retryMs: number): Promise<void> {
  await tx.run(
    `UPDATE domain_watch SET last_result = 'failed', checked_at = ${tx.now}, pause_reason = NULL,
       due_at = ${tx.now} + CAST(? AS bigint) WHERE id = ?`,
    [retryMs, watchId],
  )
}

export async function recordPause(tx: Tx, watchId: number, reason: PauseReason): Promise<void> {
  await tx.run('UPDATE domain_watch SET pause_reason = ? WHERE id = ?', [reason, watchId])
}
