// One charge inside one transaction, on either engine: key still valid, enough credit, balance down, operation and ledger row in.
import type { Queries, Tx } from '../../db/database.ts'
import { bulkInsert, insertRows, insertRowsReturningIds } from '../../db/bulk-insert.ts'
import type { AnswerSeal } from './sealed-answer.ts'
import type {
  Alongside,
  Charged,
  ChargeRequest,
  ChargeResult,
  Repeat,
  AnySharedWork,
  SharedWork,
} from '../operation.ts'

/** How long an `Idempotency-Key` is remembered. */
const rememberMs = 24 * 3_600_000

/** A balance and the key of its account, as they stand in this transaction. */
export interface HeldBalance {
  readonly account_id: number
  readonly api_type: string
  readonly key_hash: string | null
  /** When this was read, by the database's clock: the time of whatever is charged from it. */
  readonly at: number
  remaining: number
}

export async function chargeInTransaction<T>(
  tx: Tx,
  request: ChargeRequest<T>,
  seal: AnswerSeal,
): Promise<ChargeResult<T>> {
  const balance = await findBalanceAndKey(tx, request)
  if (!balance) return { kind: 'insufficient', remaining: 0 }
  if (request.keyHash !== undefined && request.keyHash !== balance.key_hash) return { kind: 'key_invalid' }

  if (request.idempotency) {
    const repeat = await findRepeat(tx, request.accountId, request.idempotency, seal)
    if (repeat) return repeat
    await forgetExpired(tx, request.accountId, request.idempotency.key)
  }

  const remaining = balance.remaining - request.cost
  if (remaining < 0) return { kind: 'insufficient', remaining: balance.remaining }

  await spend(tx, request)
  const { at } = balance
  const [operationId] = await insertOperations(tx, [{ request, at }])
  const charged = { operationId: operationId!, remaining, at }
  await insertCharges(tx, [{ request, charged }])
  const [value] = await runAlongside(tx, [{ request, charged }], seal)
  return { kind: 'charged', ...charged, value: value as T }
}

export interface Accepted {
  readonly request: ChargeRequest<unknown>
  readonly remaining: number
  readonly at: number
  /** Where in the batch it stands. */
  readonly place: number
}

export interface Decided {
  readonly accepted: readonly Accepted[]
  /** Those that are refused, at their places. */
  readonly results: ChargeResult<unknown>[]
}

export function balanceName({ accountId, apiType }: { accountId: number; apiType: string }): string {
  return `${accountId} ${apiType}`
}

/** Each in the order of arrival, from balances that go down on the way. */
export function decideCharges(
  batch: readonly ChargeRequest<unknown>[],
  balances: ReadonlyMap<string, HeldBalance | undefined>,
): Decided {
  const accepted: Accepted[] = []
  const results: ChargeResult<unknown>[] = []
  for (const [place, request] of batch.entries()) {
    const balance = balances.get(balanceName(request))
    if (!balance) results[place] = { kind: 'insufficient', remaining: 0 }
    else if (request.keyHash !== undefined && request.keyHash !== balance.key_hash)
      results[place] = { kind: 'key_invalid' }
    else if (balance.remaining < request.cost)
      results[place] = { kind: 'insufficient', remaining: balance.remaining }
    else {
      balance.remaining -= request.cost
      accepted.push({ request, remaining: balance.remaining, at: balance.at, place })
    }
  }
  return { accepted, results }
}

/** All results in the order of the batch, once everything is written that belongs to the accepted ones. */
export async function completeCharges(
  tx: Tx,
  { accepted, results }: Decided,
  made: readonly MadeCharge[],
  seal: AnswerSeal,
): Promise<ChargeResult<unknown>[]> {
  const values = await runAlongside(tx, made, seal)
  for (const [index, { place }] of accepted.entries()) {
    results[place] = { kind: 'charged', ...made[index]!.charged, value: values[index] }
  }
  return results
}

export function madeOf(accepted: readonly Accepted[], ids: readonly number[]): MadeCharge[] {
  return accepted.map(({ request, remaining, at }, index) => ({
    request,
    charged: { operationId: ids[index]!, remaining, at },
  }))
}

export interface MadeCharge {
  readonly request: ChargeRequest<unknown>
  readonly charged: Charged
}

/** Runs what commits with the charges, and keeps the answers of callers who may ask again. Values in their order. */
async function runAlongside(tx: Tx, made: readonly MadeCharge[], seal: AnswerSeal): Promise<unknown[]> {
  const results = new Map<MadeCharge, Alongside<unknown>>()
  for (const [run, sharing] of groupedByRun(made)) {
    const items = sharing.map(({ request, charged }) => ({ item: itemOf(request), charged }))
    for (const [index, result] of (await run(tx, items)).entries()) results.set(sharing[index]!, result)
  }
  const values: unknown[] = []
  for (const one of made) {
    const { request, charged } = one
    const result =
      typeof request.alongside === 'function' ? await request.alongside(tx, charged) : results.get(one)
    if (result?.answer && request.idempotency) {
      await tx.run('UPDATE operation SET response = ? WHERE id = ?', [
        seal.seal(result.answer),
        charged.operationId,
      ])
    }
    values.push(result?.value)
  }
  return values
}

type SharedRun = AnySharedWork<unknown>['run']

