// The Aliyun identity gateway with a loopback server: requests, verdicts and faults.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { json, verifyAliyunSignature } from '../../../test/support/fake-upstream.ts'
import {
  createIdentityGatewayTest,
  lookAlikes,
  person,
  verdict,
} from '../../../test/support/identity-gateway.ts'
import { createAliyunGateway } from './aliyun.ts'

const stage = createIdentityGatewayTest()
const secrets = { testid: 'testsecret' }
const key = { id: 'testid', secret: 'testsecret' }

describe('aliyun', () => {
  const open = (timeoutMs = 5_000) => createAliyunGateway({ endpoint: stage.fake.url, key, timeoutMs })
  const answer = (bizCode: unknown, code: unknown = '200') =>
    json(200, { RequestId: 'r', Code: code, Message: 'success', ResultObject: { BizCode: bizCode } })

  it('sends a signed form', async () => {
    assert.equal(verdict(await stage.verify(open(), answer('1'))), 'match')
    const request = stage.fake.requests.at(-1)!
    assert.equal(verifyAliyunSignature(request, secrets), undefined)
    assert.equal(request.method, 'POST')
    assert.equal(request.target, '/')
    assert.equal(request.headers['x-acs-action'], 'Id2MetaVerify')
    assert.equal(request.headers['x-acs-version'], '2019-03-07')
    assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), {
      ParamType: 'normal',
      IdentifyNum: person.number,
      UserName: person.name,
    })
  })

  for (const [code, wanted] of Object.entries({ 1: 'match', 2: 'mismatch', 3: 'no_record' })) {
    it(`BizCode ${code} is ${wanted}, as text and as number`, async () => {
      assert.equal(verdict(await stage.verify(open(), answer(code))), wanted)
      assert.equal(verdict(await stage.verify(open(), answer(Number(code), 200))), wanted)
    })
  }

  for (const value of [...lookAlikes, 0, '0', 4, '01', -1]) {
    it(`BizCode ${JSON.stringify(value)} is not a verdict`, async () => {
      assert.equal(verdict(await stage.verify(open(), answer(value))), 'refused')
    })
  }

  for (const [code, kind] of [
    [400, 'not_sent'],
    ['401', 'not_sent'],
    [402, 'not_sent'],
    [403, 'not_sent'],
    [410, 'not_sent'],
    [411, 'not_sent'],
    ['412', 'not_sent'],
    [500, 'ambiguous'],
    ['Throttling.User', 'throttled'],
    ['SignatureDoesNotMatch', 'not_sent'],
    ['Something.New', 'refused'],
    [true, 'refused'],
  ] as const) {
    it(`Code ${code} with a match beside it is ${kind}`, async () => {
      assert.equal((await stage.verify(open(), answer('1', code))).kind, kind)
    })
  }

  it("reads the refusals of Aliyun's API gateway", async () => {
    const body = { Code: 'InvalidAccessKeyId.NotFound', Message: 'x', HostId: 'h', Recommend: 'u' }
    const outcome = await stage.verify(open(), json(404, body))
    assert.deepEqual(outcome, { kind: 'not_sent', reason: 'InvalidAccessKeyId.NotFound' })
  })

  stage.testFaults(open, { Code: '200', ResultObject: { BizCode: '1' } })
})
