// SMS gateways with loopback servers: failover, ambiguous sends, and their decision. At most one message is sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HeldOperation } from '../server/credits/operation.ts'
import type { Engine } from '../server/db/database.ts'
import { onEachEngine } from './support/engines.ts'
import {
  type Behaviour,
  cutBeforeHeaders,
  type FakeUpstream,
  hang,
  html502,
  json,
  late,
  startFakeUpstream,
  verifyAliyunSignature,
  verifyTencentSignature,
} from './support/fake-upstream.ts'
import { startSmsService } from './support/sms.ts'

const aliyunOk = json(200, { Code: 'OK', Message: 'OK', BizId: '9006^0', RequestId: 'r' })
const aliyunCode = (code: string) => json(200, { Code: code, Message: 'x', RequestId: 'r' })
const serial = () => `5000:${Math.random()}`
const tencentOk = (): Behaviour =>
  json(200, { Response: { SendStatusSet: [{ SerialNo: serial(), Code: 'Ok', Fee: 1 }], RequestId: 'r' } })
const tencentCode = (code: string) => json(200, { Response: { Error: { Code: code }, RequestId: 'r' } })

async function twoGateways(engine: Engine, environment: Record<string, string> = {}) {
  const aliyun = await startFakeUpstream(() => aliyunOk)
  const tencent = await startFakeUpstream(() => tencentOk())
  const sms = await startSmsService(engine, {
    SMS_GATEWAYS: 'aliyun,tencent',
    ALIYUN_ACCESS_KEY_ID: 'testid',
    ALIYUN_ACCESS_KEY_SECRET: 'testsecret',
    ALIYUN_SMS_ENDPOINT: aliyun.url,
    TENCENT_SECRET_ID: 'AKIDtest',
    TENCENT_SECRET_KEY: 'tencentsecret',
    TENCENT_SMS_APP_ID: '1400006666',
    TENCENT_SMS_ENDPOINT: tencent.url,
    GATEWAY_TIMEOUT_MS: '1500',
    ...environment,
  })
  await sms.template({
    code: 'MAPPED',
    content: '${b}，${a}',
    gatewayCodes: { aliyun: 'SMS_1', tencent: '1110' },
  })
  const sent = { template_code: 'MAPPED', template_params: { a: '1', b: '2' } }
  return {
    ...sms,
    aliyun,
    tencent,
    sendMapped: (values = {}, headers = {}) => sms.send({ ...sent, ...values }, headers),
    async [Symbol.asyncDispose]() {
      await sms[Symbol.asyncDispose]()
      await aliyun.close()
      await tencent.close()
    },
  }
}

function sendRequests(upstream: FakeUpstream, header: string) {
  return upstream.requests.filter((request) => request.headers[header] === 'SendSms')
}

