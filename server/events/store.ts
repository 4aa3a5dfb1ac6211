// Events and the endpoints that receive them.
import { alertLimits } from '../../contract/events.ts'
import { bulkInsert, insertRowsReturningIds } from '../db/bulk-insert.ts'
import type { Queries, Tx } from '../db/database.ts'
import { forUpdate, idList } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'

export type EndpointRow = Readonly<Tables['event_endpoint']>

export type NewEventRow = Pick<Tables['event'], 'uid' | 'account_id' | 'type' | 'data' | 'alert_key' | 'at'>

const eventRows = bulkInsert('event', {
  uid: 'text',
  account_id: 'bigint',
  type: 'text',
  data: 'text',
  alert_key: 'text',
  at: 'bigint',
})

/** Of these accounts, the types of events that their endpoints receive. */
export async function findWantedTypes(
  queries: Queries,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const list = idList(queries, accountIds)
  const rows = await queries.all<Pick<Tables['account'], 'id' | 'event_types'>>(
    `SELECT id, event_types FROM account WHERE id IN ${list.sql} AND event_types <> ''`,
    [list.value],
  )
  return new Map(rows.map(({ id, event_types }) => [id, event_types]))
}

/** Without those that are suspended. */
export async function findOperatorIds(queries: Queries): Promise<number[]> {
  const rows = await queries.all<Pick<Tables['account'], 'id'>>(
    `SELECT id FROM account WHERE role = 'operator' AND suspended = 0 ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}

/**
 * Inserts the events, and a delivery for every active endpoint that receives them. Returns the number of deliveries. An
 * alert channel gets at most one event with the same key in an hour; one from further ahead is from before the clock was set back.
 */
export async function insertEvents(tx: Tx, events: readonly NewEventRow[]): Promise<number> {
  const ids = await insertRowsReturningIds(tx, eventRows, events)
  const list = idList(tx, ids)
  return tx.run(
    `INSERT INTO event_delivery (event_id, endpoint_id, account_id, state, due_at, created_at)
     SELECT e.id, p.id, e.account_id, 'pending', ${tx.now}, ${tx.now}
     FROM event e JOIN event_endpoint p ON p.account_id = e.account_id
     WHERE e.id IN ${list.sql} AND p.state = 'active'
       AND (p.kind <> 'webhook' OR e.type NOT LIKE 'platform.%')
       AND (p.event_types = '*' OR (' ' || p.event_types || ' ') LIKE ('% ' || e.type || ' %'))
       AND (p.kind = 'webhook' OR NOT EXISTS (
         SELECT 1 FROM event_delivery d JOIN event o ON o.id = d.event_id
         WHERE d.endpoint_id = p.id AND o.alert_key = e.alert_key
           AND d.created_at > ${tx.now} - ${alertLimits.minIntervalMs}
           AND d.created_at < ${tx.now} + ${alertLimits.minIntervalMs}))
     ORDER BY e.id, p.id`,
    [list.value],
  )
}

/** Inserts an event for one endpoint only, whatever types it receives. Returns the id of the delivery. */
export async function insertEventFor(tx: Tx, endpointId: number, event: NewEventRow): Promise<number> {
  const [id] = await insertRowsReturningIds(tx, eventRows, [event])
  return tx.insert(
    `INSERT INTO event_delivery (event_id, endpoint_id, account_id, state, due_at, created_at)
     VALUES (?, ?, ?, 'pending', ${tx.now}, ${tx.now})`,
    [id!, endpointId, event.account_id],
  )
}

export async function findNow(queries: Queries): Promise<number> {
  return (await queries.one<{ now: number }>(`SELECT ${queries.now} AS now`))!.now
}

/** The webhooks of an account, or its alert channels. */
export function listEndpoints(
  queries: Queries,
  accountId: number,
  kind: 'webhook' | 'alert',
): Promise<EndpointRow[]> {
  return queries.all<EndpointRow>(
    `SELECT * FROM event_endpoint WHERE account_id = ? AND (kind = 'webhook') = (? = 'webhook') ORDER BY id`,
    [accountId, kind],
  )
}

export function findEndpoint(queries: Queries, id: number): Promise<EndpointRow | undefined> {
  return queries.one<EndpointRow>('SELECT * FROM event_endpoint WHERE id = ?', [id])
}

export type NewEndpoint = Pick<
  Tables['event_endpoint'],
  'account_id' | 'kind' | 'url' | 'event_types' | 'secret' | 'state' | 'language' | 'confirm_hash'
>

export function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<number> {
  return tx.insert(
    `INSERT INTO event_endpoint (account_id, kind, url, event_types, secret, state, language, confirm_hash, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${tx.now})`,
    [
      endpoint.account_id,
      endpoint.kind,
      endpoint.url,
      endpoint.event_types,
      endpoint.secret,
      endpoint.state,
      endpoint.language,
      endpoint.confirm_hash,
    ],
  )
}

/** The change, and what the account's endpoints receive after it, are one transaction. */
export async function lockAccountEndpoints(
  tx: Tx,
  accountId: number,
  kind: 'webhook' | 'alert',
): Promise<number> {
  await tx.one(`SELECT id FROM account WHERE id = ?${forUpdate(tx)}`, [accountId])
  return (await listEndpoints(tx, accountId, kind)).length
}

export type EndpointChange = Partial<
  Pick<
    Tables['event_endpoint'],
    'url' | 'event_types' | 'state' | 'disabled_reason' | 'failing_since' | 'paused_until' | 'confirm_hash'
  >
>

export async function updateEndpoint(tx: Tx, id: number, change: EndpointChange): Promise<void> {
  await tx.kysely.updateTable('event_endpoint').set(change).where('id', '=', id).execute()
}

/** Counts a try of the code before it is compared, so that simultaneous ones all count. Undefined without the channel. */
export async function countConfirmAttempt(tx: Tx, id: number): Promise<number | undefined> {
  const row = await tx.one<Pick<Tables['event_endpoint'], 'confirm_attempts'>>(
    'UPDATE event_endpoint SET confirm_attempts = confirm_attempts + 1 WHERE id = ? RETURNING confirm_attempts',
    [id],
  )
  return row?.confirm_attempts
}

/** The old secret signs as well for `overlapMs`. */
export async function replaceSecret(tx: Tx, id: number, secret: string, overlapMs: number): Promise<void> {
  await tx.run(
    `UPDATE event_endpoint SET previous_secret = secret, previous_until = ${tx.now} + ${overlapMs}, secret = ?
     WHERE id = ?`,
    [secret, id],
  )
}

/** Its pending deliveries are deleted within a minute or so, the others with the events. */
export async function deleteEndpoint(tx: Tx, id: number): Promise<void> {
  await tx.run('DELETE FROM event_endpoint WHERE id = ?', [id])
}

/** Sets which types of events are written for the account: those that its active endpoints receive. */
export async function updateWantedTypes(tx: Tx, accountId: number): Promise<void> {
  const rows = await tx.all<Pick<Tables['event_endpoint'], 'event_types'>>(
    `SELECT DISTINCT event_types FROM event_endpoint WHERE account_id = ? AND state = 'active'`,
    [accountId],
  )
  const types = new Set(rows.flatMap(({ event_types }) => event_types.split(' ')))
  const wanted = types.has('*') ? '*' : [...types].sort().join(' ')
  await tx.run('UPDATE account SET event_types = ? WHERE id = ?', [wanted, accountId])
}

/** Accounts whose alert channels receive other types than these. */
export async function findStaleChannels(
  queries: Queries,
  role: Tables['account']['role'],
  types: string,
): Promise<number[]> {
  const rows = await queries.all<{ id: number }>(
    `SELECT DISTINCT p.account_id AS id FROM event_endpoint p JOIN account a ON a.id = p.account_id
     WHERE p.kind <> 'webhook' AND p.event_types <> ? AND a.role = ? ORDER BY p.account_id LIMIT 1000`,
    [types, role],
  )
  return rows.map(({ id }) => id)
}

export async function updateAlertTypes(tx: Tx, accountId: number, types: string): Promise<void> {
  await tx.run(`UPDATE event_endpoint SET event_types = ? WHERE account_id = ? AND kind <> 'webhook'`, [
    types,
    accountId,
  ])
}

export interface DeliveryRow {
  readonly id: number
  readonly endpoint_id: number
  readonly account_id: number
  readonly uid: string
  readonly type: Tables['event']['type']
  readonly data: string
  readonly at: number
  readonly state: Tables['event_delivery']['state']
  readonly attempts: number
  readonly due_at: number
  readonly created_at: number
  readonly ended_at: number | null
  readonly last_status: number | null
  readonly last_error: string | null
}

const deliveryColumns = `d.id, d.endpoint_id, d.account_id, e.uid, e.type, e.data, e.at, d.state, d.attempts, d.due_at,
  d.created_at, d.ended_at, d.last_status, d.last_error`

/** Newest first. */
export function listDeliveries(
  queries: Queries,
  endpointId: number,
  { before, limit }: { readonly before: number | undefined; readonly limit: number },
): Promise<DeliveryRow[]> {
  return queries.all<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM event_delivery d JOIN event e ON e.id = d.event_id
     WHERE d.endpoint_id = ? AND d.id < ? ORDER BY d.id DESC LIMIT ${limit}`,
    [endpointId, before ?? Number.MAX_SAFE_INTEGER],
  )
}

