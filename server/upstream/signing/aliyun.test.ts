// Aliyun's signature: published test vectors, and requests checked by an independent verifier.

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'

import fc from 'fast-check'

import { startFakeUpstream, text, verifyAliyunSignature } from '../../../test/support/fake-upstream.ts'
import type { RecordedRequest } from '../../../test/support/fake-upstream.ts'
import { httpCall } from '../http-call.ts'
import { aliyunRequest, signAliyun } from './aliyun.ts'

const key = { id: 'testid', secret: 'testsecret' }
const secrets = { testid: 'testsecret' }
const date = new Date('2026-01-02T03:04:05.678Z')
const nonce = '00000000000000000000000000000001'
const smsFields = {
  PhoneNumbers: '13800138000',
  SignName: '阿里云',
  TemplateCode: 'SMS_123456',
  TemplateParam: '{"code":"1234"}',
}
const idFields = { ParamType: 'normal', UserName: '张三', IdentifyNum: '11010519491231002X' }

function signatureOf(headers: Readonly<Record<string, string>>): string {
  return headers['authorization']?.split('Signature=')[1] ?? ''
}

describe('test vectors', () => {
  it("the vendor's example", () => {
    const headers = signAliyun({
      key: { id: 'YourAccessKeyId', secret: 'YourAccessKeySecret' },
      method: 'POST',
      host: 'ecs.cn-shanghai.aliyuncs.com',
      path: '/',
      query: { RegionId: 'cn-shanghai', ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd' },
      action: 'RunInstances',
      version: '2014-05-26',
      body: '',
      date: new Date('2023-10-26T10:22:32Z'),
      nonce: '3156853299f313e23d1673dc12e1703d',
    })
    assert.equal(
      headers['authorization'],
      'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;' +
        'x-acs-signature-nonce;x-acs-version,' +
        'Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
    )
  })

  it('SendSms: fields in the query, empty body, no content type', () => {
    const request = aliyunRequest({
      key,
      endpoint: 'https://dysmsapi.aliyuncs.com/',
      action: 'SendSms',
      version: '2017-05-25',
      fields: smsFields,
      fieldsIn: 'query',
      date,
      nonce,
    })
    assert.equal(
      signatureOf(request.headers),
      '699ed4c622093265ca719782b8b41dcf97061aa50538f439282f3ed3f58351f2',
    )
    assert.equal(request.method, 'POST')
    assert.equal(request.body, '')
    assert.equal(
      request.url,
      'https://dysmsapi.aliyuncs.com/?PhoneNumbers=13800138000&SignName=%E9%98%BF%E9%87%8C%E4%BA%91' +
        '&TemplateCode=SMS_123456&TemplateParam=%7B%22code%22%3A%221234%22%7D',
    )
    const { authorization, ...rest } = request.headers
    assert.ok(authorization)
    assert.deepEqual(rest, {
      host: 'dysmsapi.aliyuncs.com',
      'x-acs-action': 'SendSms',
      'x-acs-version': '2017-05-25',
      'x-acs-date': '2026-01-02T03:04:05Z',
      'x-acs-signature-nonce': nonce,
      'x-acs-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      accept: 'application/json',
    })
  })

  it('Id2MetaVerify: fields in the form body', () => {
    const request = aliyunRequest({
      key,
      endpoint: 'https://cloudauth.aliyuncs.com/',
      action: 'Id2MetaVerify',
      version: '2019-03-07',
      fields: idFields,
      fieldsIn: 'form',
      date,
      nonce,
    })
    assert.equal(
      signatureOf(request.headers),
      '323cf3549c96a3adab537f190d37d4051e6c045a1b2e0904599e0c4c49614618',
    )
    assert.equal(request.url, 'https://cloudauth.aliyuncs.com/')
    assert.equal(request.body, 'IdentifyNum=11010519491231002X&ParamType=normal&UserName=%E5%BC%A0%E4%B8%89')
    assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded')
    assert.match(request.headers['x-acs-content-sha256'] ?? '', /^ed855e66.*7138b$/)
  })
})

describe('signed requests', () => {
  it('pass the verifier with any fields, in the query or the form', async (t) => {
    const bad: string[] = []
    const fake = await startFakeUpstream((request) => {
      const problem = verifyAliyunSignature(request, secrets)
      if (problem !== undefined) bad.push(problem)
      return text(problem === undefined ? 200 : 403, '')
    })
    t.after(() => fake.close())
    const name = fc.string({
      unit: fc.constantFrom(...'abcXYZ019._-~'.split('')),
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, fc.string({ unit: 'binary', maxLength: 20 }), { maxKeys: 5 }),
        fc.constantFrom('query', 'form'),
        async (fields, fieldsIn) => {
          const request = aliyunRequest({
            key,
            endpoint: fake.url,
            action: 'A',
            version: '1',
            fields,
            fieldsIn,
          })
          const result = await httpCall(request, { timeoutMs: 5_000 })
          assert.equal(result.kind, 'response')
          assert.deepEqual(bad, [])
          const received = fake.requests.at(-1)
          assert.equal(received?.headers['host'], `127.0.0.1:${fake.port}`)
          const sent = fieldsIn === 'query' ? received.query : new URLSearchParams(received.body)
          assert.deepEqual(Object.fromEntries(sent), { ...fields })
        },
      ),
      { numRuns: 100 },
    )
  })

  it('have a new nonce for every attempt', () => {
    const build = (): string =>
      aliyunRequest({
        key,
        endpoint: 'http://a.test/',
        action: 'A',
        version: '1',
        fields: {},
        fieldsIn: 'query',
      }).headers['x-acs-signature-nonce'] ?? ''
    assert.equal(new Set(Array.from({ length: 100 }, build)).size, 100)
  })

  it('accept a lone surrogate', () => {
    const fields = { Name: '\ud800' }
    aliyunRequest({ key, endpoint: 'http://a.test/', action: 'A', version: '1', fields, fieldsIn: 'form' })
  })
})