function groupedByRun(made: readonly MadeCharge[]): Map<SharedRun, MadeCharge[]> {
  const groups = new Map<SharedRun, MadeCharge[]>()
  for (const one of made) {
    const work = one.request.alongside
    if (work === undefined || typeof work === 'function') continue
    const group = groups.get(work.run)
    if (group) group.push(one)
    else groups.set(work.run, [one])
  }
  return groups
}

function itemOf({ alongside }: ChargeRequest<unknown>): never {
  return (alongside as SharedWork<never, unknown>).item
}

/** SQLite's write transaction is the lock. PostgreSQL locks the balance for us and the key against a reset. */
export function findBalanceAndKey(tx: Tx, request: ChargeRequest<unknown>): Promise<HeldBalance | undefined> {
  const lock = tx.engine === 'sqlite' ? '' : 'FOR UPDATE OF c FOR SHARE OF a'
  return tx.one<HeldBalance>(`SELECT ${heldColumns(tx)} ${heldSql} ${lock}`, [
    request.accountId,
    request.apiType,
  ])
}

export const heldColumns = ({ now }: { readonly now: string }) =>
  `c.account_id, c.api_type, c.total - c.used AS remaining, a.key_hash, ${now} AS at`

const heldSql = `FROM credit c JOIN account a ON a.id = c.account_id WHERE c.account_id = ? AND c.api_type = ?`

export async function spend(
  tx: Tx,
  { accountId, apiType, cost }: { accountId: number; apiType: string; cost: number },
): Promise<void> {
  await tx.run('UPDATE credit SET used = used + ? WHERE account_id = ? AND api_type = ?', [
    cost,
    accountId,
    apiType,
  ])
}

const operationRows = bulkInsert('operation', {
  account_id: 'bigint',
  api_type: 'text',
  action: 'text',
  cost: 'bigint',
  state: 'text',
  idempotency_key: 'text',
  fingerprint: 'text',
  lease_until: 'bigint',
  request_id: 'text',
  created_at: 'bigint',
  ended_at: 'bigint',
})

/** Tells their ids. */
export function insertOperations(
  tx: Tx,
  charges: readonly Pick<Accepted, 'request' | 'at'>[],
): Promise<number[]> {
  return insertRowsReturningIds(
    tx,
    operationRows,
    charges.map(({ request, at }) => ({
      account_id: request.accountId,
      api_type: request.apiType,
      action: request.action,
      cost: request.cost,
      state: request.leaseMs === undefined ? 'settled' : 'held',
      idempotency_key: request.idempotency?.key ?? null,
      fingerprint: request.idempotency?.fingerprint ?? null,
      lease_until: request.leaseMs === undefined ? null : at + request.leaseMs,
      request_id: request.requestId,
      created_at: at,
      ended_at: request.leaseMs === undefined ? at : null,
    })),
  )
}

const chargeRows = bulkInsert('ledger', {
  account_id: 'bigint',
  api_type: 'text',
  kind: 'text',
  amount: 'bigint',
  balance_after: 'bigint',
  operation_id: 'bigint',
  at: 'bigint',
})

export async function insertCharges(tx: Tx, made: readonly MadeCharge[]): Promise<void> {
  await insertRows(
    tx,
    chargeRows,
    made.map(({ request, charged }) => ({
      account_id: request.accountId,
      api_type: request.apiType,
      kind: 'charge',
      amount: -request.cost,
      balance_after: charged.remaining,
      operation_id: charged.operationId,
      at: charged.at,
    })),
  )
}

interface RepeatRow {
  readonly id: number
  readonly state: string
  readonly fingerprint: string
  readonly response: string | null
  readonly lease_left: number | null
}

/** What is known of this key within the time keys are remembered. */
export async function findRepeat(
  queries: Queries,
  accountId: number,
  idempotency: { readonly key: string; readonly fingerprint: string },
  seal: AnswerSeal,
): Promise<Repeat | undefined> {
  const row = await queries.one<RepeatRow>(
    `SELECT id, state, fingerprint, response, lease_until - ${queries.now} AS lease_left FROM operation
     WHERE account_id = ? AND idempotency_key = ? AND created_at > ${queries.now} - ${rememberMs}`,
    [accountId, idempotency.key],
  )
  if (!row) return undefined
  if (row.fingerprint !== idempotency.fingerprint) return { kind: 'other_parameters' }
  const answer = row.response === null ? undefined : seal.open(row.response)
  if (answer) return { kind: 'replay', answer }
  if (row.state !== 'held') return { kind: 'lost' }
  if (row.lease_left === null || row.lease_left <= 0) return { kind: 'overdue', operationId: row.id }
  return { kind: 'running', retryAfterMs: row.lease_left }
}

/** A key older than a day is free again. */
async function forgetExpired(tx: Tx, accountId: number, key: string): Promise<void> {
  await tx.run(
    `UPDATE operation SET idempotency_key = NULL, response = NULL
     WHERE account_id = ? AND idempotency_key = ? AND created_at <= ${tx.now} - ${rememberMs}`,
    [accountId, key],
  )
}

/** Frees the room of keys and answers that nobody can ask for any more; a few thousand at a time. */
export async function forgetAllExpired(tx: Tx): Promise<number> {
  return tx.run(
    `UPDATE operation SET idempotency_key = NULL, response = NULL WHERE id IN (
       SELECT id FROM operation WHERE idempotency_key IS NOT NULL AND state <> 'held'
         AND created_at <= ${tx.now} - ${rememberMs} LIMIT 5000)`,
  )
}
