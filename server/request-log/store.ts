// The request log and the daily counts of calls. Written in the background, many calls at a time.
import { bulkInsert, insertRows } from '../db/bulk-insert.ts'
import type { Queries, Tx, Value } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

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
      `INSERT INTO call_day (account_id, day, endpoint, code, calls, succeeded, paid, credits) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (account_id, day, endpoint, code) DO UPDATE SET calls = call_day.calls + excluded.calls,
         succeeded = call_day.succeeded + excluded.succeeded, paid = call_day.paid + excluded.paid,
         credits = call_day.credits + excluded.credits`,
      [one.account_id, one.day, one.endpoint, one.code, one.calls, one.succeeded, one.paid, one.credits],
    )
  }
}

/** Deletes up to `limit` calls and terms before a time. Returns whether there may be more. */
export async function deleteCallsBefore(tx: Tx, moment: number, limit: number): Promise<boolean> {
  const calls = await tx.run(
    `DELETE FROM request_log WHERE id IN (SELECT id FROM request_log WHERE at < ? ORDER BY at LIMIT ${limit})`,
    [moment],
  )
  const terms = await tx.run(
    `DELETE FROM request_term WHERE (account_id, term, request_id) IN (
       SELECT account_id, term, request_id FROM request_term WHERE at < ? ORDER BY at LIMIT ${limit})`,
    [moment],
  )
  return calls === limit || terms === limit
}

export function findCounts(
  queries: Queries,
  accountId: number,
  from: string,
  to: string,
): Promise<DayCount[]> {
  return queries.all<DayCount>(
    `SELECT account_id, day, endpoint, code, calls, succeeded, paid, credits FROM call_day
     WHERE account_id = ? AND day >= ? AND day <= ?`,
    [accountId, from, to],
  )
}

/** Whether the account has made a call, and a successful one that cost credits. */
export async function findFirstSteps(
  queries: Queries,
  accountId: number,
): Promise<{ called: boolean; paid: boolean }> {
  const row = await queries.one<{ calls: number | null; paid: number | null }>(
    'SELECT SUM(calls) AS calls, SUM(paid) AS paid FROM call_day WHERE account_id = ?',
    [accountId],
  )
  return { called: (row?.calls ?? 0) > 0, paid: (row?.paid ?? 0) > 0 }
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
  /** A request id, or the hash of a text that the call can be found by. */
  readonly requestId?: string | undefined
  readonly term?: string | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}

/** The maximum of calls that are read for one page, however few of them match. */
const scanLimit = 20_000

const summaryColumns = `id, account_id, request_id, at, endpoint, action, method, status, code, ok, message, duration_us, gateway,
  charged, given_back, replayed, idempotent, address`

export type CallSummaryRow = Omit<CallRow, 'parameters' | 'answer' | 'steps'>

export interface CallPage {
  readonly rows: readonly CallSummaryRow[]
  /** The `before` of the next page; null at the end. */
  readonly next: number | null
}

/** Ids follow time, except for calls that several processes write at the same time. */
const idSlack = 5_000

/** The approximate id at a time; undefined when no call is that new. */
async function idAt(queries: Queries, moment: number): Promise<number | undefined> {
  const row = await queries.one<{ id: number }>(
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
    before: last === undefined ? before : Math.min(before ?? Number.MAX_SAFE_INTEGER, last + idSlack),
    after: first === undefined ? after : Math.max(after ?? 0, first - idSlack),
  }
}

export async function listCalls(queries: Queries, input: CallSearch, limit: number): Promise<CallPage> {
  const search = await limitIds(queries, input)
  const scope = joinConditions([
    ['account_id = ?', search.accountId],
    // A literal, because the partial index of failures needs one.
    [`ok = ${search.ok === 0 ? 0 : 1}`, search.ok === undefined ? undefined : noValue],
    ['id < ?', search.before],
    ['id > ?', search.after],
    ['request_id = ?', search.requestId],
    ['request_id IN (SELECT request_id FROM request_term WHERE account_id = ? AND term = ?)', search.term],
  ])
  if (search.term !== undefined) scope.values.splice(-1, 0, search.accountId)
  const filter = joinConditions([
    ['endpoint = ?', search.endpoint],
    ['action = ?', search.action],
    ['code = ?', search.code],
    ['at >= ?', search.start],
    ['at < ?', search.end],
  ])
  const scanned = `SELECT ${summaryColumns} FROM request_log WHERE ${scope.text} ORDER BY id DESC LIMIT ${scanLimit}`
  const rows = await queries.all<CallSummaryRow>(
    filter.text === ''
      ? scanned.replace(/LIMIT \d+$/, `LIMIT ${limit + 1}`)
      : `SELECT ${summaryColumns} FROM (${scanned}) scanned WHERE ${filter.text} ORDER BY id DESC LIMIT ${limit + 1}`,
    [...scope.values, ...filter.values],
  )
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]!.id }
  if (filter.text === '') return { rows, next: null }
  const last = await queries.one<{ id: number | null; count: number }>(
    `SELECT MIN(id) AS id, COUNT(*) AS count FROM (SELECT id FROM request_log WHERE ${scope.text} ORDER BY id DESC LIMIT ${scanLimit}) scanned`,
    scope.values,
  )
  return { rows, next: last && last.count === scanLimit ? last.id : null }
}

/** Marks a condition without a parameter. */
const noValue = Symbol('no value')

function joinConditions(given: readonly (readonly [string, Value | undefined | typeof noValue])[]): {
  text: string
  values: Value[]
} {
  const there = given.filter(([, value]) => value !== undefined)
  return {
    text: there.map(([text]) => text).join(' AND '),
    values: there.map(([, value]) => value).filter((value): value is Value => value !== noValue),
  }
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

export async function countCallsSince(queries: Queries, accountId: number, moment: number): Promise<number> {
  const row = await queries.one<{ count: number }>(
    `SELECT COUNT(*) AS count FROM (SELECT at FROM request_log WHERE account_id = ? ORDER BY id DESC
       LIMIT ${maxCounted}) newest WHERE at >= ?`,
    [accountId, moment],
  )
  return row?.count ?? 0
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