describe('the verifier', () => {
  async function recorded(overrides: { readonly date?: Date } = {}): Promise<RecordedRequest> {
    const fake = await startFakeUpstream()
    const call = { key, endpoint: fake.url, action: 'SendSms', version: '1', fields: smsFields, ...overrides }
    await httpCall(aliyunRequest({ ...call, fieldsIn: 'query' }), { timeoutMs: 5_000 })
    await fake.close()
    const request = fake.requests[0]
    assert.ok(request)
    return request
  }

  it('accepts a valid request, also twice', async () => {
    const request = await recorded()
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
  })

  it('rejects changed requests', async () => {
    const good = await recorded()
    const withHeader = (name: string, value: string): RecordedRequest => ({
      ...good,
      headers: { ...good.headers, [name]: value },
    })
    const check = (request: RecordedRequest, known = secrets): string | undefined =>
      verifyAliyunSignature(request, known, { nonces: new Map() })
    assert.equal(check({ ...good, target: good.target.replace('1234', '1235') }), 'signature does not match')
    assert.equal(check({ ...good, rawBody: Buffer.from('x') }), 'x-acs-content-sha256 does not fit the body')
    assert.equal(check(withHeader('host', '127.0.0.1')), 'signature does not match')
    assert.equal(check(withHeader('x-acs-action', 'Other')), 'signature does not match')
    assert.equal(check(withHeader('x-acs-extra', 'y')), 'header x-acs-extra is not signed')
    assert.equal(check(withHeader('content-type', 'text/plain')), 'header content-type is not signed')
    assert.equal(
      check(withHeader('authorization', 'Basic x')),
      'authorization header is missing or malformed',
    )
    assert.equal(check(good, { testid: 'other' }), 'signature does not match')
    assert.equal(verifyAliyunSignature(good, { other: 'x' }), 'unknown access key id')
  })

  it('rejects a wrong clock', async () => {
    const early = await recorded({ date: new Date(Date.now() - 16 * 60_000) })
    assert.equal(verifyAliyunSignature(early, secrets), 'x-acs-date is out of range')
    const justInTime = await recorded({ date: new Date(Date.now() - 14 * 60_000) })
    assert.equal(verifyAliyunSignature(justInTime, secrets), undefined)
  })

  it('rejects a reused nonce', async () => {
    const request = await recorded()
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(verifyAliyunSignature({ ...request }, secrets), 'nonce was used before')
  })
})
