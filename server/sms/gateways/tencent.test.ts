// Tencent Cloud SMS against a server on loopback that verifies the signature.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  cutBeforeHeaders,
  cutInBody,
  hang,
  html502,
  json,
  late,
  startFakeUpstream,
  text,
  verifyTencentSignature,
} from '../../../test/support/fake-upstream.ts'
import { tencentCodes, createTencentGateway, tencentReceipts } from './tencent.ts'
import { receiptRequest } from '../receipts.ts'

const upstream = await startFakeUpstream()
after(() => upstream.close())

const secrets = { AKIDtest: 'testsecret' }

function open(secret = 'testsecret', timeoutMs = 60_000) {
  return createTencentGateway({
    key: { id: 'AKIDtest', secret },
    endpoint: upstream.url,
    region: 'ap-guangzhou',
    appId: '1400006666',
    timeoutMs,
  })
}
const gateway = open()
/** For a server that does not respond. The request must be sent within this time, so it is not shorter. */
const impatient = open('testsecret', 1_500)

const message = {
  bizId: '100000000000000001',
  phone: '13800138000',
  signName: '腾讯云',
  templateCode: 'CODE',
  templateId: '1110',
  variables: [
    { name: 'zz', value: '1234' },
    { name: 'a', value: '5' },
  ],
  text: '【腾讯云】1234，5',
}

const item = {
  SerialNo: '5000:1',
  PhoneNumber: '+8613800138000',
  Fee: 1,
  Code: 'Ok',
  Message: 'send success',
}
const ok = json(200, { Response: { SendStatusSet: [item], RequestId: 'r' } })
const failedCall = (code: unknown) =>
  json(200, { Response: { Error: { Code: code, Message: 'x' }, RequestId: 'r' } })
const failedNumber = (code: unknown) =>
  json(200, { Response: { SendStatusSet: [{ ...item, SerialNo: '', Fee: 0, Code: code }], RequestId: 'r' } })

test('SendSms is signed and has the values in the order of the template', async () => {
  upstream.handle((request) => {
    assert.equal(verifyTencentSignature(request, secrets), undefined)
    assert.equal(request.headers['x-tc-action'], 'SendSms')
    assert.equal(request.headers['x-tc-version'], '2021-01-11')
    assert.equal(request.headers['x-tc-region'], 'ap-guangzhou')
    assert.deepEqual(JSON.parse(request.body), {
      PhoneNumberSet: ['+8613800138000'],
      SmsSdkAppId: '1400006666',
      TemplateId: '1110',
      SignName: '腾讯云',
      SessionContext: '100000000000000001',
      TemplateParamSet: ['1234', '5'],
    })
    return ok
  })
  assert.deepEqual(await gateway.send(message), { kind: 'accepted', value: { gatewayId: '5000:1' } })
})

test('every code in the table has its outcome, for the call and for the number', async () => {
  assert.equal(tencentCodes.size, 36)
  for (const [listed, meaning] of tencentCodes) {
    const code = listed.replace('*', 'AnySubCode')
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
    upstream.handle(() => failedCall(code))
    assert.deepEqual(await gateway.send(message), expected, code)
    upstream.handle(() => failedNumber(code))
    assert.deepEqual(await gateway.send(message), expected, code)
  }
})

test('documented codes have the expected outcomes', async () => {
  const classes = {
    refused:
      'InvalidParameterValue.IncorrectPhoneNumber FailedOperation.ContainSensitiveWord FailedOperation.PhoneNumberInBlacklist FailedOperation.MarketingSendTimeConstraint',
    throttled:
      'LimitExceeded.PhoneNumberThirtySecondLimit LimitExceeded.DeliveryFrequencyLimit RequestLimitExceeded RequestLimitExceeded.UinLimitExceeded',
    not_sent:
      'AuthFailure.SignatureFailure AuthFailure.SecretIdNotFound FailedOperation.InsufficientBalanceInSmsPackage LimitExceeded.AppDailyLimit InternalError.RequestTimeException',
    ambiguous:
      'InternalError.Timeout InternalError.OtherError InternalError OK ok Okay LimitExceeded LimitExceeded.New FailedOperation constructor',
  }
  for (const [kind, codes] of Object.entries(classes)) {
    for (const code of codes.split(' ')) {
      upstream.handle(() => failedNumber(code))
      assert.equal((await gateway.send(message)).kind, kind, code)
    }
  }
})

