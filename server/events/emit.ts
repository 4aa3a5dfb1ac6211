// Emits events: rows in the transaction of the change they report, and only if an endpoint of the account receives them.
import { randomBytes } from 'node:crypto'
import { type EventType, isAlertType, type PlatformAlertType } from '../../contract/events.ts'
import { isoTime } from '../../contract/time.ts'
import type { Tx } from '../db/database.ts'
import { createRepeatLimit } from './free-rows.ts'
import {
  findNow,
  findOperatorIds,
  findWantedTypes,
  insertEventFor,
  insertEvents,
  type NewEventRow,
} from './store.ts'

export interface NewEvent {
  readonly accountId: number
  readonly type: EventType | PlatformAlertType
  /** The account's own data, so phone numbers are whole. Never a secret. */
  readonly data: Readonly<Record<string, unknown>>
  /** Alerts with the same key are sent at most once an hour; the type if left out. */
  readonly alertKey?: string
}

const mayEmit = createRepeatLimit()

/** Call this in the transaction of the change. The dispatcher of any process finds the rows within half a second. */
export async function emitEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const wanted = await findWantedTypes(tx, [...new Set(events.map(({ accountId }) => accountId))])
  const received = events.filter(
    (event) => hasType(wanted.get(event.accountId) ?? '', event.type) && mayEmit(event),
  )
  if (received.length === 0) return
  const now = await findNow(tx)
  let rows = received.map((event) => toRow(event, now))
  // Rows of one statement do not see each other, so alerts with the same key come one after the other. Other events are many.
  while (rows.length > 0) {
    const firsts = new Map(rows.toReversed().map((row) => [orderKey(row), row]))
    const batch = new Set(firsts.values())
    await insertEvents(
      tx,
      rows.filter((row) => batch.has(row)),
    )
    rows = rows.filter((row) => !batch.has(row))
  }
}

/** Alerts every operator who has a channel for it and is not suspended. */
export async function emitToOperators(
  tx: Tx,
  type: PlatformAlertType,
  data: NewEvent['data'],
  alertKey: string = type,
): Promise<void> {
  const operators = await findOperatorIds(tx)
  await emitEvents(
    tx,
    operators.map((accountId) => ({ accountId, type, data, alertKey })),
  )
}

/** Emits an event for one endpoint, whatever types it receives. Returns the id of the delivery. */
export async function emitTo(tx: Tx, endpointId: number, event: NewEvent): Promise<number> {
  return insertEventFor(tx, endpointId, toRow(event, await findNow(tx)))
}

/** Whether an endpoint of the account receives the type. Saves the query of `emitEvents` where the account is known. */
export function receivesEvent(account: { readonly event_types: string }, type: EventType): boolean {
  return hasType(account.event_types, type)
}

function hasType(types: string, type: NewEvent['type']): boolean {
  return types !== '' && (types === '*' || types.split(' ').includes(type))
}

function orderKey({ uid, account_id: account, type, alert_key: key }: NewEventRow): string {
  return isAlertType(type) ? `${account} ${key}` : uid
}

function toRow({ accountId, type, data, alertKey = type }: NewEvent, at: number): NewEventRow {
  const uid = `evt_${randomBytes(16).toString('hex')}`
  return { uid, account_id: accountId, type, data: JSON.stringify(data), alert_key: alertKey, at }
}

/** The body of every attempt, byte for byte the same. */
export function eventBody({ type, at, data }: { type: string; at: number; data: string }): string {
  return `{"type":${JSON.stringify(type)},"timestamp":"${isoTime(at)}","data":${data}}`
}
