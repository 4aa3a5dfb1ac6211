// Send records: written with the charge, ended with it, and read by serial number, recipient and day.
import { recordIdOf } from '../../contract/sms-text.ts'
import type { Queries, Tx } from '../db/database.ts'
import { bulkInsert, insertRowsReturningIds } from '../db/bulk-insert.ts'
import type { Problem } from './problems.ts'

/**
 * What is known of the message: `sending` (a gateway is being asked), `unknown` (it may have gone out), `refused` (it
 * did not), `accepted`, and after a receipt `delivered` or `undelivered`.
 */
export type SendState = 'sending' | 'unknown' | 'refused' | 'accepted' | 'delivered' | 'undelivered'

export interface SendRecord {
  readonly id: number
  readonly account_id: number
  readonly operation_id: number
  readonly phone: string
  readonly template_code: string
  /** JSON object. */
  readonly template_params: string
  readonly sign_name: string
  readonly parts: number
  /** The gateway that was asked last, written before it is asked. */
  readonly gateway: string
  readonly gateway_id: string | null
  readonly state: SendState
  readonly success: number
  /** 1 while the credits are held or spent, 0 once they were given back. */
  readonly charged: number
  readonly problem: string
  readonly problem_code: string
  readonly created_at: number
}

const columns = `id, account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
  gateway_id, state, success, charged, problem, problem_code, created_at`

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

export interface OpenedSend {
  readonly id: number
  readonly created_at: number
}

const sendRows = bulkInsert('sms_send', {
  account_id: 'bigint',
  operation_id: 'bigint',
  phone: 'text',
  template_code: 'text',
  template_params: 'text',
  sign_name: 'text',
  parts: 'bigint',
  gateway: 'text',
  state: 'text',
  created_at: 'bigint',
})

/** In the order of the sends. */
export async function insertSends(tx: Tx, sends: readonly NewSend[]): Promise<OpenedSend[]> {
  const ids = await insertRowsReturningIds(
    tx,
    sendRows,
    sends.map((send) => ({
      account_id: send.accountId,
      operation_id: send.operationId,
      phone: send.phone,
      template_code: send.templateCode,
      template_params: send.templateParams,
      sign_name: send.signName,
      parts: send.parts,
      gateway: send.gateway,
      state: 'sending',
      created_at: send.createdAt,
    })),
  )
  return ids.map((id, index) => ({ id, created_at: sends[index]!.createdAt }))
}

/** Says who is about to be asked next, so that after a crash the right gateway is asked what became of the message. */
export async function nameGateway(tx: Tx, id: number, gateway: string): Promise<void> {
  await tx.run('UPDATE sms_send SET gateway = ? WHERE id = ?', [gateway, id])
}

