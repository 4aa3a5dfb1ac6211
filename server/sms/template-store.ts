// The template table: an account's own templates, and those the operator shares with everyone.
import type { TemplateState } from '../../contract/sms-text.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database, Queries, Tx } from '../db/database.ts'

export interface TemplateRow {
  readonly id: number
  /** Null: shared by the operator. */
  readonly account_id: number | null
  readonly code: string
  readonly name: string
  readonly content: string
  /** JSON list of names, in the order of their first appearance. */
  readonly variables: string
  readonly status: TemplateState
  readonly reason: string
  /** JSON object: the template's id by gateway. */
  readonly gateway_codes: string
  /** Grows with every edit, so that a review is of the text that was read. */
  readonly revision: number
  readonly created_at: number
  readonly updated_at: number
}

const columns =
  'id, account_id, code, name, content, variables, status, reason, gateway_codes, revision, created_at, updated_at'

export type SendingRow = Pick<TemplateRow, 'code' | 'content' | 'variables' | 'status' | 'gateway_codes'>

const sendingColumns = 'code, content, variables, status, gateway_codes'

/** What the account means by a code: its own template before a shared one. Straight from the table, no cache. */
export function templateLookup(
  db: Database,
): (accountId: number, code: string) => Promise<SendingRow | undefined> {
  const direct = db.direct
  if (direct) {
    const own = `SELECT ${sendingColumns} FROM sms_template WHERE account_id = ? AND code = ?`
    const shared = `SELECT ${sendingColumns} FROM sms_template WHERE account_id IS NULL AND code = ?`
    return async (accountId, code) =>
      direct.one<SendingRow>(own, [accountId, code]) ?? direct.one<SendingRow>(shared, [code])
  }
  const find = coalesce<SendingRow>(async (keys) => {
    const pairs = keys.map((key) => JSON.parse(key) as [number, string])
    const rows = await db.all<SendingRow & { asker: number }>(
      `SELECT DISTINCT ON (k.asker, k.code) k.asker, t.code, t.content, t.variables, t.status, t.gateway_codes
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS k (asker, code)
       JOIN sms_template t ON t.code = k.code AND (t.account_id = k.asker OR t.account_id IS NULL)
       ORDER BY k.asker, k.code, t.account_id NULLS LAST`,
      [pairs.map(([accountId]) => accountId), pairs.map(([, code]) => code)],
    )
    return new Map(rows.map((row) => [JSON.stringify([row.asker, row.code]), row]))
  })
  return (accountId, code) => find(JSON.stringify([accountId, code]))
}

/** The account's own and the shared ones, oldest first. Of two with one code only the account's own can be used. */
export function findTemplatesFor(queries: Queries, accountId: number): Promise<TemplateRow[]> {
  return queries.all<TemplateRow>(
    `SELECT ${columns} FROM sms_template t WHERE account_id = ? OR (account_id IS NULL AND NOT EXISTS
       (SELECT 1 FROM sms_template own WHERE own.account_id = ? AND own.code = t.code)) ORDER BY id`,
    [accountId, accountId],
  )
}

const visible = `(t.account_id = ? OR (t.account_id IS NULL AND NOT EXISTS
  (SELECT 1 FROM sms_template own WHERE own.account_id = ? AND own.code = t.code)))`

