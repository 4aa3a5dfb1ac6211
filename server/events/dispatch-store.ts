// The work of the dispatcher: leases endpoints, takes their due deliveries and records attempts.
import { dayMs } from '../../contract/time.ts'
import { bulkInsert, insertRows } from '../db/bulk-insert.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { byEngine, idList, valueTable } from '../db/dialect.ts'
import { isReached } from '../db/reached.ts'
import type { Tables } from '../db/schema.ts'
import { rowsPerSlice, writeInSlices } from '../db/slices.ts'
import { deleteOlderThan } from '../db/time-ordered.ts'

export type LeasedEndpoint = Pick<
  Tables['event_endpoint'],
  | 'id'
  | 'account_id'
  | 'kind'
  | 'state'
  | 'url'
  | 'secret'
  | 'previous_secret'
  | 'previous_until'
  | 'failing_since'
  | 'language'
> & { readonly username: string; readonly now: number }

const endpointColumns = `id, account_id, kind, state, url, secret, previous_secret, previous_until, failing_since, language,
  (SELECT username FROM account WHERE account.id = event_endpoint.account_id) AS username`

/** Endpoints with pending deliveries: steps from one to the next through the index, so a long backlog of one costs nothing. */
const waiting = `WITH RECURSIVE waiting (id) AS (
  SELECT MIN(endpoint_id) FROM event_delivery WHERE state = 'pending'
  UNION ALL
  SELECT (SELECT MIN(endpoint_id) FROM event_delivery WHERE state = 'pending' AND endpoint_id > waiting.id)
  FROM waiting WHERE waiting.id IS NOT NULL
)`

/** No endpoint is paused for longer; a longer `Retry-After` is cut. */
export const maxPauseMs = dayMs

const isFree = (queries: Queries, leaseMs: number) => isReached(queries, 'lease_until', 2 * leaseMs)

const fromDueEndpoints = (queries: Queries, leaseMs: number) => `
  FROM waiting JOIN event_endpoint p ON p.id = waiting.id
  WHERE p.state = 'active' AND ${isFree(queries, leaseMs)} AND ${isReached(queries, 'p.paused_until', maxPauseMs)}
    AND EXISTS (SELECT 1 FROM event_delivery d
      WHERE d.endpoint_id = p.id AND d.state = 'pending' AND d.due_at <= ${queries.now})`

/** Whether an endpoint can be leased; a read, because it is asked several times a second. */
export async function hasDue(queries: Queries, leaseMs: number): Promise<boolean> {
  const row = await queries.one(`${waiting} SELECT 1 AS found ${fromDueEndpoints(queries, leaseMs)} LIMIT 1`)
  return row !== undefined
}

/** A failing endpoint waits so much longer for its turn: receivers that hang must not delay the others. */
const failingWaitMs = 60_000

/**
 * Leases endpoints with due deliveries, least recently served first. One process delivers to an endpoint at a time, so
 * its concurrency is bounded over all processes.
 */
export function leaseEndpoints(tx: Tx, limit: number, leaseMs: number): Promise<LeasedEndpoint[]> {
  return tx.all<LeasedEndpoint>(
    `${waiting}
     UPDATE event_endpoint SET lease_until = ${tx.now} + ${leaseMs}, served_at = ${tx.now}
     WHERE id IN (SELECT p.id ${fromDueEndpoints(tx, leaseMs)}
         ORDER BY p.served_at + CASE WHEN p.failing_since IS NULL THEN 0 ELSE ${failingWaitMs} END LIMIT ${limit})
       AND ${isFree(tx, leaseMs)}
     RETURNING ${endpointColumns}, ${tx.now} AS now`,
  )
}

/**
 * Deletes what waits for endpoints that were removed: every search for due deliveries goes through all endpoints with pending
 * deliveries, and an account can add and remove any number.
 */
