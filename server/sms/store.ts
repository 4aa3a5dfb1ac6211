// Send records: inserted with the charge, updated with its end, and found by serial number, recipient and day.
import { type RawBuilder, sql } from 'kysely'
import { recordIdOf } from '../../contract/sms-text.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import type { StatementPart } from '../credits/batch-writer.ts'
import type { Charge } from '../credits/operation.ts'
import { bulkInsert, insertRowsReturningIds } from '../db/bulk-insert.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'
import { forUpdate, idList, unnest, valueTable } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import type { Problem } from './problems.ts'

export type SendRecord = Tables['sms_send']

export interface NewSend {
  readonly accountId: number
  readonly operationId: number
  readonly phone: string
  readonly templateCode: string
  readonly templateParams: string
  readonly signName: string
  readonly parts: number
  readonly gateway: string
  readonly createdAt: number
}

const newSendColumns = {
  account_id: 'bigint',
  phone: 'text',
  template_code: 'text',
  template_params: 'text',
  sign_name: 'text',
  parts: 'bigint',
  gateway: 'text',
  state: 'text',
} as const

const sendRows = bulkInsert('sms_send', { ...newSendColumns, operation_id: 'bigint', created_at: 'bigint' })

type SendValues = Omit<NewSend, 'operationId' | 'createdAt'>

function newRowOf(send: SendValues) {
  return {
    account_id: send.accountId,
    phone: send.phone,
    template_code: send.templateCode,
    template_params: send.templateParams,
    sign_name: send.signName,
    parts: send.parts,
    gateway: send.gateway,
    state: 'sending' as const,
  }
}

/** Returns the records in the order of the sends. */
export async function insertSends(tx: Tx, sends: readonly NewSend[]): Promise<SendPosition[]> {
  const ids = await insertRowsReturningIds(
    tx,
    sendRows,
    sends.map((send) => ({
      ...newRowOf(send),
      operation_id: send.operationId,
      created_at: send.createdAt,
    })),
  )
  return ids.map((id, index) => ({ id, created_at: sends[index]!.createdAt }))
}

/** Inserts the records in the statement that charges for them. They are in the order of the charges. */
export function sendsPart(sends: readonly SendValues[]): StatementPart<Charge, SendPosition> {
  const list = unnest(
    { ...newSendColumns, place: 'bigint' },
    sends.map((send, place) => ({ ...newRowOf(send), place })),
  )
  const names = Object.keys(newSendColumns).join(', ')
  return {
    ctes: `, new_send AS MATERIALIZED (
        SELECT nextval('sms_send_id_seq') AS id, charge.id AS operation_id, charge.at, t.*
        FROM ${list.sql} AS t JOIN charge ON charge.position = t.place
      ), sends AS (
        INSERT INTO sms_send (id, ${names}, operation_id, created_at)
        SELECT id, ${names}, operation_id, at FROM new_send
      )`,
    values: list.values,
    returning: `(SELECT string_agg(place || ' ' || id, ',') FROM new_send)`,
    read(text, charges) {
      const positions: SendPosition[] = []
      for (const one of text.split(',')) {
        const [place, id] = one.split(' ').map(Number)
        positions[place!] = { id: id!, created_at: charges[place!]!.at }
      }
      return positions
    },
  }
}

export async function updateGateway(tx: Tx, id: number, gateway: string): Promise<void> {
  await tx.run('UPDATE sms_send SET gateway = ? WHERE id = ?', [gateway, id])
}

/** A receipt that came first is not overwritten. */
async function markOneAccepted(tx: Tx, id: number, gatewayId: string | undefined): Promise<void> {
  // Few records have changed since their insertion: only a receipt or the sweeper changes them.
  const values = gatewayId === undefined ? [id] : [gatewayId, id]
  const set = gatewayId === undefined ? '' : ', gateway_id = ?'
  const changed = await tx.run(
    `UPDATE sms_send SET state = 'accepted', success = 1${set} WHERE id = ? AND state = 'sending'`,
    values,
  )
  if (changed === 1) return
  await tx.run(
    `UPDATE sms_send SET
       success = CASE WHEN state = 'undelivered' THEN 0 ELSE 1 END,
       problem = CASE WHEN state = 'undelivered' THEN problem ELSE '' END,
       problem_code = CASE WHEN state = 'undelivered' THEN problem_code ELSE '' END,
       state = CASE WHEN state IN ('delivered', 'undelivered') THEN state ELSE 'accepted' END${set}
     WHERE id = ?`,
    values,
  )
}

/** One statement for all records that have not changed since their insertion. */
export async function markAccepted(
  tx: Tx,
  accepted: readonly { readonly id: number; readonly gatewayId: string | undefined }[],
): Promise<void> {
  let remaining = accepted
  if (accepted.length > 1) {
    const list = valueTable(
      tx,
      acceptedColumns,
      accepted.map(({ id, gatewayId }) => ({ send_id: id, sent_as: gatewayId ?? null })),
    )
    const rows = await tx.all<Pick<SendRecord, 'id'>>(
      `UPDATE sms_send SET state = 'accepted', success = 1, gateway_id = COALESCE(list.sent_as, gateway_id)
       FROM ${list.sql} AS list WHERE id = list.send_id AND state = 'sending' RETURNING id`,
      list.values,
    )
    const updated = new Set(rows.map(({ id }) => id))
    remaining = accepted.filter(({ id }) => !updated.has(id))
  }
  for (const { id, gatewayId } of remaining) await markOneAccepted(tx, id, gatewayId)
}

