// Receipts that arrive at the moment of the response, at another process: one lock order, so no deadlocks.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Client } from 'pg'
import { freshStorage, onEachEngine } from './support/engines.ts'
import { json, type RecordedRequest, startFakeUpstream, text } from './support/fake-upstream.ts'
import { startService } from './support/service.ts'
import { startSmsService } from './support/sms.ts'

const secret = 'shared secret'
const sends = 160

interface SentBody {
  readonly biz_id: string
  readonly phone_number: string
}

function push(url: string, receipts: readonly object[]): Promise<Response> {
  const body = JSON.stringify({ receipts })
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
  return fetch(`${url}/receipts/sms/http/receipt-secret-0123456789`, {
    method: 'POST',
    headers: { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': `sha256=${signature}` },
    body,
  })
}

onEachEngine('SMS receipts beside the response', (engine) => {
  test('do not deadlock with settlements, refunds, held sends, charges and the sweeper', async () => {
    const storage = await freshStorage(engine)
    const pushes: Promise<Response>[] = []
    let sent: { biz_id: string; phone_number: string }[] = []
    let otherUrl = ''
    const upstream = await startFakeUpstream((request: RecordedRequest) => {
      const body = JSON.parse(request.body) as SentBody & { action: string }
      if (body.action !== 'send') return json(200, { result: 'found', status: 'delivered' })
      sent.push({ biz_id: body.biz_id, phone_number: body.phone_number })
      // Several receipts in one push, in the opposite order of the sends.
      if (sent.length >= 4) {
        const some = sent.toReversed()
        sent = []
        const statuses = some.map((one, i) => ({ ...one, status: i % 2 === 0 ? 'delivered' : 'failed' }))
        for (const status of statuses) pushes.push(push(otherUrl, [status]))
      }
      const kind = Number(body.biz_id.slice(-1)) % 4
      if (kind === 0) return json(200, { result: 'refused', reason: 'number' })
      return kind === 1 ? text(500, 'no result') : json(200, { result: 'accepted', id: `v${body.biz_id}` })
    })
    await using open = new AsyncDisposableStack()
    open.defer(() => upstream.close())
    const environment = {
      SMS_GATEWAYS: 'http',
      SMS_HTTP_URL: upstream.url,
      SMS_HTTP_SECRET: secret,
      SMS_RECEIPT_SECRET: 'receipt-secret-0123456789',
      SMS_NUMBER_LIMITS: '1000/m,1000/h',
    }
    {
      await using sms = await startSmsService(engine, environment, { sms: sends }, storage)
      await using other = await startService(engine, { SWEEP_S: '3600', ...environment }, storage)
      otherUrl = other.url
      const phones = Array.from({ length: 20 }, (_, i) => `138001380${String(i).padStart(2, '0')}`)
      const calls = Array.from({ length: sends }, (_, i) => {
        const order = i % 2 === 0 ? phones : phones.toReversed()
        return sms.send({ phone_number: order[i % phones.length] })
      })
      const sweeping = (async () => {
        for (let round = 0; round < 5; round += 1) await sms.sweepAll()
      })()
      const replies = await Promise.all(calls)
      assert.ok(replies.every(({ body }) => body.code === 0 || body.code === 1005))
      assert.ok(replies.every(({ body }) => !/系统|Internal/.test(body.message)))
      for (const response of await Promise.all(pushes)) assert.equal(response.status, 200)
      await sweeping
      await sms.sweepAll()
      assert.deepEqual(await sms.findLedgerProblems(), [])
      for (const { logged } of [sms.service, other]) {
        // On a busy machine the readiness check may be late.
        const errors = logged.filter((line) => line.includes('"level":50') && !line.includes('not ready'))
        assert.deepEqual(errors, [])
      }
    }
    // A connection reports its statistics at the latest when it ends.
    if (engine === 'postgres') assert.equal(await countDeadlocks(storage.environment['DATABASE_URL']!), 0)
    await storage.remove()
  })
})

async function countDeadlocks(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const sql = 'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()'
  const { rows } = await client.query<{ deadlocks: number }>(sql)
  await client.end()
  return rows[0]!.deadlocks
}
