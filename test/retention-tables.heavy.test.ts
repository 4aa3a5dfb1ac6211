// Every table with a retention: rows that are older are deleted by the service, younger ones stay.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDay, dayMs, hourMs } from '../contract/time.ts'
import type { Database, Value } from '../server/db/database.ts'
import { deleteOldBatches } from '../server/shortlink/clicks/journal-store.ts'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { insertRow } from './support/rows.ts'
import { startService } from './support/service.ts'
import { until } from './support/until.ts'

interface Retention {
  readonly table: string
  /** The column that decides, and how long a row is kept after it. */
  readonly time: string
  readonly keptMs: number
  /** A calendar day instead of milliseconds. */
  readonly unit?: 'day'
  readonly values?: Readonly<Record<string, Value>>
}

const days = (count: number) => count * dayMs

const settings = { SMS_RECORD_DAYS: '150', AUDIT_KEEP_DAYS: '180' }

/** As documented in `docs/operations.md`; `test/retention.test.ts` has keys, stored responses and counters, `server/shortlink/store.test.ts` visitors. */
const retentions: readonly Retention[] = [
  { table: 'request_log', time: 'at', keptMs: days(30) },
  { table: 'request_term', time: 'at', keptMs: days(30) },
  { table: 'request_log_day', time: 'day', keptMs: days(30), unit: 'day' },
  { table: 'sms_send', time: 'created_at', keptMs: days(150), values: { state: 'accepted' } },
  { table: 'sms_batch', time: 'created_at', keptMs: days(150), values: { pending: 0, waiting: 0 } },
  { table: 'sms_reply', time: 'received_at', keptMs: days(150) },
  { table: 'sms_code', time: 'expires_at', keptMs: 0 },
  { table: 'sms_early_receipt', time: 'received_at', keptMs: 300_000, values: { gateway_id: 'unknown' } },
  { table: 'identity_record', time: 'at', keptMs: days(180), values: { verdict: 'match' } },
  {
    table: 'domain_run',
    time: 'at',
    keptMs: days(90),
    values: { items: '[]', results: '[]', counts: '{}', finished: 1 },
  },
  { table: 'link_click_batch', time: 'at', keptMs: days(1) },
  { table: 'health_day', time: 'day', keptMs: days(90), unit: 'day' },
  { table: 'link_own_domain', time: 'added_at', keptMs: days(30) },
  { table: 'link_report', time: 'decided_at', keptMs: days(180), values: { state: 'dismissed' } },
  { table: 'link_report', time: 'at', keptMs: days(365), values: { state: 'open' } },
  { table: 'link_import', time: 'ended_at', keptMs: days(30), values: { state: 'finished' } },
  { table: 'link_share', time: 'expires_at', keptMs: days(30) },
  { table: 'console_session', time: 'seen_at', keptMs: 12 * hourMs },
  { table: 'sign_in', time: 'at', keptMs: days(90) },
  { table: 'mail_token', time: 'created_at', keptMs: days(1) },
  { table: 'event_attempt', time: 'at', keptMs: days(30) },
  { table: 'event_delivery', time: 'created_at', keptMs: days(30), values: { state: 'delivered' } },
  { table: 'event', time: 'at', keptMs: days(30) },
  { table: 'operator_call', time: 'created_at', keptMs: days(1) },
  { table: 'audit', time: 'at', keptMs: days(180) },
  { table: 'payment_refusal', time: 'at', keptMs: days(90) },
]

const momentOf = ({ unit }: Retention, at: number): Value => (unit === 'day' ? formatDay(at) : at)

/** The service may add rows of its own meanwhile, of the present. */
const count = async (db: Database, retention: Retention, at: number) =>
  (await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM ${retention.table} WHERE ${retention.time} = ?`, [
    momentOf(retention, at),
  ]))!.n

onEachEngine('retention of each table', (engine) => {
  test('53 deletes rows after the documented time, and none before', async () => {
    const storage = await freshStorage(engine)
    const db = storage.open()
    const now = Date.now()
    const timesOf = ({ keptMs, unit }: Retention) => {
      const slack = unit === undefined ? hourMs : days(2)
      return { old: now - keptMs - slack, young: now - keptMs + slack }
    }
    await db.write(async (tx) => {
      await insertRow(tx, 'account', { label: 'x', at: now, values: { id: 1, role: 'account' } })
      for (const retention of retentions) {
        const { old, young } = timesOf(retention)
        for (const [label, at] of [
          ['old', old],
          ['young', young],
        ] as const) {
          const values = { ...retention.values, [retention.time]: momentOf(retention, at) }
          await insertRow(tx, retention.table, { label, at, values })
        }
      }
    })
    {
      await using service = await startService(engine, settings, storage)
      // The job that does it runs for the first time a minute after the start.
      await db.write(deleteOldBatches)
      for (const retention of retentions) {
        const { old, young } = timesOf(retention)
        const name = `${retention.table}.${retention.time}`
        await until(async () => (await count(db, retention, old)) === 0, 30_000).catch(() => undefined)
        assert.deepEqual(
          [name, await count(db, retention, old), await count(db, retention, young)],
          [name, 0, 1],
        )
      }
      assert.deepEqual(
        service.logged.filter((line) => line.includes('"level":50')),
        [],
      )
    }
    await db.close()
    await storage.remove()
  })
})
