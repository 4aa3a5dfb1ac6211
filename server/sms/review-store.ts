// Templates and signature requests for the operator's review, in one list.
import { sql } from 'kysely'
import type { TemplateState } from '../../contract/sms-text.ts'
import type { Queries } from '../db/database.ts'

export interface ReviewRow {
  readonly kind: 'template' | 'signature'
  readonly id: number
  /** Null: shared by the operator. */
  readonly username: string | null
  readonly code: string
  readonly name: string
  readonly content: string
  readonly type: string
  readonly note: string
  readonly status: TemplateState
  readonly reason: string
  readonly revision: number
  readonly at: number
}

export interface ReviewFilter {
  readonly kind?: 'template' | 'signature' | undefined
  readonly id?: number | undefined
  readonly status?: TemplateState | undefined
  readonly limit: number
  readonly offset: number
}

const templates = sql<ReviewRow>`SELECT 'template' AS kind, t.id, a.username, t.code, t.name, t.content, t.type, '' AS note, t.status, t.reason,
  t.revision, t.updated_at AS at FROM sms_template t LEFT JOIN account a ON a.id = t.account_id`
const signatures = sql<ReviewRow>`SELECT 'signature' AS kind, g.id, a.username, '' AS code, g.sign_name AS name, '' AS content, g.type, g.note,
  g.status, g.reason, g.revision, g.updated_at AS at FROM sms_account_signature g JOIN account a ON a.id = g.account_id`
const sources = {
  template: templates,
  signature: signatures,
  all: sql<ReviewRow>`${templates} UNION ALL ${signatures}`,
}

/** Pending reviews oldest first, decided ones newest first. */
export async function findReviews(
  queries: Queries,
  { kind, id, status, limit, offset }: ReviewFilter,
): Promise<{ rows: ReviewRow[]; total: number }> {
  let query = queries.kysely.selectFrom(sql<ReviewRow>`(${sources[kind ?? 'all']})`.as('review'))
  if (status !== undefined) query = query.where('review.status', '=', status)
  if (id !== undefined) query = query.where('review.id', '=', id)
  const order = status === '审核中' ? 'asc' : 'desc'
  const rows = await query
    .selectAll('review')
    .orderBy('review.at', order)
    .orderBy('review.kind')
    .orderBy('review.id', order)
    .limit(limit)
    .offset(offset)
    .execute()
  const counted = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirst()
  return { rows, total: counted?.count ?? 0 }
}

export async function countPendingReviews(queries: Queries): Promise<number> {
  const row = await queries.one<{ count: number }>(
    `SELECT (SELECT COUNT(*) FROM sms_template WHERE status = '审核中')
       + (SELECT COUNT(*) FROM sms_account_signature WHERE status = '审核中') AS count`,
  )
  return row?.count ?? 0
}
