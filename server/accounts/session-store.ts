// The session table. Only the browser has a session's token; the table holds its hash.
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'

export const idleMs = 12 * 3_600_000
export const absoluteMs = 7 * 24 * 3_600_000

/** `seen_at` is updated at most this often. */
const seenEveryMs = 60_000

export type Session = Readonly<
  Pick<Tables['console_session'], 'id' | 'account_id' | 'address' | 'agent' | 'created_at' | 'seen_at'>
>

const columns = 'id, account_id, address, agent, created_at, seen_at'

function isAlive(now: string): string {
  return `seen_at > ${now} - ${idleMs} AND created_at > ${now} - ${absoluteMs}`
}

export interface NewSession {
  readonly tokenHash: string
  readonly accountId: number
  /** Stored hash of the password that was verified. */
  readonly passwordHash: string
  readonly address: string
  readonly agent: string
}

/**
 * Undefined when the password has changed since it was verified, or the account is suspended. The account is locked, so that
 * a change of the password either comes first and is seen here, or comes later and deletes this session.
 */
export function insertSession(tx: Tx, session: NewSession): Promise<Session | undefined> {
  return tx.one<Session>(
    `INSERT INTO console_session (token_hash, account_id, address, agent, created_at, seen_at)
     SELECT ?, id, ?, ?, ${tx.now}, ${tx.now} FROM account
     WHERE id = ? AND password_hash = ? AND suspended = 0${forUpdate(tx, 'FOR SHARE')} RETURNING ${columns}`,
    [session.tokenHash, session.address, session.agent, session.accountId, session.passwordHash],
  )
}

/** Returns the session, and whether `seen_at` is due for an update. */
export async function findSession(
  queries: Queries,
  tokenHash: string,
): Promise<{ session: Session; shouldMarkSeen: boolean } | undefined> {
  const row = await queries.one<Session & { stale: number }>(
    `SELECT ${columns}, CASE WHEN seen_at < ${queries.now} - ${seenEveryMs} THEN 1 ELSE 0 END AS stale
     FROM console_session WHERE token_hash = ? AND ${isAlive(queries.now)}`,
    [tokenHash],
  )
  if (!row) return undefined
  const { stale, ...session } = row
  return { session, shouldMarkSeen: stale === 1 }
}

export async function markSeen(tx: Tx, id: number): Promise<void> {
  await tx.run(`UPDATE console_session SET seen_at = ${tx.now} WHERE id = ?`, [id])
}

export function listSessions(queries: Queries, accountId: number): Promise<Session[]> {
  return queries.all<Session>(
    `SELECT ${columns} FROM console_session WHERE account_id = ? AND ${isAlive(queries.now)} ORDER BY id DESC`,
    [accountId],
  )
}

export async function countSessions(queries: Queries, accountId: number): Promise<number> {
  const row = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM console_session WHERE account_id = ? AND ${isAlive(queries.now)}`,
    [accountId],
  )
  return row?.count ?? 0
}

export async function deleteSession(tx: Tx, accountId: number, id: number): Promise<boolean> {
  return (await tx.run('DELETE FROM console_session WHERE account_id = ? AND id = ?', [accountId, id])) === 1
}

export async function deleteSessionByToken(tx: Tx, tokenHash: string): Promise<void> {
  await tx.run('DELETE FROM console_session WHERE token_hash = ?', [tokenHash])
}

/** Deletes the account's sessions, except one when given. */
export function deleteSessions(tx: Tx, accountId: number, except?: number): Promise<number> {
  return tx.run('DELETE FROM console_session WHERE account_id = ? AND id <> ?', [accountId, except ?? 0])
}

export function deleteExpiredSessions(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `DELETE FROM console_session WHERE id IN (SELECT id FROM console_session WHERE NOT (${isAlive(tx.now)})
           ORDER BY id LIMIT ${rowsPerSlice})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}