const acceptedColumns = { send_id: 'bigint', sent_as: 'text' } as const

/** Like `markAccepted`, in the statement of the ends. A record that has changed since its insertion is an error. */
export function acceptedPart(
  accepted: readonly { readonly id: number; readonly gatewayId: string | undefined }[],
): StatementPart<unknown, never> {
  const list = unnest(
    acceptedColumns,
    accepted.map(({ id, gatewayId }) => ({ send_id: id, sent_as: gatewayId ?? null })),
  )
  return {
    ctes: `, accepted AS (
        UPDATE sms_send SET state = 'accepted', success = 1, gateway_id = COALESCE(list.sent_as, gateway_id)
        FROM ${list.sql} AS list WHERE id = list.send_id AND state = 'sending' RETURNING id
      )`,
    values: list.values,
    returning: `(SELECT CAST(1 / CASE WHEN count(*) = (SELECT count(*) FROM settled) THEN 1 ELSE 0 END AS text)
      FROM accepted)`,
    read: () => [],
  }
}

export interface FailedSend {
  readonly id: number
  readonly state: 'refused' | 'unknown'
  readonly charged: boolean
  readonly problem: Problem
  readonly code: string
  /** Whose code it is, if that is not the gateway that was tried last. */
  readonly gateway?: string | undefined
}

/** The messages were not sent, or it is unknown. A receipt that came first is not overwritten. */
export async function markFailed(tx: Tx, failed: readonly FailedSend[]): Promise<void> {
  if (failed.length === 0) return
  const list = valueTable(
    tx,
    {
      send_id: 'bigint',
      new_state: 'text',
      is_charged: 'bigint',
      why: 'text',
      why_code: 'text',
      tried: 'text',
    },
    failed.map(({ id, state, charged, problem, code, gateway }) => ({
      send_id: id,
      new_state: state,
      is_charged: charged ? 1 : 0,
      why: problem,
      why_code: code,
      tried: gateway ?? null,
    })),
  )
  await tx.run(
    `UPDATE sms_send SET state = list.new_state, charged = list.is_charged, success = 0, problem = list.why,
       problem_code = list.why_code, gateway = COALESCE(list.tried, gateway)
     FROM ${list.sql} AS list WHERE id = list.send_id AND state IN ('sending', 'unknown')`,
    list.values,
  )
}

/** The credits were refunded, because it is not known whether these messages were sent. */
export async function markUnconfirmed(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const list = idList(tx, ids)
  await tx.run(
    `UPDATE sms_send SET state = 'unknown', charged = 0, success = 0, problem = 'unconfirmed'
     WHERE id IN ${list.sql} AND state IN ('sending', 'unknown')`,
    [list.value],
  )
}

export interface SendStatus {
  readonly id: number
  readonly state: 'accepted' | 'delivered' | 'undelivered'
  readonly gatewayId: string | undefined
  readonly charged: boolean
  readonly problem: Problem
  readonly code: string
  /** The carrier's code in a receipt. */
  readonly receiptCode: string
}

/** Stores delivery statuses from receipts or status queries. */
export async function updateStatuses(tx: Tx, statuses: readonly SendStatus[]): Promise<void> {
  if (statuses.length === 0) return
  const list = valueTable(
    tx,
    {
      send_id: 'bigint',
      new_state: 'text',
      sent_as: 'text',
      is_charged: 'bigint',
      why: 'text',
      why_code: 'text',
      carrier_code: 'text',
    },
    statuses.map(({ id, state, gatewayId, charged, problem, code, receiptCode }) => ({
      send_id: id,
      new_state: state,
      sent_as: gatewayId ?? null,
      is_charged: charged ? 1 : 0,
      why: problem,
      why_code: code,
      carrier_code: receiptCode,
    })),
  )
  await tx.run(
    `UPDATE sms_send SET state = list.new_state, receipt_code = list.carrier_code,
       receipt_at = CASE WHEN list.new_state = 'accepted' THEN receipt_at ELSE ${tx.now} END,
       gateway_id = COALESCE(list.sent_as, gateway_id), charged = list.is_charged,
       success = CASE WHEN list.new_state = 'undelivered' THEN 0 ELSE 1 END, problem = list.why,
       problem_code = list.why_code
     FROM ${list.sql} AS list WHERE id = list.send_id`,
    list.values,
  )
}

export function findSend(queries: Queries, id: number): Promise<SendRecord | undefined> {
  return queries.one<SendRecord>('SELECT * FROM sms_send WHERE id = ?', [id])
}

export function lockSend(tx: Tx, id: number): Promise<SendRecord | undefined> {
  return tx.one<SendRecord>(`SELECT * FROM sms_send WHERE id = ?${forUpdate(tx)}`, [id])
}

