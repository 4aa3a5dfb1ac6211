// Charges on PostgreSQL in micro-batches, so that one hot account is not bound by one row lock and one fsync per call.
//
// Charges are dealt to a few lanes by account. A lane has one batch in flight; what arrives meanwhile makes the next one.
// A batch locks the balances it needs in a fixed order, decides each charge in the order of arrival, and writes all of
// them with one statement. When the database refuses anything in it, nothing has happened, and every charge runs alone.
import { type Database, DatabaseUnavailable, type Tx } from '../db/database.ts'
import { chargeInTransaction, decideCharge, type HeldBalance, runAlongside } from './charge-store.ts'
import type { ChargeRequest, ChargeResult } from './operation.ts'
import type { AnswerSeal } from './sealed-answer.ts'

const laneCount = 4
const batchLimit = 256
/** Operation ids are drawn from the sequence in blocks, so that rows can name their operation before it is written. */
const idBlock = 1_000

interface Pending {
  readonly request: ChargeRequest<unknown>
  readonly resolve: (result: ChargeResult<unknown>) => void
  readonly reject: (error: unknown) => void
}

type Decided = { readonly pending: Pending; readonly result: ChargeResult<unknown> }

export function chargeLanes(
  db: Database,
  seal: AnswerSeal,
): <T>(request: ChargeRequest<T>) => Promise<ChargeResult<T>> {
  const lanes = Array.from({ length: laneCount }, () => openLane(db, seal))
  return <T>(request: ChargeRequest<T>) =>
    new Promise<ChargeResult<T>>((resolve, reject) => {
      const pending = { request, resolve, reject } as unknown as Pending
      lanes[request.accountId % laneCount]!(pending)
    })
}

function openLane(db: Database, seal: AnswerSeal): (pending: Pending) => void {
  let queue: Pending[] = []
  let running = false
  let ids: number[] = []

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchLimit)
      queue = queue.slice(batchLimit)
      try {
        for (const { pending, result } of await runBatch(batch)) pending.resolve(result)
      } catch (error) {
        // A connection lost at COMMIT leaves open whether the batch holds: running it again could charge twice.
        if (error instanceof DatabaseUnavailable) for (const pending of batch) pending.reject(error)
        else await runOneByOne(batch)
      }
    }
    running = false
  }

  async function runBatch(batch: readonly Pending[]): Promise<Decided[]> {
    if (ids.length < batch.length) ids = ids.concat(await drawIds(db))
    const mine = ids.slice(0, batch.length)
    ids = ids.slice(batch.length)
    return db.write((tx) => chargeTogether(tx, batch, mine, seal))
  }

  async function runOneByOne(batch: readonly Pending[]): Promise<void> {
    for (const pending of batch) {
      try {
        pending.resolve(await db.write((tx) => chargeInTransaction(tx, pending.request, seal)))
      } catch (error) {
        pending.reject(error)
      }
    }
  }

  return (pending) => {
    queue.push(pending)
    if (running) return
    running = true
    // Everything that arrives in this turn of the event loop goes into the first batch.
    setImmediate(() => void drain())
  }
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
  batch: readonly Pending[],
  ids: readonly number[],
  seal: AnswerSeal,
): Promise<Decided[]> {
  const balances = await lockBalances(tx, batch)
  await requireFreshKeys(tx, batch)

  const decided: Decided[] = []
  const accepted: { pending: Pending; operationId: number; remaining: number }[] = []
  for (const [index, pending] of batch.entries()) {
    const { accountId, apiType, cost } = pending.request
    const balance = balances.get(`${accountId} ${apiType}`)
    const result = decideCharge(pending.request, balance)
    if (result) decided.push({ pending, result })
    else {
      balance!.remaining -= cost
      accepted.push({ pending, operationId: ids[index]!, remaining: balance!.remaining })
    }
  }
  if (accepted.length > 0) await insertCharges(tx, accepted)
  const made = accepted.map(({ pending, operationId, remaining }) => ({
    request: pending.request,
    charged: { operationId, remaining },
  }))
  const values = await runAlongside(tx, made, seal)
  for (const [index, { pending, operationId, remaining }] of accepted.entries()) {
    decided.push({ pending, result: { kind: 'charged', operationId, remaining, value: values[index] } })
  }
  return decided
}

async function lockBalances(tx: Tx, batch: readonly Pending[]): Promise<Map<string, HeldBalance>> {
  const rows = await tx.all<HeldBalance>(
    `SELECT c.account_id, c.api_type, c.total - c.used AS remaining, a.key_hash
     FROM credit c JOIN account a ON a.id = c.account_id
     WHERE (c.account_id, c.api_type) IN (SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])))
     ORDER BY c.account_id, c.api_type FOR UPDATE OF c FOR SHARE OF a`,
    [batch.map(({ request }) => request.accountId), batch.map(({ request }) => request.apiType)],
  )
  return new Map(rows.map((row) => [`${row.account_id} ${row.api_type}`, row]))
}

async function requireFreshKeys(tx: Tx, batch: readonly Pending[]): Promise<void> {
  const keyed = batch.filter(({ request }) => request.idempotency)
  if (keyed.length === 0) return
  const names = new Set(keyed.map(({ request }) => `${request.accountId} ${request.idempotency?.key}`))
  if (names.size < keyed.length) throw new NeedsOwnTransaction()
  const known = await tx.all(
    `SELECT 1 AS known FROM operation WHERE (account_id, idempotency_key) IN
       (SELECT * FROM unnest(CAST(? AS bigint[]), CAST(? AS text[]))) LIMIT 1`,
    [
      keyed.map(({ request }) => request.accountId),
      keyed.map(({ request }) => request.idempotency?.key ?? null),
    ],
  )
  if (known.length > 0) throw new NeedsOwnTransaction()
}

async function insertCharges(
  tx: Tx,
  accepted: readonly { pending: Pending; operationId: number; remaining: number }[],
): Promise<void> {
  const requests = accepted.map(({ pending }) => pending.request)
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
      accepted.map(({ operationId }) => operationId),
      requests.map(({ accountId }) => accountId),
      requests.map(({ apiType }) => apiType),
      requests.map(({ action }) => action),
      requests.map(({ cost }) => cost),
      requests.map(({ idempotency }) => idempotency?.key ?? null),
      requests.map(({ idempotency }) => idempotency?.fingerprint ?? null),
      requests.map(({ leaseMs }) => leaseMs ?? null),
      requests.map(({ requestId }) => requestId),
      accepted.map(({ remaining }) => remaining),
    ],
  )
}
