// The templates: those of accounts, and those that the operator shares with all accounts.
import type { ExpressionBuilder } from 'kysely'
import type { TemplateState } from '../../contract/sms-text.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { containsText } from '../db/text-search.ts'
import { memoizePerTick } from '../http/memoize-per-tick.ts'
import { removeVendorReviews } from './reviews/store.ts'

export type TemplateRow = Tables['sms_template']

export type UsableTemplateRow = Pick<
  TemplateRow,
  'account_id' | 'code' | 'type' | 'content' | 'variables' | 'status' | 'gateway_codes'
>

const usableColumns = 'account_id, code, type, content, variables, status, gateway_codes'

/**
 * Finds the template that an account uses by a code: its own before a shared one. Reads it once per turn of the event loop;
 * nothing is cached beyond the turn.
 */
export function createTemplateRowLookup(
  db: Database,
): (accountId: number, code: string) => Promise<UsableTemplateRow | undefined> {
  const direct = db.direct
  if (direct) {
    const own = `SELECT ${usableColumns} FROM sms_template WHERE account_id = ? AND code = ?`
    const shared = `SELECT ${usableColumns} FROM sms_template WHERE account_id IS NULL AND code = ?`
    const find = memoizePerTick((key: string) => {
      const { accountId, code } = readTemplateKey(key)
      return (
        direct.one<UsableTemplateRow>(own, [accountId, code]) ?? direct.one<UsableTemplateRow>(shared, [code])
      )
    })
    return async (accountId, code) => find(templateKey(accountId, code))
  }
  const find = coalesce<UsableTemplateRow>(async (keys) => {
    const wanted = keys.map(readTemplateKey)
    const rows = await db.all<UsableTemplateRow & { caller: number }>(
      `SELECT DISTINCT ON (k.caller, k.code) k.caller, t.account_id, t.code, t.type, t.content, t.variables, t.status,
         t.gateway_codes
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS k (caller, code)
       JOIN sms_template t ON t.code = k.code AND (t.account_id = k.caller OR t.account_id IS NULL)
       ORDER BY k.caller, k.code, t.account_id NULLS LAST`,
      [wanted.map(({ accountId }) => accountId), wanted.map(({ code }) => code)],
    )
    return new Map(rows.map((row) => [templateKey(row.caller, row.code), row]))
  })
  return (accountId, code) => find(templateKey(accountId, code))
}

function templateKey(accountId: number, code: string): string {
  return `${accountId} ${code}`
}

function readTemplateKey(key: string): { readonly accountId: number; readonly code: string } {
  const space = key.indexOf(' ')
  return { accountId: Number(key.slice(0, space)), code: key.slice(space + 1) }
}

export interface TemplateFilter {
  readonly id?: number | undefined
  /** The templates that this account can use: its own, and the shared ones whose code it does not use itself. */
  readonly visibleTo?: number | undefined
  /** The owner; null for shared templates. */
  readonly accountId?: number | null | undefined
  readonly code?: string | undefined
  readonly status?: TemplateState | undefined
  /** Part of the code, the name or the content. */
  readonly q?: string | undefined
}

function selectTemplates(queries: Queries, filter: TemplateFilter) {
  let query = queries.kysely.selectFrom('sms_template as t')
  const { id, visibleTo, accountId, code, status, q } = filter
  if (id !== undefined) query = query.where('t.id', '=', id)
  if (visibleTo !== undefined) query = query.where((eb) => isVisibleTo(eb, visibleTo))
  if (accountId === null) query = query.where('t.account_id', 'is', null)
  else if (accountId !== undefined) query = query.where('t.account_id', '=', accountId)
  if (code !== undefined) query = query.where('t.code', '=', code)
  if (status !== undefined) query = query.where('t.status', '=', status)
  if (q !== undefined && q !== '') {
    const columns = ['t.code', 't.name', 't.content']
    query = query.where(({ or }) => or(columns.map((column) => containsText(queries, column, q))))
  }
  return query
}

type TemplateExpression = ExpressionBuilder<Tables & { t: TemplateRow }, 't'>

function isVisibleTo(eb: TemplateExpression, accountId: number) {
  const own = eb
    .selectFrom('sms_template as own')
    .select('own.id')
    .where('own.account_id', '=', accountId)
    .whereRef('own.code', '=', 't.code')
  return eb.or([
    eb('t.account_id', '=', accountId),
    eb.and([eb('t.account_id', 'is', null), eb.not(eb.exists(own))]),
  ])
}

/** Oldest first. */
export function findTemplates(queries: Queries, filter: TemplateFilter): Promise<TemplateRow[]> {
  return selectTemplates(queries, filter).selectAll('t').orderBy('t.id').execute()
}

/** Newest first. */
export async function findTemplatePage(
  queries: Queries,
  filter: TemplateFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: TemplateRow[]; total: number }> {
  const query = selectTemplates(queries, filter)
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirst()
  const rows = await query
    .selectAll('t')
    .orderBy('t.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return { rows, total: counted?.count ?? 0 }
}

/** Whether the account or the shared templates use the code. */
export async function isCodeTaken(
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

export async function updateTemplateCode(tx: Tx, id: number, code: string): Promise<void> {
  await tx.run('UPDATE sms_template SET code = ? WHERE id = ?', [code, id])
}

export function lockTemplate(tx: Tx, id: number): Promise<TemplateRow | undefined> {
  return tx.one<TemplateRow>(`SELECT * FROM sms_template WHERE id = ?${forUpdate(tx)}`, [id])
}

export type NewTemplate = Omit<TemplateRow, 'id' | 'revision' | 'created_at' | 'updated_at'>

/** Undefined when the code is taken. */
export function insertTemplate(tx: Tx, template: NewTemplate): Promise<TemplateRow | undefined> {
  return tx.one<TemplateRow>(
    `INSERT INTO sms_template (account_id, code, name, type, content, variables, status, reason, gateway_codes, created_at,
       updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ${tx.now}, ${tx.now}) ON CONFLICT DO NOTHING RETURNING *`,
    [
      template.account_id,
      template.code,
      template.name,
      template.type,
      template.content,
      template.variables,
      template.status,
      template.reason,
      template.gateway_codes,
    ],
  )
}

export async function updateTemplate(tx: Tx, template: TemplateRow): Promise<void> {
  await tx.run(
    `UPDATE sms_template SET name = ?, type = ?, content = ?, variables = ?, status = ?, reason = ?, gateway_codes = ?,
       revision = ?, updated_at = ${tx.now} WHERE id = ?`,
    [
      template.name,
      template.type,
      template.content,
      template.variables,
      template.status,
      template.reason,
      template.gateway_codes,
      template.revision,
      template.id,
    ],
  )
}

export async function removeTemplate(tx: Tx, id: number): Promise<void> {
  await removeVendorReviews(tx, 'template', id)
  await tx.run('DELETE FROM sms_template WHERE id = ?', [id])
}
