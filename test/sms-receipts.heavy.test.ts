// Delivery receipts: they decide held operations, correct the records, and count once.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { Engine } from '../server/db/database.ts'
import { deleteOldEarlyReceipts, maxEarlyReceipts } from '../server/sms/early-receipt-store.ts'
import { onEachEngine } from './support/engines.ts'
import { cutBeforeHeaders, json, startFakeUpstream } from './support/fake-upstream.ts'
import { phone, startSmsService } from './support/sms.ts'
import { until } from './support/until.ts'

const secret = 'receipt-secret-0123456789'
const aliyunOk = json(200, { Code: 'OK', Message: 'OK', BizId: '9006^0', RequestId: 'r' })

async function withReceipts(engine: Engine, gateway: 'aliyun' | 'tencent' | 'http', environment = {}) {
  const upstream = await startFakeUpstream()
  const sms = await startSmsService(engine, {
    SMS_GATEWAYS: gateway,
    ALIYUN_ACCESS_KEY_ID: 'testid',
    ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
    ALIYUN_SMS_ENDPOINT: upstream.url,
    TENCENT_SECRET_ID: 'AKIDtest',
    TENCENT_SECRET_KEY: 'tencentsecret',
    TENCENT_SMS_APP_ID: '1400006666',
    TENCENT_SMS_ENDPOINT: upstream.url,
    SMS_HTTP_URL: upstream.url,
    SMS_HTTP_SECRET: 'shared secret',
    SMS_RECEIPT_SECRET: secret,
    ...environment,
  })
  async function push(body: unknown, path = `${gateway}/${secret}`, headers: Record<string, string> = {}) {
    const response = await fetch(`${sms.service.url}/receipts/sms/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  return {
    ...sms,
    upstream,
    push,
    async [Symbol.asyncDispose]() {
      await sms[Symbol.asyncDispose]()
      await upstream.close()
    },
  }
}

function report(bizId: string, success: boolean, code = success ? 'DELIVERED' : 'MOBILE_NOT_ON_SERVICE') {
  return {
    phone_number: phone,
    send_time: '2026-01-02 11:04:05',
    report_time: '2026-01-02 11:04:09',
    success,
    err_code: code,
    err_msg: 'x',
    sms_size: '1',
    biz_id: '9006^0',
    out_id: bizId,
  }
}

onEachEngine('SMS receipts', (engine) => {
  test('Aliyun receipts settle or refund held sends once', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    sms.upstream.handle(() => cutBeforeHeaders())
    await sms.send()
    await sms.send()
    const [second, first] = (await sms.records()).map((record) => record.biz_id)
    assert.equal(await sms.remaining(), 98)
    const batch = [
      report(first, true),
      report(second, false),
      report(first, true),
      report('100000000000099999', true),
      { ...report(first, false), phone_number: '13900139000' },
      { nonsense: true },
    ]
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await sms.push(batch), { status: 200, body: { code: 0, msg: '接收成功' } })
    }
    assert.equal(await sms.remaining(), 99)
    const [failed, delivered] = await sms.records()
    assert.deepEqual([delivered.success, delivered.error_message], [true, ''])
    assert.deepEqual([failed.success, failed.error_message], [false, '短信未送达（MOBILE_NOT_ON_SERVICE）'])
    await sms.sweepAll()
    assert.equal(await sms.remaining(), 99)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('concurrent receipts for one message end it once', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    sms.upstream.handle(() => cutBeforeHeaders())
    await sms.send()
    const [{ biz_id: bizId }] = await sms.records()
    const pushes = Array.from({ length: 12 }, (_, index) => sms.push([report(bizId, index % 2 === 0)]))
    assert.ok((await Promise.all(pushes)).every(({ status }) => status === 200))
    const balance = await sms.remaining()
    const [record] = await sms.records()
    assert.equal(balance, record.success ? 99 : 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a failure after the settlement changes only the record', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    sms.upstream.handle(() => aliyunOk)
    const { biz_id: bizId } = (await sms.send()).body.data
    await sms.push([report(bizId, false)])
    const [record] = await sms.records()
    assert.deepEqual([record.success, record.error_message], [false, '短信未送达（MOBILE_NOT_ON_SERVICE）'])
    assert.equal(await sms.remaining(), 99)
    // The first final receipt counts.
    await sms.push([report(bizId, true)])
    assert.equal((await sms.records())[0].success, false)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a receipt before the gateway’s response is a success, charged once', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    sms.upstream.handle(async (request) => {
      await sms.push([report(request.query.get('OutId')!, true)])
      return aliyunOk
    })
    const sent = await sms.send()
    assert.equal(sent.body.code, 0)
    assert.equal(await sms.remaining(), 99)
    assert.equal((await sms.records())[0].success, true)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a receipt that settles a running call decides its response, whatever the gateway responds', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    const refused = json(200, { Code: 'isv.MOBILE_NUMBER_ILLEGAL', Message: 'x', RequestId: 'r' })
    for (const [delivered, code, remaining] of [
      [true, 0, 99],
      [false, 1005, 99],
    ] as const) {
      sms.upstream.handle(async (request) => {
        await sms.push([report(request.query.get('OutId')!, delivered)])
        return refused
      })
      const headers = { 'idempotency-key': `contradiction-${delivered}` }
      const sent = await sms.send({}, headers)
      const replay = await sms.send({}, headers)
      assert.deepEqual([sent.body.code, replay.body.code], [code, code])
      assert.equal(await sms.remaining(), remaining)
      assert.equal((await sms.records())[0].success, delivered)
    }
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a delivery after the refund changes only the record', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    sms.upstream.handle(() => cutBeforeHeaders())
    await sms.send()
    await sms.sweepAll()
    const [{ biz_id: bizId }] = await sms.records()
    await sms.push([report(bizId, true)])
    const [record] = await sms.records()
    assert.deepEqual([record.success, record.error_message], [true, ''])
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('Tencent receipts have the serial number of the send', async () => {
    await using sms = await withReceipts(engine, 'tencent')
    sms.upstream.handle(() =>
      json(200, { Response: { SendStatusSet: [{ SerialNo: '5000:77', Code: 'Ok', Fee: 1 }] } }),
    )
    await sms.send()
    const item = { mobile: phone, nationcode: '86', report_status: 'FAIL', errmsg: 'UNDELIV', sid: '5000:77' }
    assert.deepEqual(await sms.push([item, { ...item, sid: '5000:78' }]), {
      status: 200,
      body: { result: 0, errmsg: 'OK' },
    })
    const [record] = await sms.records()
    assert.deepEqual([record.success, record.error_message], [false, '短信未送达（UNDELIV）'])
    assert.equal(await sms.remaining(), 99)
  })

  test('a Tencent receipt before the response counts once the message is recorded', async () => {
    await using sms = await withReceipts(engine, 'tencent')
    const sid = '5000:early'
    const item = { mobile: phone, nationcode: '86', report_status: 'SUCCESS', errmsg: 'DELIVRD', sid }
    sms.upstream.handle(async () => {
      // The first final receipt counts, and one of another number is not this message's.
      await sms.push([{ ...item, mobile: '13900139000', report_status: 'FAIL' }, item, item])
      await sms.push([{ ...item, report_status: 'FAIL', errmsg: 'UNDELIV' }])
      return json(200, { Response: { SendStatusSet: [{ SerialNo: sid, Code: 'Ok', Fee: 1 }] } })
    })
    assert.equal((await sms.send()).body.code, 0)
    await until(async () => (await sms.records())[0].state === 'delivered')
    const [record] = await sms.records()
    assert.deepEqual([record.success, record.receipt_code], [true, 'DELIVRD'])
    assert.equal(await sms.remaining(), 99)
    const { db } = sms.service.installation
    await until(async () => (await db.all('SELECT 1 AS n FROM sms_early_receipt')).length === 0)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('keeps a bounded number of receipts without a message', async () => {
    await using sms = await withReceipts(engine, 'tencent')
    const { db } = sms.service.installation
    const receipts = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        mobile: phone,
        report_status: 'SUCCESS',
        errmsg: 'DELIVRD',
        sid: `other:${from + i}`,
      }))
    for (let from = 0; from < maxEarlyReceipts + 2_000; from += 2_000) {
      assert.equal((await sms.push(receipts(from, 2_000))).status, 200)
    }
    const kept = async () => (await db.one<{ n: number }>('SELECT COUNT(*) AS n FROM sms_early_receipt'))!.n
    assert.equal(await kept(), maxEarlyReceipts)
    await db.write((tx) => tx.run('UPDATE sms_early_receipt SET received_at = 1'))
    await deleteOldEarlyReceipts(db)
    assert.equal(await kept(), 0)
  })

  test('receipts of the HTTP gateway are signed with its secret', async () => {
    await using sms = await withReceipts(engine, 'http')
    sms.upstream.handle(() => cutBeforeHeaders())
    await sms.send()
    const [{ biz_id: bizId }] = await sms.records()
    const body = JSON.stringify({ receipts: [{ biz_id: bizId, phone_number: phone, status: 'delivered' }] })
    const timestamp = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', 'shared secret').update(`${timestamp}.${body}`).digest('hex')
    const headers = { 'x-tollgate-timestamp': timestamp, 'x-tollgate-signature': `sha256=${signature}` }
    assert.equal((await sms.push(body)).status, 401)
    assert.equal((await sms.push(body.replace('delivered', 'failed'), undefined, headers)).status, 401)
    assert.equal((await sms.records())[0].success, false)
    assert.deepEqual(await sms.push(body, undefined, headers), { status: 200, body: { result: 'received' } })
    assert.equal((await sms.records())[0].success, true)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('returns 404 for wrong secrets, 400 for malformed receipts, and logs no secret', async () => {
    await using sms = await withReceipts(engine, 'aliyun')
    for (const path of [
      'aliyun/wrong',
      `aliyun/${secret}x`,
      `sandbox/${secret}`,
      `constructor/${secret}`,
      'aliyun',
    ]) {
      assert.equal((await sms.push([report('1', true)], path)).status, 404, path)
    }
    assert.equal((await fetch(`${sms.service.url}/receipts/sms/aliyun/${secret}`)).status, 404)
    for (const body of ['', '{', '{}', 'null', '[1]', '[{}]', '"x"', '<xml/>', '['.repeat(10_000)]) {
      assert.equal((await sms.push(body)).status, 400, body.slice(0, 10))
    }
    const hostile = [
      { ...report('100000000000000001', true), out_id: { a: 1 }, biz_id: "' OR 1=1", phone_number: 'x' },
    ]
    assert.equal((await sms.push(hostile)).status, 200)
    assert.equal((await sms.push('x'.repeat(1_100_000))).status, 413)
    const log = sms.service.logged.join('')
    assert.ok(!log.includes(secret))
    assert.ok(!log.includes('"level":50'))
  })

  test('62 derives another secret for each gateway from the installation without the setting', async () => {
    await using sms = await withReceipts(engine, 'aliyun', {
      SMS_RECEIPT_SECRET: '',
      SMS_GATEWAYS: 'aliyun,tencent,http',
    })
    const { secretFor } = sms.service.app.services
    const secrets = Object.fromEntries(
      ['aliyun', 'tencent', 'http'].map((name) => [name, secretFor(`sms receipts ${name}`)]),
    )
    assert.ok(secrets['aliyun']!.length >= 32)
    assert.equal((await sms.push([], `aliyun/${secret}`)).status, 404)
    assert.equal((await sms.push([], `aliyun/${secretFor('sms receipts')}`)).status, 404)
    for (const gateway of Object.keys(secrets)) {
      for (const [owner, value] of Object.entries(secrets)) {
        const { status } = await sms.push([], `${gateway}/${value}`)
        assert.equal(status !== 404, gateway === owner, `${gateway} with the secret of ${owner}: ${status}`)
      }
    }
  })

  test('62 prefers the secret of a gateway, and has URLs only for configured gateways', async () => {
    const own = 'aliyun-only-secret-0123'
    await using sms = await withReceipts(engine, 'tencent', { SMS_RECEIPT_SECRET_ALIYUN: own })
    assert.equal((await sms.push([], `aliyun/${own}`)).status, 200)
    assert.equal((await sms.push([], `aliyun/${secret}`)).status, 404)
    assert.equal((await sms.push([], `tencent/${secret}`)).status, 200)
    assert.equal((await sms.push([], `tencent/${own}`)).status, 404)
    assert.equal((await sms.push({ receipts: [] }, `http/${secret}`)).status, 404, 'not configured')
  })
})
