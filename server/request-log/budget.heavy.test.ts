// A key without credits cannot fill the disk: unpaid calls are stored in about 1 kB, up to a daily budget per account.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Logger, pino } from 'pino'
import { Registry } from 'prom-client'
import { requestRoutes } from '../../contract/console/requests.ts'
import { sms } from '../../contract/sms.ts'
import { freshDatabase, onEachEngine } from '../../test/support/engines.ts'
import { signedIn } from '../../test/support/console.ts'
import { post, startService } from '../../test/support/service.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import type { Database } from '../db/database.ts'
import { createRequestLog } from './recorder.ts'

const silent = pino({ enabled: false })

function openLog(db: Database, unpaidBytesPerDay: number, log: Logger = silent) {
  const metrics = new Registry()
  const secret = 'a secret of thirty-two characters or more'
  return { metrics, ...createRequestLog({ db, secret, days: 30, unpaidBytesPerDay, log, metrics }) }
}

let lastId = 0

function completed(accountId: number, { isPaid = false, text = 'x' } = {}): CompletedCall {
  lastId += 1
  const parameterSources = { phone_number: 'json', template_code: 'json', sign_name: 'json' }
  const call = {
    sources: { headers: {}, json: { phone_number: text, template_code: text, sign_name: text } },
    address: '203.0.113.7',
    source: 'api',
    idempotencyKey: undefined,
    trace: {
      accountId,
      steps: { checked: 1 },
      parameterSources,
      charged: isPaid ? 1 : 0,
      refunded: 0,
      replayed: false,
    },
  }
  const body = isPaid ? { code: 0, data: {} } : { code: 1004, message: `调用次数不足${text}` }
  const response = { status: isPaid ? 200 : 402, body }
  const requestId = `00000000-0000-4000-8000-${String(lastId).padStart(12, '0')}`
  return {
    call,
    endpoint: sms,
    response,
    durationMs: 1,
    requestId,
    method: 'POST',
  } as unknown as CompletedCall
}

async function countRows(db: Database, accountId: number): Promise<number> {
  const row = await db.one<{ count: number }>(
    'SELECT COUNT(*) AS count FROM request_log WHERE account_id = ?',
    [accountId],
  )
  return row!.count
}

async function metricOf(registry: Registry, reason: string): Promise<number> {
  const text = await registry.metrics()
  return Number(new RegExp(`dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
}

onEachEngine('budget of the request log', (engine) => {
  it('stores a refused call with large values in about 1 kB', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account()
    const { username, key } = account
    const text = '超'.repeat(16_000)
    const values = {
      phone_number: '13800138000',
      template_code: text,
      sign_name: text,
      template_params: { a: text },
    }
    for (const more of [
      { action: 'send_sms', ...values },
      { action: 'get_logs', biz_id: text, phone_number: text },
    ]) {
      const reply = await post(`${service.url}/api/sms_api.php`, { username, api_key: key, ...more })
      assert.notEqual(reply.body.code, 0)
    }
    await service.app.requestLog.flush()
    const rows = await db.all<Record<string, unknown>>('SELECT * FROM request_log')
    assert.equal(rows.length, 2)
    for (const row of rows) assert.ok(Buffer.byteLength(JSON.stringify(row)) < 1_600, JSON.stringify(row))
    const browser = await signedIn(service, account)
    assert.equal((await browser.call(requestRoutes.list, {})).body.skipped_today, 0)
  })

  it('writes and counts every call once, also those that complete during a flush', async () => {
    await using fresh = await freshDatabase(engine)
    const log = openLog(fresh.db, 20_000)
    for (let i = 0; i < 300; i += 1) log.record(completed(7, { isPaid: true }))
    const flushed = log.flush()
    log.record(completed(7, { isPaid: true }))
    await flushed
    assert.equal(await countRows(fresh.db, 7), 301)
    const counts = await fresh.db.all('SELECT account_id, calls, paid FROM call_day ORDER BY account_id')
    assert.deepEqual(counts, [
      { account_id: 0, calls: 301, paid: 301 },
      { account_id: 7, calls: 301, paid: 301 },
    ])
  })

  it('stops recording unpaid calls at the budget, in all processes, and counts them', async () => {
    await using fresh = await freshDatabase(engine)
    const other = fresh.storage.open()
    const logs = [openLog(fresh.db, 20_000), openLog(other, 20_000)]
    for (let round = 0; round < 6; round += 1) {
      for (const log of logs) {
        for (let i = 0; i < 50; i += 1) log.record(completed(7, { text: 'y'.repeat(200) }))
        log.record(completed(8))
        log.record(completed(7, { isPaid: true }))
        await log.flush()
      }
    }
    const paid = await fresh.db.one<{ count: number }>(
      'SELECT COUNT(*) AS count FROM request_log WHERE account_id = 7 AND ok = 1',
    )
    assert.equal(paid!.count, 12, 'paid calls are recorded')
    assert.equal(await countRows(fresh.db, 8), 12, 'other accounts are not affected')
    const recorded = (await countRows(fresh.db, 7)) - 12
    assert.ok(recorded >= 15 && recorded <= 150, `${recorded} recorded`)
    const use = await fresh.db.one<{ skipped: number }>(
      'SELECT skipped FROM request_log_day WHERE account_id = 7',
    )
    assert.equal(use!.skipped, 600 - recorded)
    const counted = await fresh.db.one<{ calls: number }>(
      'SELECT SUM(calls) AS calls FROM call_day WHERE account_id = 7',
    )
    assert.equal(Number(counted!.calls), 612, 'every call is counted')
    const dropped = await Promise.all(logs.map(({ metrics }) => metricOf(metrics, 'budget')))
    assert.equal(dropped[0]! + dropped[1]!, 600 - recorded)
    await other.close()
  })

  it('reports calls that did not fit into the queue, and keeps room for other accounts', async () => {
    await using fresh = await freshDatabase(engine)
    const lines: string[] = []
    const log = openLog(fresh.db, 1_000_000_000, pino({}, { write: (line: string) => void lines.push(line) }))
    for (let i = 0; i < 3_000; i += 1) log.record(completed(7))
    log.record(completed(8))
    assert.equal(log.stats.dropped, 2_000)
    assert.equal(await metricOf(log.metrics, 'queue'), 2_000)
    assert.equal(lines.filter((line) => line.includes('calls were not recorded')).length, 1)
    await log.flush()
    assert.equal(await countRows(fresh.db, 8), 1)
    log.record(completed(7))
    assert.equal(log.stats.dropped, 2_000, 'the queue has room again')
  })
})
