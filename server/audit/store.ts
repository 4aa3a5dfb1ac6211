// The audit log: who changed what, when and why. Rows are only added, and deleted after `AUDIT_KEEP_DAYS`.
import type { Database, Queries, Tx, Value } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>

export interface NewAudit {
  /** An operator's user name, or `cli`. */
  readonly actor: string
  readonly action: string
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

export interface AuditSearch {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
}

export function listAudit(queries: Queries, search: AuditSearch, limit: number): Promise<AuditRow[]> {
  const terms: string[] = []
  const values: Value[] = []
  const add = (term: string, value: Value | undefined) => {
    if (value === undefined) return
    terms.push(term)
    values.push(value)
  }
  add('id < ?', search.before)
  add('actor = ?', search.actor)
  add('action = ?', search.action)
  add('target = ?', search.target)
  add('at >= ?', search.start)
  add('at < ?', search.end)
  const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
  return queries.all<AuditRow>(
    `SELECT id, at, actor, action, target, note, details FROM audit ${where} ORDER BY id DESC LIMIT ${limit}`,
    values,
  )
}

export function deleteOldAudit(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'audit', time: 'at' }, days, signal)
}
