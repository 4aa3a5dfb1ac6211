// Bans of links and hosts. `link.banned` has a bit for each kind: 1 the link itself, 2 the host of one of its targets.
import { countRows } from '../../db/count-rows.ts'
import type { Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { findSetting, putSetting } from '../../db/setting-store.ts'
import type { Codes } from '../codes/store.ts'

export type Ban = Readonly<Omit<Tables['link_ban'], 'marked_id' | 'marked'>>

export type BannedLink = Readonly<
  Pick<Tables['link'], 'id' | 'account_id' | 'code' | 'external_id' | 'title' | 'target_url' | 'banned'>
>

const banColumns = 'id, host, link_id, code, note, created_by, created_at'
const linkColumns = 'id, account_id, code, external_id, title, target_url, banned'

/** The newest first. `before` is the id of the last one of the previous page. */
export function listBans(queries: Queries, limit: number, before = Number.MAX_SAFE_INTEGER): Promise<Ban[]> {
  return queries.all<Ban>(`SELECT ${banColumns} FROM link_ban WHERE id < ? ORDER BY id DESC LIMIT ?`, [
    before,
    limit,
  ])
}

export function findBan(queries: Queries, id: number): Promise<Ban | undefined> {
  return queries.one<Ban>(`SELECT ${banColumns} FROM link_ban WHERE id = ?`, [id])
}

export async function listBannedHosts(queries: Queries): Promise<Set<string>> {
  const rows = await queries.all<{ host: string }>('SELECT host FROM link_ban WHERE host IS NOT NULL')
  return new Set(rows.map(({ host }) => host))
}

/** By a current or a retired code, of any account. */
export function findLinkOfCode(
  queries: Queries,
  code: string,
  codes: Codes,
): Promise<BannedLink | undefined> {
  const position = codes.positionOf(code)
  if (position === undefined) return Promise.resolve(undefined)
  const columns = linkColumns.replaceAll(/(\w+)/g, 'l.$1')
  return queries.one<BannedLink>(
    `SELECT ${columns} FROM link_code c JOIN link l ON l.id = c.link_id WHERE c.position = ?`,
    [position],
  )
}

interface NewBan {
  readonly note: string
  readonly by: string
}

/** Returns false when the host is banned already; then the note is replaced. */
export async function insertHostBan(tx: Tx, host: string, { note, by }: NewBan): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO link_ban (host, note, created_by, created_at) VALUES (?, ?, ?, ${tx.now}) ON CONFLICT (host) DO NOTHING`,
    [host, note, by],
  )
  if (inserted > 0) await restartMarking(tx)
  else await tx.run('UPDATE link_ban SET note = ? WHERE host = ?', [note, host])
  return inserted > 0
}

export function countHostBans(queries: Queries): Promise<number> {
  return countRows(queries, 'link_ban WHERE host IS NOT NULL')
}

/** Returns false when the link is banned already; then the note is replaced. */
export async function insertLinkBan(
  tx: Tx,
  link: Pick<BannedLink, 'id' | 'code'>,
  { note, by }: NewBan,
): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO link_ban (link_id, code, note, created_by, created_at) VALUES (?, ?, ?, ?, ${tx.now})
     ON CONFLICT (link_id) DO NOTHING`,
    [link.id, link.code, note, by],
  )
  if (inserted > 0) await tx.run('UPDATE link SET banned = banned | 1 WHERE id = ?', [link.id])
  else await tx.run('UPDATE link_ban SET note = ? WHERE link_id = ?', [note, link.id])
  return inserted > 0
}

export async function deleteHostBan(tx: Tx, host: string): Promise<boolean> {
  const deleted = await tx.run('DELETE FROM link_ban WHERE host = ?', [host])
  if (deleted > 0) await restartMarking(tx)
  return deleted > 0
}

export async function deleteLinkBan(tx: Tx, linkId: number): Promise<boolean> {
  const deleted = await tx.run('DELETE FROM link_ban WHERE link_id = ?', [linkId])
  if (deleted > 0) await tx.run('UPDATE link SET banned = banned & 2 WHERE id = ?', [linkId])
  return deleted > 0
}

/** How far the links are marked: a link's id, or `done`. Every change of the bans of hosts starts again. */
const markingName = 'link_ban_marking'

const restartMarking = (tx: Tx): Promise<void> => putSetting(tx, markingName, '0')

/** Undefined: all links are marked. */
export async function findMarking(queries: Queries): Promise<string | undefined> {
  const value = await findSetting(queries, markingName)
  return value === undefined || value === 'done' ? undefined : value
}

/** What decides whether a ban of a host applies to a link. */
export type LinkDestinations = Readonly<
  Pick<Tables['link'], 'id' | 'banned' | 'location_a' | 'location_b' | 'expired_location' | 'rules'>
>

const destinationColumns = 'id, banned, location_a, location_b, expired_location, rules'

export function listDestinations(
  queries: Queries,
  afterId: number,
  limit: number,
): Promise<LinkDestinations[]> {
  return queries.all<LinkDestinations>(
    `SELECT ${destinationColumns} FROM link WHERE id > ? ORDER BY id LIMIT ?`,
    [afterId, limit],
  )
}

export function lockDestinations(tx: Tx, ids: readonly number[]): Promise<LinkDestinations[]> {
  const list = idList(tx, ids)
  return tx.all<LinkDestinations>(
    `SELECT ${destinationColumns} FROM link WHERE id IN ${list.sql} ORDER BY id${forUpdate(tx)}`,
    [list.value],
  )
}

/** Sets or clears the bit of host bans, and returns the links. */
export function markLinks(tx: Tx, ids: readonly number[], isBanned: boolean): Promise<BannedLink[]> {
  if (ids.length === 0) return Promise.resolve([])
  const list = idList(tx, ids)
  return tx.all<BannedLink>(
    `UPDATE link SET banned = ${isBanned ? 'banned | 2' : 'banned & 1'} WHERE id IN ${list.sql} RETURNING ${linkColumns}`,
    [list.value],
  )
}

/** Returns false when another process has moved on, or the bans have changed. */
export async function advanceMarking(tx: Tx, from: string, to: string): Promise<boolean> {
  const changed = await tx.run('UPDATE setting SET value = ? WHERE name = ? AND value = ?', [
    to,
    markingName,
    from,
  ])
  return changed === 1
}
