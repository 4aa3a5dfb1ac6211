// The request log and the daily counts of calls. Written in the background, many calls at a time.
import { sql } from 'kysely'
import { formatDay } from '../../contract/time.ts'
import { bulkInsert, insertRows } from '../db/bulk-insert.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { valueTable } from '../db/dialect.ts'
import type { CallSource } from '../http/call.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'
import { maxIdDisorder } from '../db/time-ordered.ts'

export type LoggedCall = Readonly<Omit<Tables['request_log'], 'id'>>

export type SearchTerm = Readonly<Tables['request_term']>

const callRows = bulkInsert('request_log', {
  account_id: 'bigint',
  request_id: 'text',
  at: 'bigint',
  endpoint: 'text',
  action: 'text',
  method: 'text',
  status: 'bigint',
  code: 'bigint',
  ok: 'bigint',
  message: 'text',
  duration_us: 'bigint',
  gateway: 'text',
  charged: 'bigint',
  given_back: 'bigint',
  replayed: 'bigint',
  idempotent: 'bigint',
  address: 'text',
  source: 'text',
  parameters: 'text',
  answer: 'text',
  steps: 'text',
})
const termRows = bulkInsert(
  'request_term',
  { account_id: 'bigint', term: 'text', request_id: 'text', at: 'bigint' },
  'ON CONFLICT (account_id, term, request_id) DO NOTHING',
)

export async function insertCalls(
  tx: Tx,
  calls: readonly LoggedCall[],
  terms: readonly SearchTerm[],
): Promise<void> {
  await insertRows(tx, callRows, calls)
  await insertRows(tx, termRows, terms)
}

/** The account id of the platform's sums. */
export const wholePlatform = 0

export type DayCount = Tables['call_day']

export async function addCounts(tx: Tx, counts: readonly DayCount[]): Promise<void> {
  for (const one of counts) {
    await tx.run(
      `INSERT INTO call_day (account_id, day, endpoint, code, calls, succeeded, paid, credits,
         console_calls, console_paid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (account_id, day, endpoint, code) DO UPDATE SET calls = call_day.calls + excluded.calls,
         succeeded = call_day.succeeded + excluded.succeeded, paid = call_day.paid + excluded.paid,
         credits = call_day.credits + excluded.credits, console_calls = call_day.console_calls + excluded.console_calls,
         console_paid = call_day.console_paid + excluded.console_paid`,
      [
        one.account_id,
        one.day,
        one.endpoint,
        one.code,
        one.calls,
        one.succeeded,
        one.paid,
        one.credits,
        one.console_calls,
        one.console_paid,
      ],
    )
  }
}

export type DayUse = Tables['request_log_day']

const useRows = bulkInsert(
  'request_log_day',
  { account_id: 'bigint', day: 'text', bytes: 'bigint', skipped: 'bigint' },
  `ON CONFLICT (account_id, day) DO UPDATE SET bytes = request_log_day.bytes + excluded.bytes,
     skipped = request_log_day.skipped + excluded.skipped`,
)

/** Returns the new sums. */
export async function addUses(tx: Tx, uses: readonly DayUse[]): Promise<DayUse[]> {
  if (uses.length === 0) return []
  // All processes lock the rows in the same order.
  const sorted = uses.toSorted((a, b) => a.account_id - b.account_id || (a.day < b.day ? -1 : 1))
  await insertRows(tx, useRows, sorted)
  const list = valueTable(
    tx,
    { owner_id: 'bigint', on_day: 'text' },
    sorted.map(({ account_id, day }) => ({ owner_id: account_id, on_day: day })),
  )
  return tx.all<DayUse>(
    `SELECT d.account_id, d.day, d.bytes, d.skipped FROM ${list.sql} AS t
     JOIN request_log_day d ON d.account_id = t.owner_id AND d.day = t.on_day`,
    list.values,
  )
}

/** How many calls of the account were not recorded on a day, because its budget was used up. */
export async function countSkipped(queries: Queries, accountId: number, day: string): Promise<number> {
  const row = await queries.one<Pick<DayUse, 'skipped'>>(
    'SELECT skipped FROM request_log_day WHERE account_id = ? AND day = ?',
    [accountId, day],
  )
  return row?.skipped ?? 0
}

