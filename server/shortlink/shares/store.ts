// Links to read-only statistics. Only a digest of each token is stored.
import { countRows } from '../../db/count-rows.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'

export type Share = Readonly<Tables['link_share']>

const columns = 'id, account_id, link_id, tag, token_hash, expires_at, created_at'

export interface NewShare {
  readonly accountId: number
  readonly linkId: number | null
  readonly tag: string | null
  readonly tokenHash: string
  readonly lifetimeMs: number
}

export async function insertShare(tx: Tx, share: NewShare): Promise<Share> {
  const row = await tx.one<Share>(
    `INSERT INTO link_share (account_id, link_id, tag, token_hash, expires_at, created_at)
     VALUES (?, ?, ?, ?, ${tx.now} + CAST(? AS bigint), ${tx.now}) RETURNING ${columns}`,
    [share.accountId, share.linkId, share.tag, share.tokenHash, share.lifetimeMs],
  )
  return row!
}

/** Those that are valid, the newest first. */
export function listShares(queries: Queries, accountId: number, now: number): Promise<Share[]> {
  return queries.all<Share>(
    `SELECT ${columns} FROM link_share WHERE account_id = ? AND expires_at > ? ORDER BY id DESC LIMIT 200`,
    [accountId, now],
  )
}

/** Valid ones. */
export function countShares(queries: Queries, accountId: number): Promise<number> {
  return countRows(queries, `link_share WHERE account_id = ? AND expires_at > ${queries.now}`, [accountId])
}

export function findShareByHash(queries: Queries, tokenHash: string): Promise<Share | undefined> {
  return queries.one<Share>(`SELECT ${columns} FROM link_share WHERE token_hash = ?`, [tokenHash])
}

/** Ends a valid share now; it answers 410 until its row is deleted. False when the account has no such share. */
export async function endShare(tx: Tx, accountId: number, id: number): Promise<Share | undefined> {
  return tx.one<Share>(
    `UPDATE link_share SET expires_at = ${tx.now} WHERE id = ? AND account_id = ? AND expires_at > ${tx.now}
     RETURNING ${columns}`,
    [id, accountId],
  )
}

/** Keeps the latest ended shares of an account. */
export async function deleteEndedShares(tx: Tx, accountId: number, max: number): Promise<void> {
  await tx.run(
    `DELETE FROM link_share WHERE account_id = ? AND expires_at <= ${tx.now} AND id NOT IN
       (SELECT id FROM link_share WHERE account_id = ? AND expires_at <= ${tx.now} ORDER BY id DESC LIMIT ${max})`,
    [accountId, accountId],
  )
}

export function deleteOldShares(db: Database, keepMs: number, signal: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM link_share WHERE id IN (SELECT id FROM link_share
           WHERE expires_at <= ${tx.now} - CAST(? AS bigint) ORDER BY id LIMIT ?)`,
        [keepMs, rowsPerSlice],
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
