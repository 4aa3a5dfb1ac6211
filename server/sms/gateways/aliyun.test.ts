// Aliyun SMS against a server on loopback that verifies the signature.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  cutBeforeHeaders,
  cutInBody,
  hang,
  html502,
  json,
  late,
  type RecordedRequest,
  reset,
  startFakeUpstream,
  text,
  verifyAliyunSignature,
} from '../../../test/support/fake-upstream.ts'
import { aliyunCodes, createAliyunGateway, aliyunReceipts } from './aliyun.ts'
import { receiptRequest } from '../receipts.ts'

const upstream = await startFakeUpstream()
after(() => upstream.close())

const secrets = { testid: 'testsecret' }
const open = (timeoutMs = 60_000) =>
  createAliyunGateway({ key: { id: 'testid', secret: 'testsecret' }, endpoint: upstream.url, timeoutMs })
const gateway = open()
/** For a server that does not respond. The request must be sent within this time, so it is not shorter. */
const impatient = open(1_500)

const message = {
  bizId: '100000000000000001',
  phone: '13800138000',
  signName: '阿里云',
  templateCode: 'CODE',
  templateId: 'SMS_123456',
  variables: [
    { name: 'code', value: '1234' },
    { name: 'min', value: '5' },
  ],
  text: '【阿里云】1234，5',
}

const ok = json(200, { Message: 'OK', RequestId: 'r', Code: 'OK', BizId: '900619746936498440^0' })

test('SendSms is signed and has all fields in the query, with our serial number as OutId', async () => {
  upstream.handle((request: RecordedRequest) => {
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(request.headers['x-acs-action'], 'SendSms')
    assert.equal(request.headers['x-acs-version'], '2017-05-25')
    assert.equal(request.body, '')
    assert.deepEqual(Object.fromEntries(request.query), {
      PhoneNumbers: '13800138000',
      SignName: '阿里云',
      TemplateCode: 'SMS_123456',
      TemplateParam: '{"code":"1234","min":"5"}',
      OutId: '100000000000000001',
    })
    return ok
  })
  const outcome = await gateway.send(message)
  assert.deepEqual(outcome, { kind: 'accepted', value: { gatewayId: '900619746936498440^0' } })
  // The verifier rejects used nonces and wrong clocks, so a second call needs a new nonce.
  assert.equal((await gateway.send(message)).kind, 'accepted')
})

test('a wrong secret is not sent', async () => {
  upstream.handle((request) =>
    verifyAliyunSignature(request, secrets) === undefined
      ? ok
      : json(400, { Code: 'SignatureDoesNotMatch', Message: '', HostId: '', Recommend: '' }),
  )
  const wrong = createAliyunGateway({
    key: { id: 'testid', secret: 'other' },
    endpoint: upstream.url,
    timeoutMs: 60_000,
  })
  assert.deepEqual(await wrong.send(message), { kind: 'not_sent', reason: 'SignatureDoesNotMatch' })
})

test('every code in the table has its outcome', async () => {
  assert.equal(aliyunCodes.size, 43)
  for (const [code, meaning] of aliyunCodes) {
    // Refusals of the API gateway come as 4xx, those of the SMS service as 200.
    upstream.handle(() =>
      json(/^is[vp]\./.test(code) ? 200 : 400, { Code: code, Message: 'x', RequestId: 'r' }),
    )
    const outcome = await gateway.send(message)
    const expected =
      typeof meaning === 'object'
        ? { kind: 'refused', code, reason: meaning.refused }
        : {
            throttled_recipient: { kind: 'throttled', concerns: 'recipient', reason: code },
            throttled_us: { kind: 'throttled', concerns: 'us', reason: code },
            not_here: { kind: 'not_sent', reason: code, onlyThisRequest: true },
            not_sent: { kind: 'not_sent', reason: code },
            ambiguous: { kind: 'ambiguous', reason: code },
          }[meaning]
    assert.deepEqual(outcome, expected, code)
  }
})

test('documented codes have the expected outcomes', async () => {
  const kindOf = async (code: string) => {
    upstream.handle(() => json(200, { Code: code }))
    return (await gateway.send(message)).kind
  }
  const classes = {
    refused:
      'isv.MOBILE_NUMBER_ILLEGAL isv.INVALID_JSON_PARAM isv.BLACK_KEY_CONTROL_LIMIT isv.CUSTOMER_REFUSED isv.UNSUPPORTED_CONTENT',
    throttled: 'isv.BUSINESS_LIMIT_CONTROL Throttling.User',
    not_sent:
      'isv.AMOUNT_NOT_ENOUGH isv.OUT_OF_SERVICE isv.DAY_LIMIT_CONTROL isp.RAM_PERMISSION_DENY InvalidAccessKeyId.NotFound isv.SMS_TEMPLATE_ILLEGAL',
    ambiguous:
      'isp.SYSTEM_ERROR isp.GATEWAY_ERROR InternalError SignatureNonceUsed isv.NEVER_HEARD_OF Ok ok OK. Throttling.Api',
  }
  for (const [kind, codes] of Object.entries(classes)) {
    for (const code of codes.split(' ')) assert.equal(await kindOf(code), kind, code)
  }
})