export function deleteUndeliverable(db: Database, signal: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const deleted = await tx.run(
        `${waiting}, removed AS MATERIALIZED (
           SELECT id FROM waiting WHERE NOT EXISTS (SELECT 1 FROM event_endpoint p WHERE p.id = waiting.id)
         )
         DELETE FROM event_delivery WHERE id IN (
           SELECT d.id FROM removed CROSS JOIN event_delivery d
           WHERE d.endpoint_id = removed.id AND d.state = 'pending' LIMIT ${rowsPerSlice})`,
      )
      return deleted === rowsPerSlice
    },
    signal,
  )
}

/** Deliveries that are due later than after the longest wait are from before the clock was set back: they are due now. */
export function pullInDeliveries(db: Database, maxWaitMs: number, signal: AbortSignal): Promise<void> {
  return writeInSlices(
    db,
    async (tx) => {
      const changed = await tx.run(
        `${waiting}
         UPDATE event_delivery SET due_at = ${tx.now} WHERE id IN (
           SELECT d.id FROM waiting CROSS JOIN event_delivery d
           WHERE d.endpoint_id = waiting.id AND d.state = 'pending' AND d.due_at > (SELECT ${tx.now} + ${Math.ceil(maxWaitMs)}) LIMIT ${rowsPerSlice})`,
      )
      return changed === rowsPerSlice
    },
    signal,
  )
}

export interface DueDelivery {
  readonly id: number
  readonly endpoint_id: number
  readonly attempts: number
  readonly uid: string
  readonly type: Tables['event']['type']
  readonly data: string
  readonly at: number
}

const dueSelect = (now: string, limit: number, endpoint: string) => `
  SELECT d.id, d.endpoint_id, d.attempts, e.uid, e.type, e.data, e.at
  FROM event_delivery d JOIN event e ON e.id = d.event_id
  WHERE d.endpoint_id = ${endpoint} AND d.state = 'pending' AND d.due_at <= ${now}
  ORDER BY d.due_at, d.id LIMIT ${limit}`

/** The next due deliveries of each endpoint. */
export function takeDue(
  queries: Queries,
  endpointIds: readonly number[],
  limit: number,
): Promise<DueDelivery[]> {
  return byEngine(queries, { sqlite: takeOneByOne, postgres: takeTogether })(queries, endpointIds, limit)
}

async function takeOneByOne(
  queries: Queries,
  endpointIds: readonly number[],
  limit: number,
): Promise<DueDelivery[]> {
  const due: DueDelivery[] = []
  for (const id of endpointIds)
    due.push(...(await queries.all<DueDelivery>(dueSelect(queries.now, limit, '?'), [id])))
  return due
}

function takeTogether(
  queries: Queries,
  endpointIds: readonly number[],
  limit: number,
): Promise<DueDelivery[]> {
  const list = idList(queries, endpointIds)
  return queries.all<DueDelivery>(
    `SELECT due.* FROM ${list.sql} AS list CROSS JOIN LATERAL (${dueSelect(queries.now, limit, 'list.id')}) AS due`,
    [list.value],
  )
}

/** Frees the endpoint for any process. */
export async function releaseEndpoint(tx: Tx, endpointId: number): Promise<void> {
  await tx.run('UPDATE event_endpoint SET lease_until = 0 WHERE id = ?', [endpointId])
}

export interface AttemptRecord {
  readonly deliveryId: number
  /** The number of attempts with this one. */
  readonly attempts: number
  readonly state: Tables['event_delivery']['state']
  /** Until the next attempt. */
  readonly waitMs: number
  readonly durationMs: number
  readonly status: number | null
  readonly error: string | null
  readonly response: string
}

const attemptRows = bulkInsert('event_attempt', {
  delivery_id: 'bigint',
  at: 'bigint',
  duration_ms: 'bigint',
  status: 'bigint',
  error: 'text',
  response: 'text',
})

const recordColumns = {
  id: 'bigint',
  attempts: 'bigint',
  state: 'text',
  wait_ms: 'bigint',
  status: 'bigint',
  error: 'text',
} as const

