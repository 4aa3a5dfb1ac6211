// Replies of recipients, and the messages they reply to.
import { sql } from 'kysely'
import { maxSendAheadDays } from '../../contract/sms-text.ts'
import { dayMs } from '../../contract/time.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

export type ReplyRow = Tables['sms_reply']

export type RepliedSend = Pick<Tables['sms_send'], 'id' | 'account_id' | 'sign_name'>

/** A reply belongs to the last message to its number within this time. */
const matchMs = 7 * dayMs

/** The records of messages that are sent later are older by this at most: `send_at`, a night, and further tries. */
const maxWaitMs = (maxSendAheadDays + 2) * dayMs

/** Of messages that may have reached the number, first those of the gateway that the reply came from. */
export function findRepliedSend(
  queries: Queries,
  { phone, signName, gateway }: { phone: string; signName: string | undefined; gateway: string },
): Promise<RepliedSend | undefined> {
  const sentAt = sql<number>`COALESCE(sent_at, created_at)`
  const now = sql.raw(queries.now)
  let query = queries.kysely
    .selectFrom('sms_send')
    .select(['id', 'account_id', 'sign_name'])
    .where('phone', '=', phone)
    .where('created_at', '>', sql<number>`${now} - ${sql.lit(matchMs + maxWaitMs)}`)
    .where('state', '<>', 'refused')
    .where(({ eb, or }) => or([eb('batch_id', 'is', null), eb('sent_at', 'is not', null)]))
    .where(sentAt, '>', sql<number>`${now} - ${sql.lit(matchMs)}`)
    .orderBy(sql`CASE WHEN gateway = ${gateway} THEN 0 ELSE 1 END`)
    .orderBy(sentAt, 'desc')
    .orderBy('id', 'desc')
    .limit(1)
  if (signName !== undefined) query = query.where('sign_name', '=', signName)
  return query.executeTakeFirst()
}

/** Undefined when this reply of the vendor was stored before. */
export function insertReply(
  tx: Tx,
  reply: Omit<ReplyRow, 'id' | 'received_at'>,
): Promise<Pick<ReplyRow, 'id' | 'received_at'> | undefined> {
  return tx.one(
    `INSERT INTO sms_reply (account_id, send_id, phone, content, sign_name, gateway, sequence, stopped, received_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${tx.now}) ON CONFLICT DO NOTHING RETURNING id, received_at`,
    [
      reply.account_id,
      reply.send_id,
      reply.phone,
      reply.content,
      reply.sign_name,
      reply.gateway,
      reply.sequence,
      reply.stopped,
    ],
  )
}

export interface ReplyFilter {
  /** Null: replies without a message, for the operator. */
  readonly accountId: number | null
  readonly phone?: string | undefined
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined
  /** Unix milliseconds, exclusive. */
  readonly before?: number | undefined
  /** The last reply of the previous page. */
  readonly after?: Pick<ReplyRow, 'received_at' | 'id'> | undefined
}

/** Newest first. */
export function findReplies(queries: Queries, filter: ReplyFilter, limit: number): Promise<ReplyRow[]> {
  const { accountId, phone, from, before, after } = filter
  let query = queries.kysely
    .selectFrom('sms_reply')
    .selectAll()
    .where('account_id', accountId === null ? 'is' : '=', accountId)
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (phone !== undefined) query = query.where('phone', '=', phone)
  if (from !== undefined) query = query.where('received_at', '>=', from)
  if (before !== undefined) query = query.where('received_at', '<', before)
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('received_at', 'id'), '<', tuple(after.received_at, after.id)),
    )
  return query.execute()
}

export function findReplyPosition(
  queries: Queries,
  id: number,
): Promise<Pick<ReplyRow, 'received_at' | 'id'> | undefined> {
  return queries.one('SELECT received_at, id FROM sms_reply WHERE id = ?', [id])
}

export function deleteOldReplies(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'sms_reply', time: 'received_at' }, days, signal)
}
