// Inserts the messages of a batch: a send record and a row of the queue for each.
import type { Tx, Value } from '../../db/database.ts'
import { byEngine, unnest } from '../../db/dialect.ts'

/** What the messages of a batch have in common. */
export interface MessageRows {
  readonly batchId: number
  readonly accountId: number
  readonly templateCode: string
  readonly signName: string
  readonly gateway: string
  readonly createdAt: number
  readonly plannedAt: number
}

export interface MessageRow {
  readonly operationId: number
  readonly phone: string
  readonly params: string
  readonly parts: number
}

export function insertMessages(tx: Tx, rows: MessageRows, messages: readonly MessageRow[]): Promise<void> {
  return byEngine(tx, { sqlite: insertInParts, postgres: insertWithOneStatement })(tx, rows, messages)
}

/** Each size is a statement to prepare, so there are only some. */
const sizes = [128, 32, 8, 1]

const texts = new Map(
  sizes.map((size) => [
    size,
    // Bound once in a statement instead of once in a row. OR FAIL: a job in which an insert fails is rolled back anyway.
    `INSERT OR FAIL INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
       state, created_at, batch_id)
     SELECT ?, column1, column2, ?, column3, ?, column4, ?, 'sending', ?, ?
     FROM (VALUES ${Array<string>(size).fill('(?, ?, ?, ?)').join(', ')})`,
  ]),
)

async function insertInParts(tx: Tx, rows: MessageRows, messages: readonly MessageRow[]): Promise<void> {
  const { batchId, accountId, plannedAt } = rows
  const common = [accountId, rows.templateCode, rows.signName, rows.gateway, rows.createdAt, batchId]
  let last = 0
  for (let start = 0; start < messages.length;) {
    const size = sizes.find((candidate) => candidate <= messages.length - start) ?? 1
    const values: Value[] = [...common]
    for (let i = start; i < start + size; i += 1) {
      const { operationId, phone, params, parts } = messages[i]!
      values.push(operationId, phone, params, parts)
    }
    last = await tx.insert(texts.get(size)!, values)
    start += size
  }
  // There is one writer, so the ids of one transaction are consecutive.
  await tx.run(
    `INSERT OR FAIL INTO sms_queue (send_id, batch_id, account_id, operation_id, planned_at, due_at, tries)
     SELECT id, batch_id, account_id, operation_id, ?, ?, 0 FROM sms_send WHERE id BETWEEN ? AND ? ORDER BY id`,
    [plannedAt, plannedAt, last - messages.length + 1, last],
  )
}

const columns = { operation_id: 'bigint', phone: 'text', params: 'text', parts: 'bigint' } as const

async function insertWithOneStatement(
  tx: Tx,
  rows: MessageRows,
  messages: readonly MessageRow[],
): Promise<void> {
  const list = unnest(
    columns,
    messages.map(({ operationId, phone, params, parts }) => ({
      operation_id: operationId,
      phone,
      params,
      parts,
    })),
  )
  const { batchId, accountId, plannedAt } = rows
  await tx.run(
    `WITH one AS (
       SELECT CAST(? AS bigint) AS account_id, CAST(? AS text) AS template_code, CAST(? AS text) AS sign_name,
         CAST(? AS text) AS gateway, CAST(? AS bigint) AS created_at, CAST(? AS bigint) AS batch_id,
         CAST(? AS bigint) AS planned_at
     ), sends AS (
       INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
         state, created_at, batch_id)
       SELECT one.account_id, t.operation_id, t.phone, one.template_code, t.params, one.sign_name, t.parts, one.gateway,
         'sending', one.created_at, one.batch_id
       FROM one CROSS JOIN ${list.sql} AS t
       RETURNING id, operation_id
     )
     INSERT INTO sms_queue (send_id, batch_id, account_id, operation_id, planned_at, due_at, tries)
     SELECT sends.id, one.batch_id, one.account_id, sends.operation_id, one.planned_at, one.planned_at, 0
     FROM sends CROSS JOIN one`,
    [
      accountId,
      rows.templateCode,
      rows.signName,
      rows.gateway,
      rows.createdAt,
      batchId,
      plannedAt,
      ...list.values,
    ],
  )
}