test('unclear responses are ambiguous', async () => {
  const cases = {
    html: html502(),
    'html with 200': text(200, '<html>OK</html>'),
    'no code': json(200, { Message: 'OK' }),
    'code that is not text': json(200, { Code: 0 }),
    array: text(200, '[{"Code":"OK"}]'),
    'OK with 500': json(500, { Code: 'OK' }),
    'OK with 400': json(400, { Code: 'OK' }),
    'a refusal with 503': json(503, { Code: 'Throttling.User' }),
    'cut before the headers': cutBeforeHeaders(),
    'cut in the body': cutInBody(),
    reset: reset(),
  }
  for (const [name, behaviour] of Object.entries(cases)) {
    upstream.handle(() => behaviour)
    assert.equal((await gateway.send(message)).kind, 'ambiguous', name)
  }
  const silent = [hang(), late(3_000, ok)]
  upstream.handle(() => silent.pop()!)
  for (const { kind } of await Promise.all(silent.map(() => impatient.send(message))))
    assert.equal(kind, 'ambiguous')
})

test('connection refused and unknown host are not sent', async () => {
  const closed = await startFakeUpstream()
  await closed.close()
  for (const endpoint of [closed.url, 'http://nowhere.invalid/']) {
    const unreachable = createAliyunGateway({ key: { id: 'a', secret: 'b' }, endpoint, timeoutMs: 3000 })
    assert.equal((await unreachable.send(message)).kind, 'not_sent', endpoint)
  }
})

const question = {
  bizId: '100000000000000001',
  gatewayId: undefined,
  phone: '13800138000',
  sentAt: Date.parse('2026-01-02T03:04:05Z'),
}

function details(...items: Record<string, unknown>[]) {
  return json(200, {
    Code: 'OK',
    Message: 'OK',
    TotalCount: String(items.length),
    SmsSendDetailDTOs: { SmsSendDetailDTO: items },
  })
}

test('QuerySendDetails returns three states by number and day in Shanghai', async () => {
  upstream.handle((request) => {
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(request.headers['x-acs-action'], 'QuerySendDetails')
    assert.equal(request.query.get('PhoneNumber'), '13800138000')
    assert.equal(request.query.get('SendDate'), '20260102')
    return details(
      { SendStatus: 1, OutId: 'a', PhoneNum: '13800138000', ErrCode: '' },
      { SendStatus: 2, OutId: 'b', PhoneNum: '13800138000', ErrCode: 'MOBILE_NOT_ON_SERVICE' },
      { SendStatus: '3', OutId: 'c', PhoneNum: '13800138000', ErrCode: 'DELIVERED' },
      { SendStatus: 9, OutId: 'd' },
    )
  })
  assert.deepEqual(
    (await gateway.queryStatus!(question))?.map(({ bizId, state, code }) => [bizId, state, code]),
    [
      ['a', 'accepted', ''],
      ['b', 'undelivered', 'MOBILE_NOT_ON_SERVICE'],
      ['c', 'delivered', 'DELIVERED'],
    ],
  )
})

test('queries both days around midnight, and all pages', async () => {
  const asked: string[] = []
  upstream.handle((request) => {
    const day = request.query.get('SendDate')!
    const page = Number(request.query.get('CurrentPage'))
    asked.push(`${day}/${page}`)
    const full = day === '20260103' && page === 1
    return details(
      ...Array.from({ length: full ? 50 : 1 }, () => ({ SendStatus: 3, OutId: `${day}${page}` })),
    )
  })
  const statuses = await gateway.queryStatus!({ ...question, sentAt: Date.parse('2026-01-02T16:00:30Z') })
  assert.deepEqual(asked, ['20260103/1', '20260103/2', '20260102/1'])
  assert.equal(statuses?.length, 52)
})

test('a failed query returns undefined', async () => {
  for (const behaviour of [html502(), json(200, { Code: 'isv.OUT_OF_SERVICE' }), json(200, {})]) {
    upstream.handle(() => behaviour)
    assert.equal(await gateway.queryStatus!(question), undefined)
  }
  upstream.handle(() => hang())
  assert.equal(await impatient.queryStatus!(question), undefined)
})

test('the probe detects wrong credentials', async () => {
  upstream.handle((request) =>
    verifyAliyunSignature(request, secrets) === undefined
      ? details()
      : json(400, { Code: 'SignatureDoesNotMatch' }),
  )
  assert.deepEqual(await gateway.probe(), { ok: true, detail: 'OK' })
  const wrong = createAliyunGateway({
    key: { id: 'testid', secret: 'x' },
    endpoint: upstream.url,
    timeoutMs: 60_000,
  })
  assert.deepEqual(await wrong.probe(), { ok: false, detail: 'SignatureDoesNotMatch' })
})

test('parses receipts and skips malformed items', () => {
  const good = {
    phone_number: '13800138000',
    success: true,
    err_code: 'DELIVERED',
    biz_id: '9^0',
    out_id: '100000000000000001',
  }
  const read = (value: unknown) =>
    aliyunReceipts.parse(receiptRequest({}, typeof value === 'string' ? value : JSON.stringify(value)))
  assert.deepEqual(read([good, { ...good, success: false, err_code: 'X' }, { nothing: 1 }, null]), {
    kind: 'receipts',
    statuses: [
      {
        bizId: '100000000000000001',
        gatewayId: '9^0',
        phone: '13800138000',
        state: 'delivered',
        code: 'DELIVERED',
      },
      {
        bizId: '100000000000000001',
        gatewayId: '9^0',
        phone: '13800138000',
        state: 'undelivered',
        code: 'X',
      },
    ],
    replies: [],
  })
  assert.deepEqual(read([]), { kind: 'receipts', statuses: [], replies: [] })
  for (const bad of ['', '{', 'null', '5', {}, good, [{}], [1], [[good]], [{ ...good, success: 'true' }]]) {
    assert.deepEqual(read(bad), { kind: 'malformed' }, JSON.stringify(bad))
  }
})
