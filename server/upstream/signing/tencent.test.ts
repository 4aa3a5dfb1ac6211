// Tencent's signature: published test vectors, and requests checked by an independent verifier.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from 'fast-check'

import { startFakeUpstream, text, verifyTencentSignature } from '../../../test/support/fake-upstream.ts'
import type { RecordedRequest } from '../../../test/support/fake-upstream.ts'
import { httpCall } from '../http-call.ts'
import { signTencent, tencentRequest } from './tencent.ts'

const key = { id: 'AKIDtest', secret: 'testsecret' }
const secrets = { AKIDtest: 'testsecret' }

describe('test vectors', () => {
  it("the vendor's example", () => {
    const authorization = signTencent({
      key: { id: 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE', secret: 'Gu5t9xGARNpq86cd98joQYCN3EXAMPLE' },
      host: 'cvm.tencentcloudapi.com',
      service: 'cvm',
      contentType: 'application/json; charset=utf-8',
      body: String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
      date: new Date(1_551_113_065_000),
    })
    assert.equal(
      authorization,
      'TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE/2019-02-25/cvm/tc3_request, ' +
        'SignedHeaders=content-type;host, ' +
        'Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
    )
  })

  it('SendSms as sent', () => {
    const request = tencentRequest({
      key,
      endpoint: 'https://sms.tencentcloudapi.com/',
      service: 'sms',
      action: 'SendSms',
      version: '2021-01-11',
      region: 'ap-guangzhou',
      fields: {
        PhoneNumberSet: ['+8613800138000'],
        SmsSdkAppId: '1400006666',
        TemplateId: '1110',
        SignName: '腾讯云',
        TemplateParamSet: ['1234', '5'],
      },
      date: new Date(1_767_323_045_000),
    })
    assert.deepEqual(request, {
      method: 'POST',
      url: 'https://sms.tencentcloudapi.com/',
      headers: {
        host: 'sms.tencentcloudapi.com',
        'content-type': 'application/json',
        'x-tc-action': 'SendSms',
        'x-tc-version': '2021-01-11',
        'x-tc-region': 'ap-guangzhou',
        'x-tc-timestamp': '1767323045',
        authorization:
          'TC3-HMAC-SHA256 Credential=AKIDtest/2026-01-02/sms/tc3_request, SignedHeaders=content-type;host, ' +
          'Signature=29c3c2f5e3ff8e170e428d465ef9db6adcc269bd6de0355e5c1490ddf02fbec8',
      },
      body:
        '{"PhoneNumberSet":["+8613800138000"],"SmsSdkAppId":"1400006666","TemplateId":"1110","SignName":"腾讯云",' +
        '"TemplateParamSet":["1234","5"]}',
    })
  })
})

it('the scope has the UTC day', () => {
  const authorization = signTencent({
    key,
    host: 'a.test',
    service: 'sms',
    contentType: 'application/json',
    body: '{}',
    date: new Date('2026-01-01T23:59:59.999Z'),
  })
  assert.match(authorization, /Credential=AKIDtest\/2026-01-01\/sms\//)
})

describe('signed requests', () => {
  it('pass the verifier with any JSON body, with and without a region', async (t) => {
    const bad: string[] = []
    const fake = await startFakeUpstream((request) => {
      const problem = verifyTencentSignature(request, secrets)
      if (problem !== undefined) bad.push(problem)
      return text(200, '')
    })
    t.after(() => fake.close())
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
        fc.constantFrom('ap-guangzhou', undefined),
        async (fields, region) => {
          const call = {
            key,
            endpoint: fake.url,
            service: 'faceid',
            action: 'A',
            version: '1',
            fields,
            region,
          }
          const result = await httpCall(tencentRequest(call), { timeoutMs: 5_000 })
          assert.equal(result.kind, 'response')
          assert.deepEqual(bad, [])
          const received = fake.requests.at(-1)
          assert.equal(received?.headers['x-tc-region'], region)
          assert.equal(received?.body, JSON.stringify(fields))
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe('the verifier', () => {
  async function recorded(date = new Date()): Promise<RecordedRequest> {
    const fake = await startFakeUpstream()
    const call = {
      key,
      endpoint: fake.url,
      service: 'sms',
      action: 'SendSms',
      version: '1',
      fields: { a: 1 },
    }
    await httpCall(tencentRequest({ ...call, date }), { timeoutMs: 5_000 })
    await fake.close()
    const request = fake.requests[0]
    assert.ok(request)
    return request
  }

  it('rejects changed requests', async () => {
    const good = await recorded()
    const withHeader = (name: string, value: string): RecordedRequest => ({
      ...good,
      headers: { ...good.headers, [name]: value },
    })
    assert.equal(verifyTencentSignature(good, secrets), undefined)
    const changed = { ...good, rawBody: Buffer.from('{}') }
    assert.equal(verifyTencentSignature(changed, secrets), 'signature does not match')
    assert.equal(verifyTencentSignature(withHeader('host', 'b.test'), secrets), 'signature does not match')
    const otherType = withHeader('content-type', 'application/json; charset=utf-8')
    assert.equal(verifyTencentSignature(otherType, secrets), 'signature does not match')
    assert.equal(verifyTencentSignature(good, { AKIDtest: 'other' }), 'signature does not match')
    assert.equal(verifyTencentSignature(good, {}), 'unknown secret id')
    const otherDay = withHeader(
      'authorization',
      (good.headers['authorization'] ?? '').replace(/\/\d{4}-/, '/1999-'),
    )
    assert.equal(verifyTencentSignature(otherDay, secrets), 'scope is not of the UTC day')
  })

  it('rejects a wrong clock', async () => {
    const early = await recorded(new Date(Date.now() - 6 * 60_000))
    assert.equal(verifyTencentSignature(early, secrets), 'x-tc-timestamp is out of range')
    const justInTime = await recorded(new Date(Date.now() - 4 * 60_000))
    assert.equal(verifyTencentSignature(justInTime, secrets), undefined)
  })
})