export function findByOperation(queries: Queries, operationId: number): Promise<SendRecord | undefined> {
  return queries.one<SendRecord>('SELECT * FROM sms_send WHERE operation_id = ?', [operationId])
}

export async function findIdByGatewayId(
  queries: Queries,
  gateway: string,
  gatewayId: string,
): Promise<number | undefined> {
  const row = await queries.one<Pick<SendRecord, 'id'>>(
    'SELECT id FROM sms_send WHERE gateway_id = ? AND gateway = ?',
    [gatewayId, gateway],
  )
  return row?.id
}

export interface SendFilter {
  /** Undefined: all accounts, for the operator. */
  readonly accountId: number | undefined
  readonly bizId?: string | undefined
  readonly phone?: string | undefined
  /** Unix milliseconds, inclusive. */
  readonly from?: number | undefined
  /** Unix milliseconds, exclusive. */
  readonly before?: number | undefined
  readonly templateCode?: string | undefined
  readonly outcome?: SendOutcome | undefined
  readonly batchId?: number | undefined
  /** The last record of the previous page. */
  readonly after?: SendPosition | undefined
}

export type SendPosition = Pick<SendRecord, 'created_at' | 'id'>

/** As shown in the console: `sent` has no receipt yet, `undecided` still holds the credits. */
export type SendOutcome = 'sent' | 'delivered' | 'failed' | 'undecided'

export function outcomeOf({ state, charged }: Pick<SendRecord, 'state' | 'charged'>): SendOutcome {
  if (state === 'accepted') return 'sent'
  if (state === 'delivered') return 'delivered'
  return charged === 1 && (state === 'sending' || state === 'unknown') ? 'undecided' : 'failed'
}

const outcomeConditions: Readonly<Record<SendOutcome, RawBuilder<boolean>>> = {
  sent: sql`s.state = 'accepted'`,
  delivered: sql`s.state = 'delivered'`,
  failed: sql`(s.state IN ('refused', 'undelivered') OR (s.state IN ('sending', 'unknown') AND s.charged = 0))`,
  undecided: sql`s.state IN ('sending', 'unknown') AND s.charged = 1`,
}

/** Newest first. */
function selectSends(queries: Queries, filter: SendFilter, limit: number) {
  const { accountId, bizId, phone, from, before, templateCode, outcome, batchId, after } = filter
  let query = queries.kysely
    .selectFrom('sms_send as s')
    .orderBy('s.created_at', 'desc')
    .orderBy('s.id', 'desc')
    .limit(limit)
  if (accountId !== undefined) query = query.where('s.account_id', '=', accountId)
  // No record has id 0, so an invalid biz_id finds nothing.
  if (bizId !== undefined) query = query.where('s.id', '=', recordIdOf(bizId) ?? 0)
  if (phone !== undefined) query = query.where('s.phone', '=', phone)
  if (from !== undefined) query = query.where('s.created_at', '>=', from)
  if (before !== undefined) query = query.where('s.created_at', '<', before)
  if (templateCode !== undefined) query = query.where('s.template_code', '=', templateCode)
  if (outcome !== undefined) query = query.where(outcomeConditions[outcome])
  if (batchId !== undefined) query = query.where('s.batch_id', '=', batchId)
  if (after !== undefined)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('s.created_at', 's.id'), '<', tuple(after.created_at, after.id)),
    )
  return query
}

export function findSends(queries: Queries, filter: SendFilter, limit: number): Promise<SendRecord[]> {
  return selectSends(queries, filter, limit).selectAll('s').execute()
}

/** A record with its cost and the name of its template, if that still exists. */
export interface ListedSend extends SendRecord {
  readonly template_name: string | null
  readonly cost: number | null
  readonly given_back: number | null
  readonly request_id: string | null
}

/** For the console and for exports. */
export function findPage(queries: Queries, filter: SendFilter, limit: number): Promise<ListedSend[]> {
  return selectSends(queries, filter, limit)
    .leftJoin('operation as o', 'o.id', 's.operation_id')
    .selectAll('s')
    .select(['o.cost', 'o.given_back', 'o.request_id'])
    .select((eb) =>
      eb
        .selectFrom('sms_template as t')
        .select('t.name')
        .whereRef('t.code', '=', 's.template_code')
        .where((where) =>
          where.or([
            where('t.account_id', '=', where.ref('s.account_id')),
            where('t.account_id', 'is', null),
          ]),
        )
        .orderBy(sql`CASE WHEN t.account_id IS NULL THEN 1 ELSE 0 END`)
        .limit(1)
        .as('template_name'),
    )
    .execute()
}

export function findPosition(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<SendPosition | undefined> {
  return queries.one('SELECT created_at, id FROM sms_send WHERE id = ? AND account_id = ?', [id, accountId])
}

export function deleteOldSends(db: Database, days: number, signal: AbortSignal): Promise<number> {
  return deleteOlderThan(db, { table: 'sms_send', time: 'created_at' }, days, signal)
}
