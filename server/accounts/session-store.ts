// The session table. Only the browser has a session's token; the table holds its hash.
import { dayMs, hourMs, minuteMs } from '../../contract/time.ts'
import { confirmationMs, type SecondFactorKind, type SignInMethod } from '../../contract/console/limits.ts'
import { countRows } from '../db/count-rows.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'

export const idleMs = 12 * hourMs
export const absoluteMs = 7 * dayMs

/** Sessions of one account; the oldest one ends when there are more. */
const maxSessions = 100

/** `seen_at` is updated at most this often. */
const seenEveryMs = minuteMs

export type Session = Readonly<
  Pick<
    Tables['console_session'],
    'id' | 'account_id' | 'address' | 'agent' | 'created_at' | 'seen_at' | 'method'
  >
>

const columns = 'id, account_id, address, agent, created_at, seen_at, method'

function isAlive(now: string): string {
  return `seen_at > ${now} - ${idleMs} AND created_at > ${now} - ${absoluteMs}`
}

/** How a user proved who they are, with what must still hold when the session begins. */
export type SignInProof =
  | { readonly method: 'password'; readonly passwordHash: string }
  | { readonly method: 'oidc'; readonly issuer: string; readonly subject: string }

export interface NewSession {
  readonly tokenHash: string
  readonly accountId: number
  readonly proof: SignInProof
  readonly secondFactor: SecondFactorKind
  readonly address: string
  readonly agent: string
}

const proofSql: Readonly<Record<SignInMethod, string>> = {
  password: 'password_hash = ?',
  oidc: `EXISTS (SELECT 1 FROM oidc_link l WHERE l.account_id = account.id AND l.issuer = ? AND l.subject = ?)`,
}

/**
 * Undefined when the proof no longer holds, a second factor was enabled meanwhile, or the account is suspended. The account is
 * locked before it is read, so that a change either comes first and is seen here, or comes later and deletes this session.
 */
export async function insertSession(tx: Tx, session: NewSession): Promise<Session | undefined> {
  const { accountId, proof } = session
  await tx.one(`SELECT id FROM account WHERE id = ?${forUpdate(tx, 'FOR SHARE')}`, [accountId])
  const values = proof.method === 'password' ? [proof.passwordHash] : [proof.issuer, proof.subject]
  const withoutFactor =
    session.secondFactor === 'none'
      ? ' AND NOT EXISTS (SELECT 1 FROM second_factor f WHERE f.account_id = account.id AND f.enabled_at IS NOT NULL)'
      : ''
  const inserted = await tx.one<Session>(
    `INSERT INTO console_session (token_hash, account_id, address, agent, created_at, seen_at, method)
     SELECT ?, id, ?, ?, ${tx.now}, ${tx.now}, '${proof.method}' FROM account
     WHERE id = ? AND suspended = 0 AND ${proofSql[proof.method]}${withoutFactor} RETURNING ${columns}`,
    [session.tokenHash, session.address, session.agent, accountId, ...values],
  )
  if (inserted) {
    await tx.run(
      `DELETE FROM console_session WHERE account_id = ? AND id <= (
         SELECT id FROM console_session WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${maxSessions})`,
      [accountId, accountId],
    )
  }
  return inserted
}

export interface FoundSession {
  readonly session: Session
  readonly shouldMarkSeen: boolean
  /** The user proved who they are within the last minutes. */
  readonly confirmed: boolean
  readonly hasSecondFactor: boolean
}

export async function findSession(queries: Queries, tokenHash: string): Promise<FoundSession | undefined> {
  const row = await queries.one<Session & { stale: number; confirmed: number; factors: number }>(
    `SELECT ${columns}, CASE WHEN seen_at < ${queries.now} - ${seenEveryMs} THEN 1 ELSE 0 END AS stale,
       CASE WHEN confirmed_at > ${queries.now} - ${confirmationMs} THEN 1 ELSE 0 END AS confirmed,
       (SELECT COUNT(*) FROM second_factor f WHERE f.account_id = console_session.account_id
          AND f.enabled_at IS NOT NULL) AS factors
     FROM console_session WHERE token_hash = ? AND ${isAlive(queries.now)}`,
    [tokenHash],
  )
  if (!row) return undefined
  const { stale, confirmed, factors, ...session } = row
  return {
    session,
    shouldMarkSeen: stale === 1,
    confirmed: confirmed === 1,
    hasSecondFactor: factors > 0,
  }
}

/** False when the session has ended. */
export async function confirmSession(tx: Tx, id: number): Promise<boolean> {
  return (await tx.run(`UPDATE console_session SET confirmed_at = ${tx.now} WHERE id = ?`, [id])) === 1
}

/** Nothing waits for this write, so the session may have ended meanwhile, also by its timeout. */
export async function markSeen(tx: Tx, id: number): Promise<void> {
  await tx.run(`UPDATE console_session SET seen_at = ${tx.now} WHERE id = ? AND ${isAlive(tx.now)}`, [id])
}

export function listSessions(queries: Queries, accountId: number): Promise<Session[]> {
  return queries.all<Session>(
    `SELECT ${columns} FROM console_session WHERE account_id = ? AND ${isAlive(queries.now)} ORDER BY id DESC`,
    [accountId],
  )
}

export function countSessions(queries: Queries, accountId: number): Promise<number> {
  return countRows(queries, `console_session WHERE account_id = ? AND ${isAlive(queries.now)}`, [accountId])
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
