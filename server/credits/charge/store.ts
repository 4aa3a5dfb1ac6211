// Charges a batch of calls in one transaction; a single charge is a batch of one.
//
// The batch locks the accounts and balances it needs in a fixed order, decides each charge in the order of arrival, and writes the
// accepted ones with a few statements.
import type { ApiType } from '../../../contract/credits.ts'
import { isExpired } from '../../accounts/accounts.ts'
import type { KeyRestrictions } from '../../accounts/key-limits.ts'
import { type TakeMore, takeNoMore } from '../../db/batcher.ts'
import { coalesce } from '../../db/coalesce.ts'
import type { Database, Queries, Tx } from '../../db/database.ts'
import { forUpdate, idList, valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../../db/slices.ts'
import { writeAll } from '../batch-writer.ts'
import {
  type Charge,
  type ChargeRequest,
  type ChargeResult,
  type Idempotency,
  keyLifetimeMs,
  type MovedCredits,
  type NotAllowed,
  type PreviousCall,
  type Written,
} from '../operation.ts'
import { type NewResponse, storeResponses } from '../store.ts'
import type { ResponseCipher } from './response-cipher.ts'
import { balanceName, lockBalances, type LockedBalance } from './balances-store.ts'
import { addUsage, exceededCap } from './caps-store.ts'
import type { KnownBalances } from './known-balances.ts'
import { reportLowCredits } from './low-credits-store.ts'
import { type AcceptedCharge, insertCharges } from './rows-store.ts'
import { insertSeveral } from './several-store.ts'

export interface LedgerContext {
  readonly cipher: ResponseCipher
  /** For charges with one statement, where the database has them. */
  readonly known: KnownBalances | undefined
  /** Called once for each kind and API type after the transaction has committed. */
  readonly onMoved: (moved: MovedCredits) => void
}

/** Results are in the order of the requests, followed by those that `takeMore` added. */
export async function chargeBatch(
  tx: Tx,
  first: readonly ChargeRequest<unknown>[],
  context: LedgerContext,
  takeMore: TakeMore<ChargeRequest<unknown>> = takeNoMore,
): Promise<ChargeResult<unknown>[]> {
  // Sent together. Statements of a transaction run in turn, so the earlier calls are read after the lock is held.
  const locking = lockBalances(tx, first)
  const finding = findEarlierCalls(tx, first)
  // After a failed lock only its own error counts: it tells whether the transaction may run again.
  finding.catch(() => undefined)
  const balances = await locking
  const found = await finding
  const added = takeMore((request) => balances.has(balanceName(request)))
  const requests = [...first, ...added]
  const previous = await claimKeys(tx, [...found, ...(await findEarlierCalls(tx, added))])
  const results: ChargeResult<unknown>[] = []
  const accepted: (AcceptedCharge & { readonly index: number })[] = []
  const usedKeys = new Set<string>()
  const repeated: number[] = []
  for (let index = 0; index < requests.length; index += 1) {
    const request = requests[index]!
    const balance = balances.get(balanceName(request))
    const key = request.idempotency && keyName(request.accountId, request.idempotency.key)
    const known = key === undefined ? undefined : previous.get(key)
    const reason = balance && whyNotAllowed(balance)
    if (!balance) results[index] = { kind: 'insufficient', remaining: 0 }
    else if (request.accountVersion !== undefined && request.accountVersion !== balance.version)
      results[index] = { kind: 'account_changed' }
    else if (request.keyHash !== undefined && request.keyHash !== balance.key_hash)
      results[index] = { kind: 'key_invalid' }
    else if (request.keyLimits && haveChanged(request.keyLimits, balance.settings ?? noRestrictions))
      results[index] = { kind: 'key_limits_changed', keyLimits: balance.settings ?? noRestrictions }
    else if (key !== undefined && usedKeys.has(key)) repeated.push(index)
    else if (known) results[index] = describePrevious(known, request.idempotency!, context.cipher)
    else if (reason !== undefined) results[index] = { kind: 'not_allowed', reason }
    else if (balance.remaining < request.cost)
      results[index] = { kind: 'insufficient', remaining: balance.remaining }
    else {
      const period = exceededCap(balance, request.cost)
      if (period !== undefined) {
        results[index] = { kind: 'capped', period }
        continue
      }
      balance.remaining -= request.cost
      addUsage(balance, request.cost)
      accepted.push({ index, request, remaining: balance.remaining, balance })
      if (key !== undefined) usedKeys.add(key)
    }
  }

  const charges = await insertAccepted(tx, accepted)
  const written = await writeAll(
    tx,
    accepted.map(({ request }, i) => ({ write: request.inSameTransaction, result: charges[i]! })),
  )
  for (let i = 0; i < accepted.length; i += 1) {
    const { operationId, remaining } = charges[i]!
    results[accepted[i]!.index] = { kind: 'charged', operationId, remaining, value: written[i]?.value }
  }
  const charged = accepted.map(({ request }) => request)
  await storeResponses(tx, listResponses(charged, charges, written, context.cipher))
  await reportLowCredits(tx, balances.values())
  tx.afterCommit(() => {
    context.known?.remember(balances.values())
    reportCharges(charged, context)
  })

  if (repeated.length > 0) {
    // The charge with the same key is written now, so these find it like any later call.
    const later = repeated.map((index) => requests[index]!)
    for (const [i, result] of (await chargeBatch(tx, later, context)).entries())
      results[repeated[i]!] = result
  }
  return results
}

/** A charge with several costs is inserted as so many operations. */
async function insertAccepted(tx: Tx, accepted: readonly AcceptedCharge[]): Promise<Charge[]> {
  if (!accepted.some(({ request }) => request.costs)) {
    const ids = await insertCharges(tx, accepted)
    return accepted.map(({ remaining, balance: { at } }, i) => ({ operationId: ids[i]!, remaining, at }))
  }
  const charges: Charge[] = []
  // In turn, because the entries of a balance are in the order of its charges.
  for (const charge of accepted) {
    const { request, remaining, balance } = charge
    const ids = request.costs
      ? await insertSeveral(tx, charge, request.costs)
      : await insertCharges(tx, [charge])
    charges.push({
      operationId: ids[0]!,
      ...(request.costs && { operationIds: ids }),
      remaining,
      at: balance.at,
    })
  }
  return charges
}

/** The responses that the writes of the product returned, of calls with an `Idempotency-Key`. */
export function listResponses(
  requests: readonly Pick<ChargeRequest<unknown>, 'idempotency'>[],
  charges: readonly Charge[],
  written: readonly (Written<unknown> | undefined)[],
  cipher: ResponseCipher,
): NewResponse[] {
  const responses: NewResponse[] = []
  for (let i = 0; i < requests.length; i += 1) {
    const response = written[i]?.response
    if (response && requests[i]!.idempotency)
      responses.push({ operationId: charges[i]!.operationId, response: cipher.encrypt(response) })
  }
  return responses
}

/** To be called after the commit. */
export function reportCharges(
  charged: readonly Pick<ChargeRequest<unknown>, 'apiType' | 'cost'>[],
  { onMoved }: LedgerContext,
): void {
  const amounts = new Map<ApiType, number>()
  for (const { apiType, cost } of charged) amounts.set(apiType, (amounts.get(apiType) ?? 0) + cost)
  for (const [apiType, amount] of amounts) onMoved({ kind: 'charge', apiType, amount })
}

/** The caller checked this before, but the account may have changed since. */
function whyNotAllowed({ settings, api_type: apiType }: LockedBalance): NotAllowed | undefined {
  if (!settings) return undefined
  if (settings.suspended === 1) return 'suspended'
  if (isExpired(settings)) return 'expired'
  if (settings.sms_enabled === 0 && apiType === 'sms') return 'sms_disabled'
  return undefined
}

const noRestrictions: KeyRestrictions = { scopes: null, allow_ips: null }

function haveChanged(before: KeyRestrictions, now: KeyRestrictions): boolean {
  return before.scopes !== now.scopes || before.allow_ips !== now.allow_ips
}

type PreviousRow = Pick<Tables['operation'], 'id' | 'account_id' | 'state' | 'response'> & {
  readonly idempotency_key: string
  readonly fingerprint: string
  readonly lease_left: number | null
  readonly expired: number
}

const keyColumns = { account_id: 'bigint', key: 'text' } as const

function keyName(accountId: number, key: string): string {
  return `${accountId} ${key}`
}

function findKeys(
  queries: Queries,
  keys: readonly { account_id: number; key: string }[],
): Promise<PreviousRow[]> {
  const list = valueTable(queries, keyColumns, keys)
  return queries.all<PreviousRow>(
    `SELECT o.id, o.account_id, o.idempotency_key, o.state, o.fingerprint, o.response,
       o.lease_until - ${queries.now} AS lease_left,
       CASE WHEN o.created_at > ${queries.now} - ${keyLifetimeMs} OR o.state = 'held' THEN 0 ELSE 1 END AS expired
     FROM ${list.sql} AS t JOIN operation o ON o.account_id = t.account_id AND o.idempotency_key = t.key
     WHERE o.idempotency_key IS NOT NULL`,
    list.values,
  )
}

async function findEarlierCalls(
  tx: Tx,
  requests: readonly ChargeRequest<unknown>[],
): Promise<readonly PreviousRow[]> {
  const keys: { account_id: number; key: string }[] = []
  for (const { accountId, idempotency } of requests) {
    if (idempotency) keys.push({ account_id: accountId, key: idempotency.key })
  }
  return keys.length === 0 ? [] : findKeys(tx, keys)
}

/** Returns the earlier calls by key, without those whose key has expired: it becomes available again. */
async function claimKeys(tx: Tx, found: readonly PreviousRow[]): Promise<Map<string, PreviousRow>> {
  const previous = new Map<string, PreviousRow>()
  const expired: number[] = []
  for (const row of found) {
    if (row.expired === 1) expired.push(row.id)
    else previous.set(keyName(row.account_id, row.idempotency_key), row)
  }
  if (expired.length > 0) {
    const list = idList(tx, expired)
    await tx.run(`UPDATE operation SET idempotency_key = NULL, response = NULL WHERE id IN ${list.sql}`, [
      list.value,
    ])
  }
  return previous
}

/** Finds the earlier call with a key, if the key has not expired. Calls that look in one turn of the event loop share a query. */
export function createPreviousCallFinder(
  db: Queries,
  cipher: ResponseCipher,
): (accountId: number, idempotency: Idempotency) => Promise<PreviousCall | undefined> {
  const find = coalesce(async (names) => {
    const keys = names.map((name) => {
      const [accountId, key] = name.split(' ')
      return { account_id: Number(accountId), key: key! }
    })
    const rows = new Map<string, PreviousRow>()
    for (const row of await findKeys(db, keys)) rows.set(keyName(row.account_id, row.idempotency_key), row)
    return rows
  })
  return async (accountId, idempotency) => {
    const row = await find(keyName(accountId, idempotency.key))
    return row?.expired === 0 ? describePrevious(row, idempotency, cipher) : undefined
  }
}

function describePrevious(
  row: PreviousRow,
  { fingerprint, olderFingerprint }: Idempotency,
  cipher: ResponseCipher,
): PreviousCall {
  if (row.fingerprint !== fingerprint && row.fingerprint !== olderFingerprint?.())
    return { kind: 'other_parameters' }
  const response = row.response === null ? undefined : cipher.decrypt(row.response)
  if (response) return { kind: 'replay', response }
  if (row.state !== 'held') return { kind: 'interrupted' }
  if (row.lease_left === null || row.lease_left <= 0) return { kind: 'overdue', operationId: row.id }
  return { kind: 'running', retryAfterMs: row.lease_left }
}

/** Deletes expired keys and their responses. */
export function pruneExpiredKeys(db: Database, signal?: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const pruned = await tx.run(
        `UPDATE operation SET idempotency_key = NULL, response = NULL WHERE id IN (
           SELECT id FROM operation WHERE idempotency_key IS NOT NULL AND state <> 'held'
             AND created_at <= ${tx.now} - ${keyLifetimeMs}
           ORDER BY created_at LIMIT ${rowsPerSlice}${forUpdate(tx, 'FOR UPDATE SKIP LOCKED')})`,
      )
      return pruned === rowsPerSlice
    },
    signal,
  )
}