/** Deletes calls, search terms and budgets before a time. */
export async function deleteCallsBefore(db: Database, moment: number, signal?: AbortSignal): Promise<void> {
  const deletions = [
    `DELETE FROM request_log WHERE id IN (SELECT id FROM request_log WHERE at < ? ORDER BY at LIMIT ${rowsPerSlice})`,
    `DELETE FROM request_term WHERE (account_id, term, request_id) IN (
       SELECT account_id, term, request_id FROM request_term WHERE at < ? ORDER BY at LIMIT ${rowsPerSlice})`,
  ]
  for (const deletion of deletions) {
    await writeInSlices(db, async (tx) => (await tx.run(deletion, [moment])) === rowsPerSlice, signal)
  }
  await db.write((tx) => tx.run('DELETE FROM request_log_day WHERE day < ?', [formatDay(moment)]))
}

export function findCounts(
  queries: Queries,
  accountId: number,
  from: string,
  to: string,
): Promise<DayCount[]> {
  return queries.all<DayCount>(
    `SELECT account_id, day, endpoint, code, calls, succeeded, paid, credits, console_calls, console_paid FROM call_day
     WHERE account_id = ? AND day >= ? AND day <= ?`,
    [accountId, from, to],
  )
}

/** Whether the account has called the API, successfully paid for such a call, and paid for any call. */
export async function findFirstSteps(
  queries: Queries,
  accountId: number,
): Promise<{ called: boolean; paid: boolean; used: boolean }> {
  const row = await queries.one<{ calls: number | null; paid: number | null; used: number | null }>(
    `SELECT SUM(calls - console_calls) AS calls, SUM(paid - console_paid) AS paid, SUM(paid) AS used
     FROM call_day WHERE account_id = ?`,
    [accountId],
  )
  return { called: (row?.calls ?? 0) > 0, paid: (row?.paid ?? 0) > 0, used: (row?.used ?? 0) > 0 }
}

export interface CallRow extends LoggedCall {
  readonly id: number
}

