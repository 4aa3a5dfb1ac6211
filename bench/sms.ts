// Sending through the sandbox compared with a bare handler, and queries among a thousand and a million records.
import type { Database } from '../server/db/database.ts'
import { findSends } from '../server/sms/store.ts'
import { type Measured, measure } from './measure.ts'
import { sendBench } from './paid-calls.ts'
import type { Part } from './report.ts'
import { batchesBench } from './sms-batches.ts'
import { onEngines, type BenchStorage } from './storage.ts'

const smallCount = 1_000

export async function smsBench(part: Part): Promise<void> {
  await sendBench(part)
  await batchesBench(part)
  await onEngines(part, (storage) => measureRecords(part, storage))
}

async function measureRecords(part: Part, storage: BenchStorage): Promise<void> {
  const largeCount = part.scale.quick ? 2 * smallCount : 1_000_000
  const lookups = part.scale.count(2_000)
  const { db, close } = await storage.open()
  const { id } = storage.payer
  await fill(db, id, smallCount)
  const small = await lookUp(db, id, lookups)
  await fill(db, id, largeCount - smallCount)
  const large = await lookUp(db, id, lookups)
  for (const [query, measured] of Object.entries(large)) {
    const before = small[query]!
    const row = (count: number) => `get_status by ${query}, ${count.toLocaleString('en-US')} records`
    part.row({ name: row(smallCount), engine: storage.name, ...before })
    const ratio = measured.p50 / before.p50
    part.row({
      name: row(largeCount),
      engine: storage.name,
      ...measured,
      ratio,
      ratioTo: `p50 of ${smallCount}`,
    })
  }
  await close()
}

/** Inserts records of one account over thirty days, to fifty phone numbers. */
async function fill(db: Database, accountId: number, count: number): Promise<void> {
  const series =
    db.engine === 'sqlite'
      ? `WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT`
      : 'SELECT'
  const from = db.engine === 'sqlite' ? 's' : `generate_series(1, ${count}) AS s (n)`
  await db.write((tx) =>
    tx.run(
      `INSERT INTO sms_send (account_id, operation_id, phone, template_code, template_params, sign_name, parts, gateway,
         state, success, created_at)
       ${series} ${accountId}, n, CAST(13900000000 + n % 50 AS text), 'CODE', '{"code":"123456"}', 'Tollgate', 1,
         'sandbox', 'accepted', 1, ${tx.now} - 2592000000 + CAST(n AS bigint) * (2592000000 / ${count}) FROM ${from}`,
    ),
  )
  if (db.engine === 'postgres') await db.write((tx) => tx.run('ANALYZE sms_send'))
}

async function lookUp(db: Database, accountId: number, lookups: number): Promise<Record<string, Measured>> {
  const newest = await db.one<{ id: number; created_at: number }>(
    'SELECT id, created_at FROM sms_send ORDER BY id DESC LIMIT 1',
  )
  const { id, created_at: until } = newest!
  const dayMs = 86_400_000
  // Every query returns twenty rows, so that only the search differs.
  const phoneOf = (index: number) => String(13_900_000_000 + (index % 50))
  const filters = {
    biz_id: (index: number) => ({
      accountId,
      bizId: `1${String(id - (index % smallCount)).padStart(17, '0')}`,
    }),
    phone_number: (index: number) => ({ accountId, phone: phoneOf(index) }),
    dates: (index: number) => ({
      accountId,
      from: until - ((index % 29) + 1) * dayMs,
      before: until - (index % 29) * dayMs,
    }),
  }
  const measured: Record<string, Measured> = {}
  for (const [query, filter] of Object.entries(filters)) {
    await measure(Math.min(500, lookups), 1, (index) => findSends(db, filter(index), 20))
    measured[query] = await measure(lookups, 1, (index) => findSends(db, filter(index), 20))
  }
  return measured
}