test('unclear responses are ambiguous', async () => {
  const cases = {
    html: html502(),
    'html with 200': text(200, '<html>Ok</html>'),
    empty: json(200, {}),
    'no set': json(200, { Response: { RequestId: 'r' } }),
    'empty set': json(200, { Response: { SendStatusSet: [] } }),
    'two items': json(200, { Response: { SendStatusSet: [item, item] } }),
    'an error beside a success': json(200, { Response: { Error: {}, SendStatusSet: [item] } }),
    'code that is not text': failedNumber(1),
    'a success with 500': json(500, { Response: { SendStatusSet: [item] } }),
    'a refusal with 400': json(400, { Response: { Error: { Code: 'AuthFailure.SignatureFailure' } } }),
    'cut before the headers': cutBeforeHeaders(),
    'cut in the body': cutInBody('{"Response":'),
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

test('a wrong secret and a wrong clock are not sent', async () => {
  upstream.handle((request) =>
    verifyTencentSignature(request, secrets) === undefined ? ok : failedCall('AuthFailure.SignatureFailure'),
  )
  assert.equal((await open('other').send(message)).kind, 'not_sent')
  upstream.handle((request) =>
    verifyTencentSignature(request, secrets, { now: Date.now() + 600_000 }) === undefined
      ? ok
      : failedCall('InternalError.RequestTimeException'),
  )
  assert.equal((await gateway.send(message)).kind, 'not_sent')
})

const question = {
  bizId: '100000000000000001',
  gatewayId: undefined,
  phone: '13800138000',
  sentAt: Date.now(),
}

test('queries the status of a number', async () => {
  upstream.handle((request) => {
    assert.equal(verifyTencentSignature(request, secrets), undefined)
    assert.equal(request.headers['x-tc-action'], 'PullSmsSendStatusByPhoneNumber')
    const body = JSON.parse(request.body)
    assert.equal(body.PhoneNumber, '+8613800138000')
    assert.equal(body.SmsSdkAppId, '1400006666')
    assert.equal(body.Offset, 0)
    assert.ok(body.Limit <= 100 && body.BeginTime <= question.sentAt / 1000)
    return json(200, {
      Response: {
        PullSmsSendStatusSet: [
          { SerialNo: 's1', ReportStatus: 'SUCCESS', Description: 'DELIVRD', PhoneNumber: '+8613800138000' },
          { SerialNo: 's2', ReportStatus: 'FAIL', Description: '空号', SessionContext: '100000000000000001' },
          { SerialNo: 's3', ReportStatus: 'WHO KNOWS' },
        ],
      },
    })
  })
  assert.deepEqual(
    (await gateway.queryStatus!(question))?.map(({ bizId, gatewayId, state }) => [bizId, gatewayId, state]),
    [
      [undefined, 's1', 'delivered'],
      ['100000000000000001', 's2', 'undelivered'],
    ],
  )
  for (const behaviour of [html502(), failedCall('InternalError.Timeout'), json(200, {})]) {
    upstream.handle(() => behaviour)
    assert.equal(await gateway.queryStatus!(question), undefined)
  }
  upstream.handle(() => hang())
  assert.equal(await impatient.queryStatus!(question), undefined)
})

test('the probe detects wrong credentials', async () => {
  upstream.handle((request) =>
    verifyTencentSignature(request, secrets) === undefined
      ? json(200, { Response: { PullSmsSendStatusSet: [], RequestId: 'r' } })
      : failedCall('AuthFailure.SignatureFailure'),
  )
  assert.deepEqual(await gateway.probe(), { ok: true, detail: 'Ok' })
  assert.deepEqual(await open('x').probe(), { ok: false, detail: 'AuthFailure.SignatureFailure' })
})

test('parses receipts by sid', () => {
  const good = {
    mobile: '13800138000',
    report_status: 'SUCCESS',
    errmsg: 'DELIVRD',
    sid: '5000:1',
    nationcode: '86',
  }
  const read = (value: unknown) => tencentReceipts.parse(receiptRequest({}, JSON.stringify(value)))
  assert.deepEqual(read([good, { ...good, report_status: 'FAIL', errmsg: '空号' }, {}]), {
    kind: 'receipts',
    statuses: [
      { bizId: undefined, gatewayId: '5000:1', phone: '13800138000', state: 'delivered', code: 'DELIVRD' },
      { bizId: undefined, gatewayId: '5000:1', phone: '13800138000', state: 'undelivered', code: '' },
    ],
    replies: [],
  })
  for (const bad of [null, {}, good, [{}], [{ ...good, report_status: 'success' }], [{ ...good, sid: '' }]]) {
    assert.deepEqual(read(bad), { kind: 'malformed' }, JSON.stringify(bad))
  }
})
