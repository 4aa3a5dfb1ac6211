// What waits for the operator's review, templates and signatures in one list.
import type { TemplateState } from '../../contract/sms-text.ts'
import type { Queries, Value } from '../db/database.ts'

export interface ReviewRow {
  readonly kind: 'template' | 'signature'
  readonly id: number
  /** Null: shared by the operator. */
  readonly username: string | null
  readonly code: string
  readonly name: string
  readonly content: string
  readonly status: TemplateState
  readonly reason: string
  readonly revision: number
  readonly at: number
}

export interface ReviewSearch {
  readonly kind?: 'template' | 'signature' | undefined
  readonly id?: number | undefined
  readonly status?: TemplateState | undefined
  readonly limit: number
  readonly offset: number
}

const parts = {
  template: `SELECT 'template' AS kind, t.id, a.username, t.code, t.name, t.content, t.status, t.reason, t.revision,
    t.updated_at AS at FROM sms_template t LEFT JOIN account a ON a.id = t.account_id`,
  signature: `SELECT 'signature' AS kind, g.id, a.username, '' AS code, g.sign_name AS name, '' AS content, g.status,
    g.reason, 1 AS revision, g.at FROM sms_signature g JOIN account a ON a.id = g.account_id`,
} as const

/** Who has waited longest comes first; of what is decided, the latest. */
export async function findReviews(
  queries: Queries,
  search: ReviewSearch,
): Promise<{ rows: ReviewRow[]; total: number }> {
  const union =
    search.kind === undefined ? `${parts.template} UNION ALL ${parts.signature}` : parts[search.kind]
  const terms: string[] = []
  const values: Value[] = []
  if (search.status !== undefined) {
    terms.push('status = ?')
    values.push(search.status)
  }
  if (search.id !== undefined) {
    terms.push('id = ?')
    values.push(search.id)
  }
  const from = `FROM (${union}) AS reviews ${terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`}`
  const order = search.status === '审核中' ? 'ASC' : 'DESC'
  const rows = await queries.all<ReviewRow>(
    `SELECT * ${from} ORDER BY at ${order}, kind, id ${order} LIMIT ? OFFSET ?`,
    [...values, search.limit, search.offset],
  )
  const counted = await queries.one<{ count: number }>(`SELECT COUNT(*) AS count ${from}`, values)
  return { rows, total: counted?.count ?? 0 }
}