export function findDelivery(queries: Queries, id: number): Promise<DeliveryRow | undefined> {
  return queries.one<DeliveryRow>(
    `SELECT ${deliveryColumns} FROM event_delivery d JOIN event e ON e.id = d.event_id WHERE d.id = ?`,
    [id],
  )
}

export type AttemptRow = Readonly<Tables['event_attempt']>

export function listAttempts(queries: Queries, deliveryId: number): Promise<AttemptRow[]> {
  return queries.all('SELECT * FROM event_attempt WHERE delivery_id = ? ORDER BY id DESC LIMIT 50', [
    deliveryId,
  ])
}

/** The delivery begins its schedule again. */
export async function restartDelivery(tx: Tx, id: number): Promise<void> {
  await tx.run(
    `UPDATE event_delivery SET state = 'pending', attempts = 0, due_at = ${tx.now}, ended_at = NULL WHERE id = ?`,
    [id],
  )
}

/** More are restarted by the next call: one transaction must not delay others. */
const maxRestarted = 5_000

/** Restarts the oldest failed deliveries of an endpoint that were created since a time; returns their number. */
export function restartFailed(tx: Tx, endpointId: number, since: number): Promise<number> {
  return tx.run(
    `UPDATE event_delivery SET state = 'pending', attempts = 0, due_at = ${tx.now}, ended_at = NULL
     WHERE id IN (SELECT id FROM event_delivery
       WHERE endpoint_id = ? AND state = 'failed' AND created_at >= ? ORDER BY id LIMIT ${maxRestarted})`,
    [endpointId, since],
  )
}