onEachEngine('SMS gateways', (engine) => {
  test('sends through the first gateway with its template id and our serial number', async () => {
    await using sms = await twoGateways(engine)
    const { body } = await sms.sendMapped()
    assert.equal(body.code, 0)
    const [request] = sms.aliyun.requests
    assert.equal(verifyAliyunSignature(request!, { testid: 'testsecret' }), undefined)
    assert.equal(request!.query.get('TemplateCode'), 'SMS_1')
    assert.equal(request!.query.get('OutId'), body.data.biz_id)
    assert.equal(sms.tencent.requests.length, 0)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('tries the next gateway after not_sent', async () => {
    await using sms = await twoGateways(engine)
    for (const behaviour of [
      aliyunCode('isv.AMOUNT_NOT_ENOUGH'),
      json(400, { Code: 'SignatureDoesNotMatch' }),
      json(400, { Code: 'Throttling.User' }),
      aliyunCode('isv.SMS_TEMPLATE_ILLEGAL'),
    ]) {
      sms.aliyun.handle(() => behaviour)
      assert.equal((await sms.sendMapped()).body.code, 0)
    }
    assert.equal(sms.tencent.requests.length, 4)
    const [request] = sms.tencent.requests
    assert.equal(verifyTencentSignature(request!, { AKIDtest: 'tencentsecret' }), undefined)
    const { TemplateId, TemplateParamSet } = JSON.parse(request!.body)
    assert.deepEqual([TemplateId, TemplateParamSet], ['1110', ['2', '1']])

    await sms.aliyun.close()
    assert.equal((await sms.sendMapped()).body.code, 0)
    assert.equal(await sms.remaining(), 95)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('does not try the next gateway after a refusal or a throttled number', async () => {
    await using sms = await twoGateways(engine)
    for (const [code, message] of [
      ['isv.MOBILE_NUMBER_ILLEGAL', /isv\.MOBILE_NUMBER_ILLEGAL/],
      ['isv.BUSINESS_LIMIT_CONTROL', /频繁.*isv\.BUSINESS_LIMIT_CONTROL/],
      ['isv.CUSTOMER_REFUSED', /退订/],
    ] as const) {
      sms.aliyun.handle(() => aliyunCode(code))
      const { body, status } = await sms.sendMapped()
      assert.deepEqual([body.code, status], [1005, 502])
      assert.doesNotMatch(body.message, /isv|aliyun/i)
      const [record] = await sms.records()
      assert.equal(record.success, false)
      assert.match(record.error_message, message)
    }
    assert.equal(sms.tencent.requests.length, 0)
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('returns 1005 and refunds when no gateway accepts, without vendor codes', async () => {
    await using sms = await twoGateways(engine)
    sms.aliyun.handle(() => aliyunCode('isv.AMOUNT_NOT_ENOUGH'))
    sms.tencent.handle(() => tencentCode('AuthFailure.SignatureFailure'))
    assert.equal((await sms.sendMapped()).body.code, 1005)
    const [record] = await sms.records()
    assert.equal(record.error_message, '短信通道暂不可用')
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('does not try the next gateway after an ambiguous send and holds the credits', async () => {
    await using sms = await twoGateways(engine)
    const unclear = [hang(), cutBeforeHeaders(), html502(), aliyunCode('isv.NEW_CODE')]
    for (const behaviour of unclear) {
      sms.aliyun.handle(() => behaviour)
      assert.equal((await sms.sendMapped()).body.code, 1005)
    }
    assert.equal(sms.tencent.requests.length, 0)
    assert.equal(await sms.remaining(), 100 - unclear.length)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('the sweeper queries Aliyun by our serial number and settles or refunds', async () => {
    await using sms = await twoGateways(engine)
    sms.aliyun.handle(() => cutBeforeHeaders())
    for (let i = 0; i < 4; i++) await sms.sendMapped()
    const ids = (await sms.records()).map((record) => record.biz_id).toReversed()
    assert.equal(await sms.remaining(), 96)
    sms.aliyun.handle((request) => {
      assert.equal(request.headers['x-acs-action'], 'QuerySendDetails')
      return json(200, {
        Code: 'OK',
        SmsSendDetailDTOs: {
          SmsSendDetailDTO: [
            { OutId: ids[0], SendStatus: 3, ErrCode: 'DELIVERED' },
            { OutId: ids[1], SendStatus: 1 },
            { OutId: ids[2], SendStatus: 2, ErrCode: 'MOBILE_IN_BLACK' },
            { OutId: 'another sender', SendStatus: 3 },
          ],
        },
      })
    })
    await sms.sweepAll()
    await sms.sweepAll()
    const records = (await sms.records()).toReversed()
    assert.deepEqual(
      records.map(({ success }) => success),
      [true, true, false, false],
    )
    assert.equal(records[0].error_message, '')
    assert.match(records[2].error_message, /未送达（MOBILE_IN_BLACK）/)
    assert.match(records[3].error_message, /未能确认/)
    assert.equal(await sms.remaining(), 98)
    assert.equal(sendRequests(sms.aliyun, 'x-acs-action').length, 4)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('the sweeper queries Tencent by phone number and claims an unknown message', async () => {
    await using sms = await twoGateways(engine, { SMS_GATEWAYS: 'tencent' })
    sms.tencent.handle(() =>
      json(200, { Response: { SendStatusSet: [{ SerialNo: 'known', Code: 'Ok' }], RequestId: 'r' } }),
    )
    assert.equal((await sms.sendMapped()).body.code, 0)
    sms.tencent.handle(() => cutBeforeHeaders())
    await sms.sendMapped()
    await sms.sendMapped()
    sms.tencent.handle(() =>
      json(200, {
        Response: {
          PullSmsSendStatusSet: [
            { SerialNo: 'known', ReportStatus: 'SUCCESS' },
            { SerialNo: 'orphan', ReportStatus: 'SUCCESS' },
          ],
        },
      }),
    )
    await sms.sweepAll()
    const records = await sms.records()
    // One message was found, so one of the two is charged and the other is refunded.
    assert.equal(records.filter(({ success }) => success).length, 2)
    assert.equal(await sms.remaining(), 98)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('a message that Tencent names only by its own id belongs to one of the sends that are decided together', async () => {
    for (const found of [['one'], ['one', 'two']]) {
      await using sms = await twoGateways(engine, { SMS_GATEWAYS: 'tencent' })
      sms.tencent.handle(() => cutBeforeHeaders())
      for (let i = 0; i < 3; i += 1) await sms.sendMapped()
      const { db } = sms.service.installation
      await db.write((tx) => tx.run('UPDATE operation SET lease_until = 0'))
      const { deciders } = sms.service.app.services
      const held = await db.all<HeldOperation>(
        `SELECT id, account_id, api_type, action, cost FROM operation WHERE state = 'held'`,
      )
      const asked = Promise.withResolvers<void>()
      let queries = 0
      sms.tencent.handle(async () => {
        queries += 1
        if (queries === held.length) asked.resolve()
        await asked.promise
        const statuses = found.map((SerialNo) => ({ SerialNo, ReportStatus: 'SUCCESS' }))
        return json(200, { Response: { PullSmsSendStatusSet: statuses } })
      })
      await Promise.all(held.map((operation) => deciders.get('sms.send')!(operation)))
      const sends = await db.all<{ gateway_id: string }>(
        `SELECT gateway_id FROM sms_send WHERE state = 'delivered' AND charged = 1 ORDER BY gateway_id`,
      )
      assert.deepEqual(
        sends.map((send) => send.gateway_id),
        found,
      )
      assert.equal(await sms.remaining(), 100 - found.length)
      assert.deepEqual(await sms.findLedgerProblems(), [])
    }
  })

  test('calls no gateway after the lease has ended, although the record of the next one waits for the database', async () => {
    await using sms = await twoGateways(engine, { OPERATION_LEASE_S: '1', GATEWAY_TIMEOUT_MS: '30000' })
    const other = sms.service.storage.open()
    const locked = Promise.withResolvers<void>()
    let unlocked: Promise<void> | undefined
    sms.aliyun.handle(async () => {
      unlocked = other.write(async (tx) => {
        await tx.run('UPDATE sms_send SET gateway = gateway')
        locked.resolve()
        await sleep(1_500)
      })
      await locked.promise
      return aliyunCode('isv.AMOUNT_NOT_ENOUGH')
    })
    assert.equal((await sms.sendMapped()).body.code, 1005)
    await unlocked
    await other.close()
    assert.equal(sms.tencent.requests.length, 0)
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('settles a call that crashed after sending and replays its success', async () => {
    await using sms = await twoGateways(engine)
    const key = { 'idempotency-key': 'died' }
    const first = await sms.sendMapped({}, key)
    const { db } = sms.service.installation
    await db.write(async (tx) => {
      await tx.run(
        `UPDATE operation SET state = 'held', ended_at = NULL, response = NULL, sends = 0, lease_until = 1`,
      )
      await tx.run(`UPDATE sms_send SET state = 'sending', success = 0, gateway_id = NULL`)
    })
    const { biz_id: bizId } = first.body.data
    sms.aliyun.handle(() =>
      json(200, { Code: 'OK', SmsSendDetailDTOs: { SmsSendDetailDTO: [{ OutId: bizId, SendStatus: 3 }] } }),
    )
    const replay = await sms.sendMapped({}, key)
    assert.deepEqual(replay.body, first.body)
    assert.equal(replay.headers.get('idempotent-replayed'), 'true')
    assert.equal(await sms.remaining(), 99)
    assert.equal(sendRequests(sms.aliyun, 'x-acs-action').length, 1)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('returns 1005 for a success after the refund, and the record shows the send', async () => {
    await using sms = await twoGateways(engine, { GATEWAY_TIMEOUT_MS: '5000' })
    let respondNow = () => {}
    const requested = new Promise<void>((resolve) => {
      sms.aliyun.handle((request) => {
        if (request.headers['x-acs-action'] !== 'SendSms') return json(200, { Code: 'isp.SYSTEM_ERROR' })
        resolve()
        return new Promise((respond) => (respondNow = () => respond(aliyunOk)))
      })
    })
    const pending = sms.sendMapped()
    await requested
    await sms.sweepAll()
    assert.equal(await sms.remaining(), 100)
    respondNow()
    const { body } = await pending
    assert.equal(body.code, 1005)
    const [record] = await sms.records()
    assert.deepEqual([record.success, record.error_message], [true, ''])
    assert.equal(await sms.remaining(), 100)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('skips a gateway with an open breaker and ignores late responses', async () => {
    await using sms = await twoGateways(engine)
    sms.aliyun.handle(() => late(2_000, aliyunOk))
    for (let i = 0; i < 5; i++) assert.equal((await sms.sendMapped()).body.code, 1005)
    assert.equal((await sms.sendMapped()).body.code, 0)
    assert.equal(sms.aliyun.requests.length, 5)
    assert.equal(sms.tencent.requests.length, 1)
    assert.equal(await sms.remaining(), 94)
    assert.deepEqual(await sms.findLedgerProblems(), [])
  })

  test('logs no phone number, variable or vendor URL', async () => {
    await using sms = await twoGateways(engine)
    sms.aliyun.handle(() => cutBeforeHeaders())
    await sms.sendMapped({ phone_number: '13712345678', template_params: { a: 'secret77', b: 'x' } })
    sms.aliyun.handle(() => html502())
    await sms.sweepAll()
    const log = sms.service.logged.join('')
    for (const secret of ['13712345678', 'secret77', 'PhoneNumbers', 'testsecret', sms.aliyun.url]) {
      assert.ok(!log.includes(secret), secret)
    }
  })
})

/** Each behaviour and whether the recipient gets the message. */
const aliyunBehaviours: Readonly<Record<string, [Behaviour, boolean]>> = {
  ok: [aliyunOk, true],
  refused: [aliyunCode('isv.MOBILE_NUMBER_ILLEGAL'), false],
  limited: [aliyunCode('isv.BUSINESS_LIMIT_CONTROL'), false],
  'no balance': [aliyunCode('isv.AMOUNT_NOT_ENOUGH'), false],
  busy: [json(400, { Code: 'Throttling.User' }), false],
  unlisted: [aliyunCode('isv.SOMETHING_NEW'), true],
  html: [html502(), true],
  'sends and disconnects': [cutBeforeHeaders(), true],
}
const tencentBehaviours: Readonly<Record<string, [() => Behaviour, boolean]>> = {
  ok: [tencentOk, true],
  refused: [() => tencentCode('FailedOperation.PhoneNumberInBlacklist'), false],
  'no balance': [() => tencentCode('FailedOperation.InsufficientBalanceInSmsPackage'), false],
  'sends and disconnects': [() => cutBeforeHeaders(), true],
}

test('sends each message at most once for any behaviour of two gateways', async () => {
  // No gateway hangs here, so a long timeout only helps slow machines.
  await using sms = await twoGateways('sqlite', { GATEWAY_TIMEOUT_MS: '30000' })
  // A success at each gateway closes the breakers, so that every pair is tried.
  async function closeBreakers(): Promise<void> {
    sms.aliyun.handle(() => aliyunOk)
    assert.equal((await sms.sendMapped()).body.code, 0)
    sms.aliyun.handle(() => aliyunCode('isv.SMS_TEMPLATE_ILLEGAL'))
    sms.tencent.handle(() => tencentOk())
    assert.equal((await sms.sendMapped()).body.code, 0)
  }
  for (const [first, [behaviour, arrives]] of Object.entries(aliyunBehaviours)) {
    for (const [second, [nextBehaviour, nextArrives]] of Object.entries(tencentBehaviours)) {
      await closeBreakers()
      let arrived = 0
      let requested = false
      sms.aliyun.handle(() => {
        requested = true
        if (arrives) arrived += 1
        return behaviour
      })
      sms.tencent.handle(() => {
        if (nextArrives) arrived += 1
        return nextBehaviour()
      })
      const before = await sms.remaining()
      const { body } = await sms.sendMapped()
      const pair = `${first}, ${second}`
      assert.ok(requested, pair)
      assert.ok(arrived <= 1, `${pair}: ${arrived} messages`)
      // Success is returned only for a sent message, and an ambiguous one is not refunded immediately.
      if (body.code === 0) assert.equal(arrived, 1, pair)
      assert.equal(before - (await sms.remaining()), arrived, pair)
    }
  }
  assert.deepEqual(await sms.findLedgerProblems(), [])
})
