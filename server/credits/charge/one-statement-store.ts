// Charges a batch with one statement that is a transaction of its own. PostgreSQL only.
//
// A transaction that locks the balances, decides in the service and then writes holds its locks for a round trip, which on a busy
// event loop takes longer than the work. Most charges need no decision: the account has no settings and enough credits. What was
// last seen of the balances tells which batches; the statement checks that it is still so, and fails as a whole if not.
import type { ApiType } from '../../../contract/credits.ts'
import { formatDay } from '../../../contract/time.ts'
import type { StatementResults } from '../../db/batcher.ts'
import type { Database, SqlStatement } from '../../db/database.ts'
import { rowVersion, unnest } from '../../db/dialect.ts'
import { commonStatement, type StatementPart, statementWriterOf } from '../batch-writer.ts'
import type { Charge, ChargeRequest, ChargeResult, Written } from '../operation.ts'
import { responsesStatement } from '../store.ts'
import { tryStatement } from '../try-statement-store.ts'
import { areDefaults, type BalanceId, balanceName } from './balances-store.ts'
import type { KnownBalance, KnownBalances } from './known-balances.ts'
import { nextOperation, stateOf } from './rows-store.ts'
import { type LedgerContext, listResponses, reportCharges } from './store.ts'

type Requests = readonly ChargeRequest<unknown>[]

/** Returns undefined when the batch needs a transaction with decisions: then nothing was written. */
export async function chargeWithOneStatement(
  db: Database,
  requests: Requests,
  context: LedgerContext,
): Promise<StatementResults<ChargeResult<unknown>> | undefined> {
  const { known } = context
  if (!db.writeStatement || !known) return undefined
  const buildPart = commonStatement(requests.map((request) => request.inSameTransaction))
  const lists = buildPart && listCharges(requests, known)
  if (!lists) return undefined
  const part = buildPart()
  let written: readonly Written<unknown>[] | undefined
  /** Responses contain the balance and ids, which are known only after the charge. */
  const storeWritten = ([charged]: readonly ChargedRow[]) => {
    const charges = readCharges(charged!.charges)
    written = part.read(charged!.written, charges)
    return responsesStatement(db, listResponses(requests, charges, written, context.cipher))
  }
  const next = requests.some(storesResponse) ? storeWritten : undefined
  const row = await tryStatement(db.writeStatement, statementOf(db, lists, part), next)
  if (!row) {
    known.forget(requests)
    return undefined
  }
  const charges = readCharges(row.charges)
  let isContended = false
  for (const { id, last, cost, lastCharge } of lists.balances) {
    const { remaining } = charges[lastCharge]!
    // Refunds and grants of this process only raise it, and its other charges are known.
    if (remaining < last.remaining - cost && known.find(id) === last) isContended = true
    known.set(id, { ...last, remaining })
  }
  reportCharges(requests, context)
  const values = written ?? part.read(row.written, charges)
  const results = charges.map(({ operationId, remaining }, i) => ({
    kind: 'charged' as const,
    operationId,
    remaining,
    value: values[i]?.value,
  }))
  return { results, isContended }
}

const balanceColumns = {
  number: 'bigint',
  account_id: 'bigint',
  api_type: 'text',
  key_hash: 'text',
  version: 'text',
  cost: 'bigint',
} as const

const chargeColumns = {
  position: 'bigint',
  balance: 'bigint',
  account_id: 'bigint',
  api_type: 'text',
  action: 'text',
  cost: 'bigint',
  cost_so_far: 'bigint',
  state: 'text',
  lease_ms: 'bigint',
  request_id: 'text',
} as const

const keyedColumns = { ...chargeColumns, idempotency_key: 'text', fingerprint: 'text' } as const

interface WantedBalance {
  readonly number: number
  readonly id: BalanceId
  readonly account_id: number
  readonly api_type: ApiType
  readonly key_hash: string | null
  readonly last: KnownBalance
  /** That the account must have, if a charge names one. */
  version: string | null
  /** Of all charges of the batch. */
  cost: number
  /** Its position. */
  lastCharge: number
}

interface Lists {
  readonly balances: readonly WantedBalance[]
  readonly charges: readonly Readonly<Record<keyof typeof keyedColumns, string | number | null>>[]
  readonly hasKeys: boolean
}

/** Whether the charge may have to be decided. Such a charge would send its whole batch to a transaction. */
export function chargeNeedsDecision(
  request: ChargeRequest<unknown>,
  known: KnownBalances | undefined,
): boolean {
  const { keyLimits, keyHash = null, costs, cost, inSameTransaction: write } = request
  const isRestricted = keyLimits && (keyLimits.scopes !== null || keyLimits.allow_ips !== null)
  if (costs || isRestricted || (write !== undefined && !statementWriterOf(write))) return true
  const last = known?.find(request)
  if (last?.usageDay !== formatDay(Date.now()) || last.remaining < cost) return true
  return keyHash !== null && last.keyHash !== keyHash
}

/** An operation that is held gets its response when it ends. */
function storesResponse(request: ChargeRequest<unknown>): boolean {
  return request.idempotency !== undefined && stateOf(request) === 'settled'
}

