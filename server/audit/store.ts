// The audit log: who did what to whom, when and why. Rows are only ever added, and go when a setting says that they are old.
import type { Database, Queries, Tx, Value } from '../db/database.ts'
import { deleteOlderThan } from '../db/delete-old-rows.ts'

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

export interface AuditRow {
  readonly id: number
  readonly at: number
  readonly actor: string
  readonly action: string
  readonly target: string
  readonly note: string
  readonly details: string
}

/** Goes into the same transaction as the change it tells of. */
export async function insertAudit(tx: Tx, entry: NewAudit): Promise<void> {
  await tx.run(
    `INSERT INTO audit (at, actor, action, target, note, details) VALUES (${tx.now}, ?, ?, ?, ?, ?)`,
    [entry.actor, entry.action, entry.target, entry.note ?? '', JSON.stringify(entry.details ?? {})],
  )
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