export interface CallSearch {
  readonly accountId: number
  readonly endpoint?: string | undefined
  readonly action?: string | undefined
  readonly ok?: number | undefined
  readonly code?: number | undefined
  readonly source?: CallSource | undefined
  /** Exactly this address. */
  readonly address?: string | undefined
  /** Only calls that took at least this long. */
  readonly minMs?: number | undefined
  readonly requestIds?: readonly string[] | undefined
  /** A text that the call can be found by: the request id that a proxy chose, or a term in its stored forms. */
  readonly text?: { readonly requestId: string; readonly terms: readonly string[] } | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/** The maximum of calls that are read for one page, however few of them match. */
const scanLimit = 20_000

const summaryColumns = [
  'id',
  'account_id',
  'request_id',
  'at',
  'endpoint',
  'action',
  'method',
  'status',
  'code',
  'ok',
  'message',
  'duration_us',
  'gateway',
  'charged',
  'given_back',
  'replayed',
  'idempotent',
  'address',
  'source',
] as const

export type CallSummaryRow = Omit<CallRow, 'parameters' | 'answer' | 'steps'>

export interface CallPage {
  readonly rows: readonly CallSummaryRow[]
  /** The `before` of the next page; null at the end. */
  readonly next: number | null
}

/** The approximate id at a time; undefined when no call is that new. */
async function idAt(queries: Queries, moment: number): Promise<number | undefined> {
  const row = await queries.one<Pick<Tables['request_log'], 'id'>>(
    'SELECT id FROM request_log WHERE at >= ? ORDER BY at LIMIT 1',
    [moment],
  )
  return row?.id
}

/** Converts times to ids, so that old days are found without reading everything after them. */
async function limitIds(queries: Queries, search: CallSearch): Promise<CallSearch> {
  const { start, end, before, after } = search
  const last = end === undefined ? undefined : await idAt(queries, end)
  const first = start === undefined ? undefined : await idAt(queries, start)
  return {
    ...search,
    before: last === undefined ? before : Math.min(before ?? Number.MAX_SAFE_INTEGER, last + maxIdDisorder),
    after: first === undefined ? after : Math.max(after ?? 0, first - maxIdDisorder),
  }
}

export async function listCalls(queries: Queries, input: CallSearch, limit: number): Promise<CallPage> {
  const search = await limitIds(queries, input)
  const { endpoint, action, code, source, address, minMs, start, end } = search
  const isFiltered = [endpoint, action, code, source, address, minMs, start, end].some(
    (value) => value !== undefined,
  )
  const newest = selectCalls(queries, search).orderBy('id', 'desc')
  if (!isFiltered) {
    const rows = await newest
      .select(summaryColumns)
      .limit(limit + 1)
      .execute()
    return toPage(rows, limit) ?? { rows, next: null }
  }
  let query = queries.kysely
    .selectFrom(newest.select(summaryColumns).limit(scanLimit).as('scanned'))
    .selectAll()
    .orderBy('id', 'desc')
    .limit(limit + 1)
  if (endpoint !== undefined) query = query.where('endpoint', '=', endpoint)
  if (action !== undefined) query = query.where('action', '=', action)
  if (code !== undefined) query = query.where('code', '=', code)
  if (source !== undefined) query = query.where('source', '=', source)
  if (address !== undefined) query = query.where('address', '=', address)
  if (minMs !== undefined) query = query.where('duration_us', '>=', minMs * 1_000)
  if (start !== undefined) query = query.where('at', '>=', start)
  if (end !== undefined) query = query.where('at', '<', end)
  const rows = await query.execute()
  const page = toPage(rows, limit)
  if (page) return page
  const scanned = await queries.kysely
    .selectFrom(newest.select('id').limit(scanLimit).as('scanned'))
    .select(({ fn }) => [fn.min('id').as('id'), fn.countAll().as('count')])
    .executeTakeFirst()
  return { rows, next: scanned && Number(scanned.count) === scanLimit ? Number(scanned.id) : null }
}

/** What an index finds: the other conditions apply to the newest of these calls only. */
function selectCalls(queries: Queries, { accountId, ok, before, after, requestIds, text }: CallSearch) {
  let query = queries.kysely.selectFrom('request_log').where('account_id', '=', accountId)
  // A literal, because the partial index of failures needs one.
  if (ok !== undefined) query = query.where('ok', '=', sql.lit(ok === 0 ? 0 : 1))
  if (before !== undefined) query = query.where('id', '<', before)
  if (after !== undefined) query = query.where('id', '>', after)
  if (requestIds !== undefined) query = query.where('request_id', 'in', requestIds)
  if (text !== undefined) {
    const { requestId: chosen, terms } = text
    const found = queries.kysely
      .selectFrom('request_term')
      .select('request_id')
      .where('account_id', '=', accountId)
      .where('term', 'in', terms)
      .unionAll(queries.kysely.selectNoFrom(({ val }) => [val(chosen).as('request_id')]))
    query = query.where('request_id', 'in', found)
  }
  return query
}

/** Undefined when there are not more rows than fit on the page. */
function toPage(rows: readonly CallSummaryRow[], limit: number): CallPage | undefined {
  return rows.length > limit ? { rows: rows.slice(0, limit), next: rows[limit - 1]!.id } : undefined
}

export function findCall(
  queries: Queries,
  accountId: number,
  requestId: string,
): Promise<CallRow | undefined> {
  return queries.one<CallRow>(
    `SELECT id, ${callRows.names.join(', ')} FROM request_log WHERE request_id = ? AND account_id = ?`,
    [requestId, accountId],
  )
}

/** Id and time of the account's newest call. */
export async function findNewest(
  queries: Queries,
  accountId: number,
): Promise<{ id: number; at: number } | undefined> {
  return queries.one('SELECT id, at FROM request_log WHERE account_id = ? ORDER BY id DESC LIMIT 1', [
    accountId,
  ])
}

/** Counting stops here, because the exact number no longer matters. */
const maxCounted = 100_000

/** When the key was last used, and how often since a time; among the newest calls only. */
export async function findKeyUse(
  queries: Queries,
  accountId: number,
  since: number,
): Promise<{ last: number | null; count: number }> {
  const row = await queries.one<{ last: number | null; count: number | null }>(
    `SELECT MAX(at) AS last, SUM(CASE WHEN at >= ? THEN 1 ELSE 0 END) AS count FROM (
       SELECT at, source FROM request_log WHERE account_id = ? ORDER BY id DESC LIMIT ${maxCounted}) newest
     WHERE source = 'api'`,
    [since, accountId],
  )
  return { last: row?.last ?? null, count: Number(row?.count ?? 0) }
}

/** Endpoint and duration of the newest calls of everyone. */
export function findDurations(
  queries: Queries,
  since: number,
  limit: number,
): Promise<{ endpoint: string; duration_us: number }[]> {
  return queries.all(
    `SELECT endpoint, duration_us FROM request_log WHERE at >= ? ORDER BY at DESC LIMIT ${limit}`,
    [since],
  )
}