/** An attempt that another process has recorded meanwhile changes nothing. */
export async function recordAttempts(tx: Tx, now: number, records: readonly AttemptRecord[]): Promise<void> {
  const list = valueTable(
    tx,
    recordColumns,
    records.map(({ deliveryId, attempts, state, waitMs, status, error }) => ({
      id: deliveryId,
      attempts,
      state,
      wait_ms: waitMs,
      status,
      error,
    })),
  )
  await tx.run(
    `UPDATE event_delivery SET state = t.state, attempts = t.attempts, due_at = ${tx.now} + t.wait_ms,
       ended_at = CASE WHEN t.state = 'pending' THEN NULL ELSE ${tx.now} END, last_status = t.status, last_error = t.error
     FROM ${list.sql} AS t
     WHERE event_delivery.id = t.id AND event_delivery.state = 'pending' AND event_delivery.attempts = t.attempts - 1`,
    list.values,
  )
  await insertRows(
    tx,
    attemptRows,
    records.map(({ deliveryId, durationMs, status, error, response }) => ({
      delivery_id: deliveryId,
      at: now,
      duration_ms: Math.round(durationMs),
      status,
      error,
      response,
    })),
  )
}

export interface EndpointResult {
  readonly succeeded: boolean
  readonly pauseMs: number
  readonly leaseMs: number
}

/**
 * Extends the lease, too. Returns the endpoint as it is now; undefined when it was removed. How a receiver at an earlier URL responded
 * says nothing about the present one.
 */
export function recordEndpointResult(
  tx: Tx,
  { id, url }: Pick<LeasedEndpoint, 'id' | 'url'>,
  { succeeded, pauseMs, leaseMs }: EndpointResult,
): Promise<LeasedEndpoint | undefined> {
  // It is ahead of now after the clock was set back.
  const since = `CASE WHEN failing_since <= ${tx.now} THEN failing_since ELSE ${tx.now} END`
  return tx.one<LeasedEndpoint>(
    `UPDATE event_endpoint SET
       failing_since = CASE WHEN url = ? THEN ${succeeded ? 'NULL' : since} ELSE failing_since END,
       paused_until = CASE WHEN url = ? AND ? > 0 THEN ${tx.now} + ? ELSE paused_until END,
       lease_until = ${tx.now} + ${leaseMs}
     WHERE id = ?
     RETURNING ${endpointColumns}, ${tx.now} AS now`,
    [url, url, pauseMs, pauseMs, id],
  )
}

/** Counting more rows takes too long for a metric. */
export const maxCountedDeliveries = 10_000

export interface Backlog {
  /** At most `maxCountedDeliveries`. */
  readonly pending: number
  /** When the oldest delivery was due, or will be. A receiver that asked for a pause is not behind. */
  readonly oldestDueAt: number | undefined
}

/** Of active endpoints. */
export async function findBacklog(queries: Queries): Promise<Backlog> {
  const row = await queries.one<{ pending: number; oldest: number | null }>(
    `${waiting}, active (id, paused_until) AS (
       SELECT p.id, p.paused_until FROM waiting JOIN event_endpoint p ON p.id = waiting.id WHERE p.state = 'active'
     )
     SELECT
       (SELECT COUNT(*) FROM (SELECT 1 AS one FROM active JOIN event_delivery d ON d.endpoint_id = active.id
          WHERE d.state = 'pending' LIMIT ${maxCountedDeliveries}) AS counted) AS pending,
       (SELECT MIN((SELECT MIN(d.due_at) FROM event_delivery d WHERE d.endpoint_id = active.id AND d.state = 'pending'))
          FROM active WHERE ${isReached(queries, 'paused_until', maxPauseMs)}) AS oldest`,
  )
  return { pending: row?.pending ?? 0, oldestDueAt: row?.oldest ?? undefined }
}

/** Events, deliveries and attempts are deleted by their own time, in small transactions. */
export async function deleteOldEvents(db: Database, days: number, signal: AbortSignal): Promise<number> {
  const attempts = await deleteOlderThan(db, { table: 'event_attempt', time: 'at' }, days, signal)
  const deliveries = await deleteOlderThan(db, { table: 'event_delivery', time: 'created_at' }, days, signal)
  return attempts + deliveries + (await deleteOlderThan(db, { table: 'event', time: 'at' }, days, signal))
}