export function findTemplateFor(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<TemplateRow | undefined> {
  return queries.one<TemplateRow>(`SELECT ${columns} FROM sms_template t WHERE ${visible} AND t.id = ?`, [
    accountId,
    accountId,
    id,
  ])
}

export interface TemplateSearch {
  /** Part of the code, the name or the content. */
  readonly q?: string | undefined
  readonly status?: TemplateState | undefined
  readonly limit: number
  readonly offset: number
}

/** The newest first. */
export async function findTemplatePage(
  queries: Queries,
  accountId: number,
  search: TemplateSearch,
): Promise<{ rows: TemplateRow[]; total: number }> {
  const terms = [visible]
  const values: (string | number)[] = [accountId, accountId]
  if (search.status !== undefined) {
    terms.push('t.status = ?')
    values.push(search.status)
  }
  if (search.q !== undefined && search.q !== '') {
    const like = `%${search.q.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`
    terms.push(
      `(LOWER(t.code) LIKE ? ESCAPE '!' OR LOWER(t.name) LIKE ? ESCAPE '!' OR LOWER(t.content) LIKE ? ESCAPE '!')`,
    )
    values.push(like, like, like)
  }
  const where = terms.join(' AND ')
  const counted = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM sms_template t WHERE ${where}`,
    values,
  )
  const rows = await queries.all<TemplateRow>(
    `SELECT ${columns} FROM sms_template t WHERE ${where} ORDER BY t.id DESC LIMIT ? OFFSET ?`,
    [...values, search.limit, search.offset],
  )
  return { rows, total: counted?.count ?? 0 }
}

/** Among the account's own and the shared ones. */
export async function isTakenCode(
  queries: Queries,
  accountId: number | null,
  code: string,
): Promise<boolean> {
  const row = await queries.one(
    'SELECT 1 AS found FROM sms_template WHERE (account_id IS NULL OR account_id = ?) AND code = ?',
    [accountId ?? 0, code],
  )
  return row !== undefined
}

export async function setTemplateCode(tx: Tx, id: number, code: string): Promise<void> {
  await tx.run('UPDATE sms_template SET code = ? WHERE id = ?', [code, id])
}

export function findTemplates(
  queries: Queries,
  filter: { accountId?: number | null | undefined; status?: TemplateState | undefined },
): Promise<TemplateRow[]> {
  let query = queries.kysely.selectFrom('sms_template').selectAll()
  if (filter.accountId === null) query = query.where('account_id', 'is', null)
  else if (filter.accountId !== undefined) query = query.where('account_id', '=', filter.accountId)
  if (filter.status !== undefined) query = query.where('status', '=', filter.status)
  return query.orderBy('id').execute()
}

/** Reads a template to change it. */
export function lockTemplate(tx: Tx, id: number): Promise<TemplateRow | undefined> {
  const sql = `SELECT ${columns} FROM sms_template WHERE id = ?`
  return tx.one<TemplateRow>(tx.engine === 'postgres' ? `${sql} FOR UPDATE` : sql, [id])
}

export async function isSharedCode(queries: Queries, code: string): Promise<boolean> {
  const row = await queries.one('SELECT 1 AS found FROM sms_template WHERE account_id IS NULL AND code = ?', [
    code,
  ])
  return row !== undefined
}

export interface NewTemplate {
  readonly accountId: number | null
  readonly code: string
  readonly name: string
  readonly content: string
  readonly variables: string
  readonly status: TemplateState
  readonly reason: string
  readonly gatewayCodes: string
}

/** Undefined when the code is taken. */
export function insertTemplate(tx: Tx, template: NewTemplate): Promise<TemplateRow | undefined> {
  return tx.one<TemplateRow>(
    `INSERT INTO sms_template (account_id, code, name, content, variables, status, reason, gateway_codes, created_at,
       updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${tx.now}, ${tx.now}) ON CONFLICT DO NOTHING RETURNING ${columns}`,
    [
      template.accountId,
      template.code,
      template.name,
      template.content,
      template.variables,
      template.status,
      template.reason,
      template.gatewayCodes,
    ],
  )
}

export async function updateTemplate(
  tx: Tx,
  id: number,
  change: Pick<
    TemplateRow,
    'name' | 'content' | 'variables' | 'status' | 'reason' | 'gateway_codes' | 'revision'
  >,
): Promise<void> {
  await tx.run(
    `UPDATE sms_template SET name = ?, content = ?, variables = ?, status = ?, reason = ?, gateway_codes = ?,
       revision = ?, updated_at = ${tx.now} WHERE id = ?`,
    [
      change.name,
      change.content,
      change.variables,
      change.status,
      change.reason,
      change.gateway_codes,
      change.revision,
      id,
    ],
  )
}

export async function removeTemplate(tx: Tx, id: number): Promise<void> {
  await tx.run('DELETE FROM sms_template WHERE id = ?', [id])
}
