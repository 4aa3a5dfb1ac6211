// The audit log: who changed what, when and why. Rows are only added, and deleted after `AUDIT_KEEP_DAYS`.
import type { AuditAction } from '../../contract/audit-actions.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

/** An operator, with the role that decided what the request may do. */
export type OperatorRights = Readonly<Pick<Tables['account'], 'id' | 'operator_role'>>

export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>

export interface NewAudit {
  /** An operator's user name, or `cli`. */
  readonly actor: string
  readonly action: AuditAction
  readonly target: string
  readonly note?: string | undefined
  /** What changed. Never a secret. */
  readonly details?: AuditDetails
}

export type AuditRow = Readonly<Tables['audit']>

export async function insertAudit(tx: Tx, entry: NewAudit): Promise<void> {
  await tx.run(
    `INSERT INTO audit (at, actor, action, target, note, details) VALUES (${tx.now}, ?, ?, ?, ?, ?)`,
    [entry.actor, entry.action, entry.target, entry.note ?? '', JSON.stringify(entry.details ?? {})],
  )
}

export async function findUsername(queries: Queries, accountId: number): Promise<string> {
  const row = await queries.one<Pick<Tables['account'], 'username'>>(
    'SELECT username FROM account WHERE id = ?',
    [accountId],
  )
  return row?.username ?? `#${accountId}`
}

/** False when the session has ended. */
export async function lockSession(tx: Tx, id: number): Promise<boolean> {
  const sql = `SELECT id FROM console_session WHERE id = ?${forUpdate(tx, 'FOR KEY SHARE')}`
  return (await tx.one(sql, [id])) !== undefined
}

/** False when the account is no operator with this role any more. Else it stays one until the transaction ends. */
export async function lockOperator(tx: Tx, { id, operator_role }: OperatorRights): Promise<boolean> {
  const row = await tx.one(
    `SELECT id FROM account WHERE id = ? AND role = 'operator' AND operator_role = ? AND suspended = 0${forUpdate(tx, 'FOR SHARE')}`,
    [id, operator_role],
  )
  return row !== undefined
}

export interface AuditSearch {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

export function listAudit(queries: Queries, search: AuditSearch, limit: number): Promise<AuditRow[]> {
  const { before, actor, action, target, start, end } = search
  let query = queries.kysely
    .selectFrom('audit')
    .select(['id', 'at', 'actor', 'action', 'target', 'note', 'details'])
    .orderBy('id', 'desc')
    .limit(limit)
  if (before !== undefined) query = query.where('id', '<', before)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (target !== undefined) query = query.where('target', '=', target)
  if (start !== undefined) query = query.where('at', '>=', start)
  if (end !== undefined) query = query.where('at', '<', end)
  return query.execute()
}

export function deleteOldAudit(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'audit', time: 'at' }, days, signal)
}
