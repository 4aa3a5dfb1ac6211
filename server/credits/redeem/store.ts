// Redeem codes and the batches in which they were created.
import { type Actor, type OperatorActor, recordChange } from '../../audit/audit.ts'
import type { ApiType } from '../../../contract/credits.ts'
import type { RedeemBatch, RedeemCodeRow } from '../../../contract/console/responses/operator.ts'
import { countRows } from '../../db/count-rows.ts'
import { bulkInsert, insertRows } from '../../db/bulk-insert.ts'
import type { Queries, Tx } from '../../db/database.ts'
import type { Tables } from '../../db/schema.ts'

export interface NewCodeBatch {
  readonly apiType: ApiType
  readonly amount: number
  readonly expiresOn: string | null
  readonly codes: readonly { readonly hash: string; readonly hint: string }[]
}

const codeRows = bulkInsert('redeem_code', {
  batch_id: 'bigint',
  code_hash: 'text',
  hint: 'text',
  state: 'text',
})

export async function insertBatch(tx: Tx, actor: OperatorActor, batch: NewCodeBatch): Promise<number> {
  const row = await tx.one<Pick<Tables['redeem_batch'], 'id'>>(
    `INSERT INTO redeem_batch (api_type, amount, count, expires_on, note, created_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ${tx.now}) RETURNING id`,
    [batch.apiType, batch.amount, batch.codes.length, batch.expiresOn, actor.note ?? '', actor.name],
  )
  if (!row) throw new Error('the batch was not inserted')
  await insertRows(
    tx,
    codeRows,
    batch.codes.map(({ hash, hint }) => ({ batch_id: row.id, code_hash: hash, hint, state: 'unused' })),
  )
  await recordChange(tx, actor, 'redeem.make', `#${row.id}`, {
    api_type: batch.apiType,
    amount: batch.amount,
    count: batch.codes.length,
    expires_on: batch.expiresOn,
  })
  return row.id
}

export type CodeOffer = Readonly<
  Pick<Tables['redeem_code'], 'id' | 'state' | 'hint' | 'batch_id' | 'account_id'>
> &
  Readonly<Pick<Tables['redeem_batch'], 'api_type' | 'amount' | 'expires_on'>>

export function findOffer(queries: Queries, hash: string): Promise<CodeOffer | undefined> {
  return queries.one<CodeOffer>(
    `SELECT c.id, c.state, c.hint, c.batch_id, c.account_id, b.api_type, b.amount, b.expires_on
     FROM redeem_code c JOIN redeem_batch b ON b.id = c.batch_id WHERE c.code_hash = ?`,
    [hash],
  )
}

/** Marks the code as redeemed, once: false when it is not unused. */
export async function redeemCode(tx: Tx, id: number, accountId: number): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE redeem_code SET state = 'redeemed', account_id = ?, redeemed_at = ${tx.now} WHERE id = ? AND state = 'unused'`,
    [accountId, id],
  )
  return changed === 1
}

export async function revokeBatch(tx: Tx, actor: Actor, batchId: number): Promise<number> {
  const revoked = await tx.run(
    `UPDATE redeem_code SET state = 'revoked', revoked_at = ${tx.now} WHERE batch_id = ? AND state = 'unused'`,
    [batchId],
  )
  await recordChange(tx, actor, 'redeem.revoke_batch', `#${batchId}`, { revoked })
  return revoked
}

/** Returns the hint of the code; undefined when it is not unused. */
export async function revokeCode(tx: Tx, actor: Actor, id: number): Promise<string | undefined> {
  const row = await tx.one<Pick<Tables['redeem_code'], 'hint'>>(
    `UPDATE redeem_code SET state = 'revoked', revoked_at = ${tx.now} WHERE id = ? AND state = 'unused' RETURNING hint`,
    [id],
  )
  if (row) await recordChange(tx, actor, 'redeem.revoke', row.hint)
  return row?.hint
}

const batchSelect = `SELECT b.id, b.api_type, b.amount, b.count,
    (SELECT COUNT(*) FROM redeem_code c WHERE c.batch_id = b.id AND c.state = 'redeemed') AS redeemed,
    (SELECT COUNT(*) FROM redeem_code c WHERE c.batch_id = b.id AND c.state = 'revoked') AS revoked,
    b.expires_on, b.note, b.created_by, b.created_at FROM redeem_batch b`

export function listBatches(
  queries: Queries,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<RedeemBatch[]> {
  return queries.all<RedeemBatch>(`${batchSelect} ORDER BY b.id DESC LIMIT ? OFFSET ?`, [limit, offset])
}

export function countBatches(queries: Queries): Promise<number> {
  return countRows(queries, 'redeem_batch')
}

export function findBatch(queries: Queries, id: number): Promise<RedeemBatch | undefined> {
  return queries.one<RedeemBatch>(`${batchSelect} WHERE b.id = ?`, [id])
}

export interface CodeSearch {
  readonly batchId: number
  readonly state?: RedeemCodeRow['state'] | undefined
  readonly limit: number
  readonly offset: number
}

export async function listCodes(
  queries: Queries,
  search: CodeSearch,
): Promise<{ rows: RedeemCodeRow[]; total: number }> {
  let codes = queries.kysely.selectFrom('redeem_code as c').where('c.batch_id', '=', search.batchId)
  if (search.state !== undefined) codes = codes.where('c.state', '=', search.state)
  const rows = await codes
    .leftJoin('account as a', 'a.id', 'c.account_id')
    .select(['c.id', 'c.hint', 'c.state', 'a.username as redeemed_by', 'c.redeemed_at', 'c.revoked_at'])
    .orderBy('c.id')
    .limit(search.limit)
    .offset(search.offset)
    .execute()
  const { total } = await codes
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { rows, total }
}