/** Undefined when one of the charges may have to be decided. */
function listCharges(requests: Requests, known: KnownBalances): Lists | undefined {
  const balances = new Map<string, WantedBalance>()
  const charges: Lists['charges'][number][] = []
  let hasKeys = false
  for (const [position, request] of requests.entries()) {
    if (chargeNeedsDecision(request, known)) return undefined
    const { accountId, apiType, keyHash = null, accountVersion = null, cost, idempotency } = request
    if (idempotency) hasKeys = true
    const name = balanceName(request)
    let balance = balances.get(name)
    if (!balance) {
      const last = known.find(request)
      if (!last) return undefined
      const ids = { id: { accountId, apiType }, account_id: accountId, api_type: apiType, key_hash: keyHash }
      balance = {
        number: balances.size,
        ...ids,
        last,
        version: accountVersion,
        cost: 0,
        lastCharge: position,
      }
      balances.set(name, balance)
    }
    balance.cost += cost
    balance.lastCharge = position
    if (balance.last.remaining < balance.cost || balance.key_hash !== keyHash) return undefined
    balance.version ??= accountVersion
    if (accountVersion !== null && accountVersion !== balance.version) return undefined
    charges.push({
      position,
      balance: balance.number,
      account_id: accountId,
      api_type: apiType,
      action: request.action,
      cost,
      cost_so_far: balance.cost,
      state: stateOf(request),
      lease_ms: request.leaseMs ?? null,
      request_id: request.requestId,
      idempotency_key: idempotency?.key ?? null,
      fingerprint: idempotency?.fingerprint ?? null,
    })
  }
  return { balances: [...balances.values()], charges, hasKeys }
}

interface ChargedRow {
  readonly charges: string
  readonly written: string
}

/**
 * Locks in the same order as `lockBalances`. An `Idempotency-Key` that the account has used is an error, because keys are unique; a
 * transaction then finds the earlier call. A condition that does not hold leaves fewer rows in `charge`, and the last SELECT
 * divides by zero: an error undoes all of the statement.
 */
function statementOf(
  db: Pick<Database, 'engine' | 'now'>,
  lists: Lists,
  part: Pick<StatementPart<never, unknown>, 'ctes' | 'values' | 'returning'>,
): SqlStatement {
  const balances = unnest<keyof typeof balanceColumns>(balanceColumns, lists.balances)
  const charges = unnest<string>(lists.hasKeys ? keyedColumns : chargeColumns, lists.charges)
  const keys = lists.hasKeys ? ', idempotency_key, fingerprint' : ''
  const sql = `WITH locked AS MATERIALIZED (
      SELECT t.number, t.cost, c.account_id, c.api_type, c.total - c.used AS remaining, ${db.now} AS at
      FROM ${balances.sql} AS t JOIN account a ON a.id = t.account_id
        JOIN credit c ON c.account_id = t.account_id AND c.api_type = t.api_type
      WHERE (t.key_hash IS NULL OR a.key_hash = t.key_hash)
        AND (t.version IS NULL OR ${rowVersion(db, 'a')} = t.version) AND ${areDefaults} AND c.total - c.used >= t.cost
        AND c.usage_day = to_char(clock_timestamp() AT TIME ZONE INTERVAL '8 hours', 'YYYY-MM-DD')
      ORDER BY c.account_id, c.api_type FOR NO KEY UPDATE OF a FOR UPDATE OF c
    ), charge AS MATERIALIZED (
      SELECT ${nextOperation} AS id, t.* FROM (
        SELECT t.*, l.remaining - t.cost_so_far AS remaining, l.at
        FROM ${charges.sql} AS t JOIN locked l ON l.number = t.balance) AS t
    ), balances AS (
      UPDATE credit c SET used = c.used + l.cost, used_on_day = c.used_on_day + l.cost,
        used_in_month = c.used_in_month + l.cost
      FROM locked l WHERE c.account_id = l.account_id AND c.api_type = l.api_type
    ), operations AS (
      INSERT INTO operation (id, account_id, api_type, action, cost, state, lease_until, request_id, created_at,
        ended_at${keys})
      SELECT id, account_id, api_type, action, cost, state, at + lease_ms, request_id, at,
        CASE WHEN state = 'settled' THEN at END${keys}
      FROM charge
    ), entries AS (
      INSERT INTO ledger (account_id, api_type, kind, amount, balance_after, operation_id, at)
      SELECT account_id, api_type, 'charge', -cost, remaining, id, at FROM charge ORDER BY position
    )${part.ctes}
    SELECT 1 / CASE WHEN count(*) = CAST(? AS bigint) THEN 1 ELSE 0 END AS complete,
      string_agg(position || ' ' || id || ' ' || remaining || ' ' || at, ',') AS charges, ${part.returning} AS written
    FROM charge`
  return [sql, [...balances.values, ...charges.values, ...part.values, lists.charges.length]]
}

/** Returns them in their order; the rows have none. */
function readCharges(text: string): Charge[] {
  const charges: Charge[] = []
  for (const one of text.split(',')) {
    const [position, operationId, remaining, at] = one.split(' ').map(Number)
    charges[position!] = { operationId: operationId!, remaining: remaining!, at: at! }
  }
  return charges
}
