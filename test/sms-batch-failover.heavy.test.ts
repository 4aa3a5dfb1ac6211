// Batches when a vendor dies or fails, and at night. The vendors' own records decide: no number is reached twice, none is forgotten.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseTime } from '../contract/time.ts'
import { systemActor } from '../server/audit/audit.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { onEachEngine } from './support/engines.ts'
import { cutBeforeHeaders, json, startFakeUpstream, verifyAliyunSignature } from './support/fake-upstream.ts'
import { startSmsService } from './support/sms.ts'
import { until } from './support/until.ts'

const total = 200
const diesAfter = 60
const phones = Array.from({ length: total }, (_one, i) => `138${10_000_000 + i}`)

onEachEngine('SMS batches with a vendor that dies', (engine) => {
  test('the rest goes to the next gateway only when it was provably not sent', async () => {
    /** How often each vendor reached a number, and with which serial number. */
    const first = new Map<string, number>()
    const second = new Map<string, number>()
    const serials = new Map<string, string>()
    let isDead = false
    const count = (books: Map<string, number>, phone: string) => books.set(phone, (books.get(phone) ?? 0) + 1)
    const aliyun = await startFakeUpstream((request) => {
      const wrong = verifyAliyunSignature(request, { testid: 'testsecret' })
      if (wrong !== undefined) return json(400, { Code: 'SignatureDoesNotMatch', Message: wrong })
      if (request.headers['x-acs-action'] !== 'SendSms') {
        const serial = serials.get(request.query.get('PhoneNumber')!)
        const found = serial === undefined ? [] : [{ OutId: serial, SendStatus: 3 }]
        return json(200, { Code: 'OK', SmsSendDetailDTOs: { SmsSendDetailDTO: found } })
      }
      if (isDead) return json(503, { Code: 'ServiceUnavailable' })
      const phone = request.query.get('PhoneNumbers')!
      count(first, phone)
      serials.set(phone, request.query.get('OutId')!)
      if (first.size < diesAfter) return json(200, { Code: 'OK', BizId: `b${phone}` })
      // It has sent this one and dies before it answers; later connections are refused.
      isDead = true
      void aliyun.close()
      return cutBeforeHeaders()
    })
    const tencent = await startFakeUpstream((request) => {
      const body = JSON.parse(request.body) as { PhoneNumberSet: string[] }
      const phone = body.PhoneNumberSet[0]!.slice(3)
      count(second, phone)
      const status = { SerialNo: `5000:${phone}`, Code: 'Ok', Fee: 1 }
      return json(200, { Response: { SendStatusSet: [status], RequestId: 'r' } })
    })
    await using vendors = new AsyncDisposableStack()
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    await using sms = await startSmsService(engine, bothGateways(aliyun.url, tencent.url), { sms: total })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: phones,
    })
    assert.equal(body.data.accepted, total)
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id, limit: 1 })).body.data
    await until(() => isDead, 60_000)
    const { db } = sms.service.installation
    const countWaiting = async () =>
      (await db.one<{ n: number }>('SELECT COUNT(*) AS n FROM sms_queue'))!.n +
      (await db.one<{ n: number }>(`SELECT COUNT(*) AS n FROM sms_send WHERE state = 'sending'`))!.n
    await until(async () => (await countWaiting()) === 0, 60_000)
    // What is not known is decided as after its lease. No gateway answers, so it is refunded; it is never sent again.
    await sms.sweepAll()
    await until(async () => (await batchOf()).pending === 0, 60_000)

    for (const phone of phones)
      assert.ok((first.get(phone) ?? 0) + (second.get(phone) ?? 0) <= 1, `${phone} was reached twice`)
    const batch = await batchOf()
    assert.equal(batch.succeeded + batch.failed, total)
    assert.ok(second.size > 0, 'the next gateway has taken over')
    // Paid: what a vendor has confirmed. Every other message is refunded.
    assert.equal(batch.credits_used, batch.succeeded)
    assert.ok(batch.succeeded <= first.size + second.size)
    assert.equal(await sms.remaining(), total - batch.succeeded)
    assert.deepEqual((await checkLedger(db, 60_000)).problems, [])
  })

  test('what was provably not sent is tried again, and each number is reached once', async () => {
    // Fewer than open the circuit breaker.
    const few = phones.slice(0, 3)
    const refusedBefore = new Set<string>()
    const reached: string[] = []
    const aliyun = await startFakeUpstream((request) => {
      const phone = request.query.get('PhoneNumbers')!
      if (!refusedBefore.has(phone)) {
        refusedBefore.add(phone)
        return json(200, { Code: 'isv.AMOUNT_NOT_ENOUGH', Message: 'no balance' })
      }
      reached.push(phone)
      return json(200, { Code: 'OK', BizId: `b${phone}` })
    })
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    await using sms = await startSmsService(engine, aliyunOnly(aliyun.url), { sms: few.length })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: few,
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    const batch = await batchOf()
    assert.deepEqual([batch.succeeded, batch.failed, batch.credits_used], [few.length, 0, few.length])
    assert.deepEqual(reached.sort(), few)
    assert.equal(await sms.remaining(), 0)
    assert.deepEqual((await checkLedger(sms.service.installation.db, 60_000)).problems, [])
  })

  test('a vendor that limits us gets fewer messages at a time, and every one is sent', async () => {
    const many = phones.slice(0, 60)
    let running = 0
    let limited = 0
    const reached: string[] = []
    const aliyun = await startFakeUpstream(async (request) => {
      running += 1
      try {
        await sleep(20)
        if (running > 10) {
          limited += 1
          return json(400, { Code: 'Throttling.User', Message: 'slow down' })
        }
        reached.push(request.query.get('PhoneNumbers')!)
        return json(200, { Code: 'OK', BizId: `b${reached.length}` })
      } finally {
        running -= 1
      }
    })
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    // Only what a limit holds back is tried again.
    const settings = { ...aliyunOnly(aliyun.url), SMS_RETRY_S: '0' }
    await using sms = await startSmsService(engine, settings, { sms: many.length })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: many,
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id, limit: 1 })).body.data
    await until(async () => (await batchOf()).state === 'finished', 120_000)
    assert.ok(limited > 5, `limited: ${limited}`)
    const batch = await batchOf()
    assert.deepEqual([batch.succeeded, batch.failed, batch.credits_used], [many.length, 0, many.length])
    assert.deepEqual(reached.sort(), many)
    assert.equal(await sms.remaining(), 0)
    assert.deepEqual((await checkLedger(sms.service.installation.db, 60_000)).problems, [])
  })

  test('a next gateway that cannot send does not end the tries at one that limits us', async () => {
    const few = phones.slice(0, 3)
    const limitedBefore = new Set<string>()
    const aliyun = await startFakeUpstream((request) => {
      const phone = request.query.get('PhoneNumbers')!
      if (limitedBefore.has(phone)) return json(200, { Code: 'OK', BizId: `b${phone}` })
      limitedBefore.add(phone)
      return json(400, { Code: 'Throttling.User', Message: 'slow down' })
    })
    const tencent = await startFakeUpstream(() =>
      json(200, { Response: { Error: { Code: 'FailedOperation.InsufficientBalanceInSmsPackage' } } }),
    )
    await using vendors = new AsyncDisposableStack()
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    // Only what a limit holds back is tried again.
    const settings = { ...bothGateways(aliyun.url, tencent.url), SMS_RETRY_S: '0' }
    await using sms = await startSmsService(engine, settings, { sms: few.length })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: few,
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    const batch = await batchOf()
    assert.deepEqual([batch.succeeded, batch.failed, batch.credits_used], [few.length, 0, few.length])
    assert.equal(tencent.requests.length, few.length)
  })

  test('a vendor that does not stop limiting us gets the messages for ten minutes', async () => {
    const aliyun = await startFakeUpstream(() => json(400, { Code: 'Throttling.User', Message: 'slow down' }))
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    await using sms = await startSmsService(engine, aliyunOnly(aliyun.url), { sms: 1 })
    const { db } = sms.service.installation
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: phones.slice(0, 1),
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    // As if four minutes passed between two tries.
    const earlier = 'UPDATE sms_queue SET retry_until = retry_until - 240000 WHERE tries >= ?'
    for (const tries of [1, 2, 3])
      await until(async () => (await db.write((tx) => tx.run(earlier, [tries]))) === 1, 60_000)
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    const batch = await batchOf()
    assert.deepEqual([batch.failed, batch.credits_used, await sms.remaining()], [1, 0, 1])
    assert.deepEqual((await checkLedger(db, 60_000)).problems, [])
  })

  test('the receipt of a later try counts, whichever gateway the try before it ended at', async () => {
    const few = phones.slice(0, 3)
    const refusedBefore = new Set<string>()
    const aliyun = await startFakeUpstream((request) => {
      const phone = request.query.get('PhoneNumbers')!
      if (refusedBefore.has(phone)) return json(200, { Code: 'OK', BizId: `b${phone}` })
      refusedBefore.add(phone)
      return json(200, { Code: 'isv.AMOUNT_NOT_ENOUGH', Message: 'no balance' })
    })
    const tencent = await startFakeUpstream(() =>
      json(200, { Response: { Error: { Code: 'FailedOperation.InsufficientBalanceInSmsPackage' } } }),
    )
    await using vendors = new AsyncDisposableStack()
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    const settings = {
      ...bothGateways(aliyun.url, tencent.url),
      SMS_RECEIPT_SECRET_ALIYUN: 'receipt-secret-0123456789',
    }
    await using sms = await startSmsService(engine, settings, { sms: few.length })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: few,
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    assert.equal(tencent.requests.length, few.length)
    const items = (await batchOf()).items as { biz_id: string; phone_number: string }[]
    const receipts = items.map(({ biz_id: bizId, phone_number: phone }) => ({
      phone_number: phone,
      success: true,
      err_code: 'DELIVERED',
      biz_id: `b${phone}`,
      out_id: bizId,
    }))
    const pushed = await fetch(`${sms.service.url}/receipts/sms/aliyun/receipt-secret-0123456789`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(receipts),
    })
    assert.equal(pushed.status, 200)
    const states = ((await batchOf()).items as { state: string }[]).map(({ state }) => state)
    assert.deepEqual(states, ['delivered', 'delivered', 'delivered'])
  })

  test('a gateway without the template does not end the tries at the one that has it', async () => {
    const few = phones.slice(0, 3)
    const single = '13900000000'
    const refusedBefore = new Set<string>()
    const aliyun = await startFakeUpstream((request) => {
      const phone = request.query.get('PhoneNumbers')!
      if (refusedBefore.has(phone)) return json(200, { Code: 'OK', BizId: `b${phone}` })
      refusedBefore.add(phone)
      return json(400, { Code: 'Throttling.User', Message: 'too fast' })
    })
    const unknownTemplate = { Code: 'FailedOperation.TemplateUnapprovedOrNotExist' }
    const tencent = await startFakeUpstream(() =>
      json(200, { Response: { SendStatusSet: [unknownTemplate], RequestId: 'r' } }),
    )
    await using vendors = new AsyncDisposableStack()
    vendors.defer(() => aliyun.close())
    vendors.defer(() => tencent.close())
    await using sms = await startSmsService(engine, bothGateways(aliyun.url, tencent.url), { sms: 4 })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: few,
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    const batch = await batchOf()
    assert.deepEqual([batch.succeeded, batch.failed, batch.credits_used], [few.length, 0, few.length])

    // The template is not what is wrong.
    const refused = await sms.send({ phone_number: single })
    assert.deepEqual([refused.body.code, refused.body.message], [1005, '短信发送失败：短信通道暂不可用'])
    assert.equal(await sms.remaining(), 1)
  })

  test('without time for another try the credits come back', async () => {
    const aliyun = await startFakeUpstream(() =>
      json(200, { Code: 'isv.AMOUNT_NOT_ENOUGH', Message: 'no balance' }),
    )
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    const settings = { ...aliyunOnly(aliyun.url), SMS_RETRY_S: '0' }
    await using sms = await startSmsService(engine, settings, { sms: 2 })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: phones.slice(0, 2),
    })
    const batchOf = async () =>
      (await sms.call({ action: 'get_batch', batch_id: body.data.batch_id })).body.data
    await until(async () => (await batchOf()).state === 'finished', 60_000)
    const batch = await batchOf()
    assert.deepEqual([batch.failed, batch.credits_used, await sms.remaining()], [2, 0, 2])
    assert.equal(aliyun.requests.length, 2)
  })

  test('102 a batch leaves half of the calls of a gateway to single messages', async () => {
    const single = '13900000000'
    let hanging = 0
    let isReached = false
    const aliyun = await startFakeUpstream((request) => {
      isReached ||= request.query.get('PhoneNumbers') === single
      hanging += 1
      return () => undefined
    })
    await using vendor = new AsyncDisposableStack()
    vendor.defer(() => aliyun.close())
    const settings = { ...aliyunOnly(aliyun.url), GATEWAY_TIMEOUT_MS: '20000', DRAIN_S: '0' }
    await using sms = await startSmsService(engine, settings, { sms: 300 })
    const { body } = await sms.call({
      action: 'send_batch',
      template_code: 'CODE',
      template_params: { code: '1234' },
      phone_numbers: phones,
    })
    assert.equal(body.data.accepted, total)
    await until(() => hanging >= 50, 60_000)
    const sent = sms.send({ phone_number: single })
    await until(() => isReached)
    assert.equal(hanging, 51, 'half of the hundred calls, and the single one')
    await aliyun.close()
    await sent
  })

  test('marketing messages wait until the morning, other ones do not', async () => {
    let clock = parseTime('2026-05-06 21:00:00')!
    await using sms = await startSmsService(engine, {}, { sms: 10 }, undefined, { now: () => clock })
    const { db } = sms.service.installation
    await createTemplate(db, systemActor, {
      accountId: sms.account.id,
      code: 'SALE',
      name: '促销',
      content: '全场五折，拒收请回复R',
      status: '审核通过',
      type: 'marketing',
    })
    const single = await sms.send({ template_code: 'SALE', template_params: {} })
    assert.deepEqual([single.status, single.body.code], [400, 1002])
    assert.equal(await sms.remaining(), 10)

    const sendTo = async (templateCode: string, template_params: object) => {
      const { body } = await sms.call({
        action: 'send_batch',
        template_code: templateCode,
        template_params,
        phone_numbers: phones.slice(0, 3),
      })
      assert.equal(body.code, 0)
      return String(body.data.batch_id)
    }
    const stateOf = async (id: string) =>
      (await sms.call({ action: 'get_batch', batch_id: id })).body.data.state as string
    const sale = await sendTo('SALE', {})
    // Due by the database's clock, whatever the time is while the test runs.
    await db.write((tx) => tx.run('UPDATE sms_queue SET due_at = 1, planned_at = 1'))
    await db.write((tx) => tx.run('UPDATE sms_batch SET next_at = 1'))
    for (const time of ['2026-05-06 21:00:00', '2026-05-07 07:59:59']) {
      clock = parseTime(time)!
      // The queue has passed the marketing batch when a later one is finished.
      const other = await sendTo('CODE', { code: '1' })
      await until(async () => (await stateOf(other)) === 'finished', 60_000)
      assert.equal(await stateOf(sale), 'waiting')
    }
    clock = parseTime('2026-05-07 08:00:00')!
    await until(async () => (await stateOf(sale)) === 'finished', 60_000)
    assert.equal(await sms.remaining(), 1)
    assert.deepEqual((await checkLedger(db, 60_000)).problems, [])
  })
})

const aliyunOnly = (url: string) => ({
  SMS_GATEWAYS: 'aliyun',
  ALIYUN_ACCESS_KEY_ID: 'testid',
  ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
  ALIYUN_SMS_ENDPOINT: url,
})

const bothGateways = (aliyunUrl: string, tencentUrl: string) => ({
  ...aliyunOnly(aliyunUrl),
  SMS_GATEWAYS: 'aliyun,tencent',
  TENCENT_SECRET_ID: 'id',
  TENCENT_SECRET_KEY: 'key',
  TENCENT_SMS_APP_ID: '1400',
  TENCENT_SMS_ENDPOINT: tencentUrl,
})
