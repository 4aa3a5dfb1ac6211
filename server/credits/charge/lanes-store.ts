// Charges on PostgreSQL in micro-batches, so that one hot account is not bound by one row lock and one fsync per call.
//
// Charges are dealt to a few lanes by account. A lane has one batch in flight; what arrives meanwhile makes the next one.
// A batch locks the balances it needs in a fixed order, decides each charge in the order of arrival, and writes all of
// them with one statement. When the database refuses anything in it, nothing has happened, and every charge runs alone.
import type { Database, Tx } from '../../db/database.ts'
import { createBatcher } from '../../db/batcher.ts'
import {
  balanceName,
  chargeInTransaction,
  completeCharges,
  decideCharges,
  heldColumns,
  type HeldBalance,
  type MadeCharge,
  madeOf,
} from './store.ts'
import type { ChargeRequest, ChargeResult } from '../operation.ts'
import type { AnswerSeal } from './sealed-answer.ts'

const laneCount = 4
const batchLimit = 256
/** Operation ids are drawn from the sequence in blocks, so that rows can name their operation before it is written. */
const idBlock = 1_000

export function chargeLanes(
  db: Database,
  seal: AnswerSeal,
): <T>(request: ChargeRequest<T>) => Promise<ChargeResult<T>> {
  const lanes = Array.from({ length: laneCount }, () => openChargeLane(db, seal))
  return <T>(request: ChargeRequest<T>) =>
    lanes[request.accountId % laneCount]!(request as ChargeRequest<unknown>) as Promise<ChargeResult<T>>
}

function openChargeLane(db: Database, seal: AnswerSeal) {
  let ids: number[] = []
  return createBatcher<ChargeRequest<unknown>, ChargeResult<unknown>>({
    maxBatch: batchLimit,
    async runBatch(batch) {
      if (ids.length < batch.length) ids = ids.concat(await drawIds(db))
      const mine = ids.slice(0, batch.length)
      ids = ids.slice(batch.length)
      return db.write((tx) => chargeTogether(tx, batch, mine, seal))
    },
    runSingle: (request) => db.write((tx) => chargeInTransaction(tx, request, seal)),
  })
}

async function drawIds(db: Database): Promise<number[]> {
  const rows = await db.all<{ id: number }>(
    `SELECT nextval(pg_get_serial_sequence('operation', 'id')) AS id FROM generate_series(1, ${idBlock})`,
  )
  return rows.map((row) => row.id)
}

/** Thrown to leave the batch: the charges with an `Idempotency-Key` that is in use are settled one by one. */
class NeedsOwnTransaction extends Error {}

async function chargeTogether(
  tx: Tx,
  batch: readonly ChargeRequest<unknown>[],
  ids: readonly number[],
  seal: AnswerSeal,
): Promise<ChargeResult<unknown>[]> {
  const balances = await lockBalances(tx, batch)
  await requireFreshKeys(tx, batch)
  const decided = decideCharges(batch, balances)
  const made = madeOf(decided.accepted, ids)
  if (made.length > 0) await insertAccepted(tx, made)
  return completeCharges(tx, decided, made, seal)
}

async function lockBalances(
  tx: Tx,
  batch: readonly ChargeRequest<unknown>[],
): Promise<Map<string, HeldBalance>> {
  const rows = await tx.all<HeldBalance>(
    `SELECT ${heldColumns(tx)}
     FROM credit c JOIN account a ON a.id = c.account_id
     WHERE (c.account_id, c.api_type) IN (SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])))
     ORDER BY c.account_id, c.api_type FOR UPDATE OF c FOR SHARE OF a`,
    [batch.map(({ accountId }) => accountId), batch.map(({ apiType }) => apiType)],
  )
  return new Map(rows.map((row) => [balanceName({ accountId: row.account_id, apiType: row.api_type }), row]))
}

async function requireFreshKeys(tx: Tx, batch: readonly ChargeRequest<unknown>[]): Promise<void> {
  const keyed = batch.filter(({ idempotency }) => idempotency)
  if (keyed.length === 0) return
  const names = new Set(keyed.map(({ accountId, idempotency }) => `${accountId} ${idempotency?.key}`))
  if (names.size < keyed.length) throw new NeedsOwnTransaction()
  const known = await tx.all(
    `SELECT 1 AS known FROM operation WHERE (account_id, idempotency_key) IN
       (SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS text[]))) LIMIT 1`,
    [keyed.map(({ accountId }) => accountId), keyed.map(({ idempotency }) => idempotency?.key ?? null)],
  )
  if (known.length > 0) throw new NeedsOwnTransaction()
}

async function insertAccepted(tx: Tx, accepted: readonly MadeCharge[]): Promise<void> {
  const requests = accepted.map(({ request }) => request)
  await tx.run(
    `WITH item AS (
       SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS bigint[]), CAST(? AS text[]), CAST(? AS text[]),
         CAST(? AS bigint[]), CAST(? AS text[]), CAST(? AS text[]), CAST(? AS bigint[]), CAST(? AS text[]),
         CAST(? AS bigint[])) WITH ORDINALITY
       AS t (id, account_id, api_type, action, cost, idempotency_key, fingerprint, lease_ms, request_id, balance, place)
     ), spent AS (
       UPDATE credit c SET used = c.used + s.cost
       FROM (SELECT account_id, api_type, SUM(cost) AS cost FROM item GROUP BY account_id, api_type) s
       WHERE c.account_id = s.account_id AND c.api_type = s.api_type
     ), opened AS (
       INSERT INTO operation (id, account_id, api_type, action, cost, state, idempotency_key, fingerprint, lease_until,
         request_id, created_at, ended_at)
       SELECT id, account_id, api_type, action, cost, CASE WHEN lease_ms IS NULL THEN 'settled' ELSE 'held' END,
         idempotency_key, fingerprint, ${tx.now} + lease_ms, request_id, ${tx.now},
         CASE WHEN lease_ms IS NULL THEN ${tx.now} END
       FROM item
     )
     INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
     SELECT account_id, api_type, 'charge', -cost, balance, id, ${tx.now} FROM item ORDER BY place`,
    [
      accepted.map(({ charged }) => charged.operationId),
      requests.map(({ accountId }) => accountId),
      requests.map(({ apiType }) => apiType),
      requests.map(({ action }) => action),
      requests.map(({ cost }) => cost),
      requests.map(({ idempotency }) => idempotency?.key ?? null),
      requests.map(({ idempotency }) => idempotency?.fingerprint ?? null),
      requests.map(({ leaseMs }) => leaseMs ?? null),
      requests.map(({ requestId }) => requestId),
      accepted.map(({ charged }) => charged.remaining),
    ],
  )
}