/** The gateway took the message. What a receipt has said meanwhile stands. */
async function markAccepted(tx: Tx, id: number, gatewayId: string | undefined): Promise<void> {
  // Most records are as they were inserted; only a receipt or the sweeper makes the difference.
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

/** The same for many: one statement for those that are as they were inserted. */
export async function markAllAccepted(
  tx: Tx,
  accepted: readonly { readonly id: number; readonly gatewayId: string | undefined }[],
): Promise<void> {
  let left = accepted
  if (tx.engine === 'postgres' && accepted.length > 1) {
    const rows = await tx.all<{ id: number }>(
      `UPDATE sms_send s SET state = 'accepted', success = 1, gateway_id = COALESCE(t.gateway_id, s.gateway_id)
       FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS t (id, gateway_id)
       WHERE s.id = t.id AND s.state = 'sending' RETURNING s.id`,
      [accepted.map(({ id }) => id), accepted.map(({ gatewayId }) => gatewayId ?? null)],
    )
    const done = new Set(rows.map(({ id }) => id))
    left = accepted.filter(({ id }) => !done.has(id))
  }
  for (const { id, gatewayId } of left) await markAccepted(tx, id, gatewayId)
}

/** Nothing went out, or nobody knows. A receipt that came in between knows better and is left alone. */
export async function markFailed(
  tx: Tx,
  id: number,
  failed: { state: 'refused' | 'unknown'; charged: boolean; problem: Problem; code: string },
): Promise<void> {
  await tx.run(
    `UPDATE sms_send SET state = ?, charged = ?, success = 0, problem = ?, problem_code = ?
     WHERE id = ? AND state IN ('sending', 'unknown')`,
    [failed.state, failed.charged ? 1 : 0, failed.problem, failed.code, id],
  )
}

/** What a receipt or an answer to our question says. */
export async function markFate(
  tx: Tx,
  id: number,
  fate: {
    state: 'accepted' | 'delivered' | 'undelivered'
    gatewayId: string | null
    charged: boolean
    problem: Problem
    code: string
  },
): Promise<void> {
  await tx.run(
    `UPDATE sms_send SET state = ?, receipt_at = CASE WHEN ? = 'accepted' THEN receipt_at ELSE ${tx.now} END,
       gateway_id = COALESCE(?, gateway_id), charged = ?, success = ?, problem = ?, problem_code = ? WHERE id = ?`,
    [
      fate.state,
      fate.state,
      fate.gatewayId,
      fate.charged ? 1 : 0,
      fate.state === 'undelivered' ? 0 : 1,
      fate.problem,
      fate.code,
      id,
    ],
  )
}

/** Reads a record to change it: on PostgreSQL it is locked, on SQLite the transaction is the lock. */
export function lockSend(tx: Tx, id: number): Promise<SendRecord | undefined> {
  const sql = `SELECT ${columns} FROM sms_send WHERE id = ?`
  return tx.one<SendRecord>(tx.engine === 'postgres' ? `${sql} FOR UPDATE` : sql, [id])
}

export function findByOperation(queries: Queries, operationId: number): Promise<SendRecord | undefined> {
  return queries.one<SendRecord>(`SELECT ${columns} FROM sms_send WHERE operation_id = ?`, [operationId])
}

export async function findIdByGatewayId(
  queries: Queries,
  gateway: string,
  gatewayId: string,
): Promise<number | undefined> {
  const row = await queries.one<{ id: number }>(
    'SELECT id FROM sms_send WHERE gateway_id = ? AND gateway = ?',
    [gatewayId, gateway],
  )
  return row?.id
}

export interface SendFilter {
  readonly accountId: number
  readonly bizId?: string | undefined
  readonly phone?: string | undefined
  /** From this millisecond on. */
  readonly from?: number | undefined
  /** Before this millisecond. */
  readonly before?: number | undefined
}

/** The newest first. Each combination of filters is its own text, so that each gets the index that fits it. */
export async function findSends(queries: Queries, filter: SendFilter, limit: number): Promise<SendRecord[]> {
  const conditions = ['account_id = ?']
  const values: (string | number)[] = [filter.accountId]
  if (filter.bizId !== undefined) {
    const id = recordIdOf(filter.bizId)
    if (id === undefined) return []
    conditions.push('id = ?')
    values.push(id)
  }
  if (filter.phone !== undefined) {
    conditions.push('phone = ?')
    values.push(filter.phone)
  }
  if (filter.from !== undefined) {
    conditions.push('created_at >= ?')
    values.push(filter.from)
  }
  if (filter.before !== undefined) {
    conditions.push('created_at < ?')
    values.push(filter.before)
  }
  return queries.all<SendRecord>(
    `SELECT ${columns} FROM sms_send WHERE ${conditions.join(' AND ')}
     ORDER BY created_at DESC, id DESC LIMIT ${limit}`,
    values,
  )
}

/** As people read it: `sent` (no receipt yet), `delivered`, `failed`, or `undecided` while the credits are held. */
export type SendOutcome = 'sent' | 'delivered' | 'failed' | 'undecided'

export function outcomeOf({ state, charged }: Pick<SendRecord, 'state' | 'charged'>): SendOutcome {
  if (state === 'accepted') return 'sent'
  if (state === 'delivered') return 'delivered'
  return charged === 1 && (state === 'sending' || state === 'unknown') ? 'undecided' : 'failed'
}

const outcomeTerms: Readonly<Record<SendOutcome, string>> = {
  sent: `s.state = 'accepted'`,
  delivered: `s.state = 'delivered'`,
  failed: `(s.state IN ('refused', 'undelivered') OR (s.state IN ('sending', 'unknown') AND s.charged = 0))`,
  undecided: `s.state IN ('sending', 'unknown') AND s.charged = 1`,
}

export interface PageFilter extends Omit<SendFilter, 'accountId'> {
  /** Undefined: of all accounts, for the operator. */
  readonly accountId: number | undefined
  readonly templateCode?: string | undefined
  readonly outcome?: SendOutcome | undefined
  /** The last record of the page before. */
  readonly after?: { readonly created_at: number; readonly id: number } | undefined
}

/** A record with what it cost and the name of its template, as long as there is one. */
export interface ShownSend extends SendRecord {
  readonly receipt_at: number | null
  readonly template_name: string | null
  readonly cost: number | null
  readonly given_back: number | null
  readonly request_id: string | null
}

const shownColumns = `${columns
  .split(/,\s*/)
  .map((column) => `s.${column}`)
  .join(', ')}, s.receipt_at, o.cost, o.given_back, o.request_id,
  (SELECT t.name FROM sms_template t WHERE t.code = s.template_code
     AND (t.account_id = s.account_id OR t.account_id IS NULL)
     ORDER BY CASE WHEN t.account_id IS NULL THEN 1 ELSE 0 END LIMIT 1) AS template_name`

/** For the console and for exports: any mix of filters, page after page by the place where the last one ended. */
export function findPage(queries: Queries, filter: PageFilter, limit: number): Promise<ShownSend[]> {
  const terms: string[] = []
  const values: (string | number)[] = []
  const add = (term: string, ...given: readonly (string | number | undefined)[]) => {
    if (given.includes(undefined)) return
    terms.push(term)
    values.push(...(given as readonly (string | number)[]))
  }
  add('s.account_id = ?', filter.accountId)
  // An id that is none finds nothing: no record has the number 0.
  if (filter.bizId !== undefined) add('s.id = ?', recordIdOf(filter.bizId) ?? 0)
  add('s.phone = ?', filter.phone)
  add('s.created_at >= ?', filter.from)
  add('s.created_at < ?', filter.before)
  add('s.template_code = ?', filter.templateCode)
  if (filter.outcome !== undefined) add(outcomeTerms[filter.outcome])
  add('(s.created_at, s.id) < (?, ?)', filter.after?.created_at, filter.after?.id)
  const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`
  return queries.all<ShownSend>(
    `SELECT ${shownColumns} FROM sms_send s LEFT JOIN operation o ON o.id = s.operation_id ${where}
     ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}`,
    values,
  )
}

/** Where a record stands in the order of the pages. */
export function findPlace(
  queries: Queries,
  accountId: number,
  id: number,
): Promise<{ readonly created_at: number; readonly id: number } | undefined> {
  return queries.one('SELECT created_at, id FROM sms_send WHERE id = ? AND account_id = ?', [id, accountId])
}
