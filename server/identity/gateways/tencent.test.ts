// The Tencent identity gateway with a loopback server: requests, verdicts and faults.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { json, verifyTencentSignature } from '../../../test/support/fake-upstream.ts'
import {
  createIdentityGatewayTest,
  lookAlikes,
  person,
  verdict,
} from '../../../test/support/identity-gateway.ts'
import { createTencentGateway } from './tencent.ts'

const stage = createIdentityGatewayTest()
const secrets = { testid: 'testsecret' }
const key = { id: 'testid', secret: 'testsecret' }

describe('tencent', () => {
  const open = (timeoutMs = 5_000) => createTencentGateway({ endpoint: stage.fake.url, key, timeoutMs })
  const answer = (result: unknown) =>
    json(200, { Response: { Result: result, Description: '一致', RequestId: 'r' } })
  const failure = (code: unknown) =>
    json(200, { Response: { Error: { Code: code, Message: 'm' }, Result: '0', RequestId: 'r' } })

  it('sends signed JSON', async () => {
    assert.equal(verdict(await stage.verify(open(), answer('0'))), 'match')
    const request = stage.fake.requests.at(-1)!
    assert.equal(verifyTencentSignature(request, secrets), undefined)
    assert.match(request.headers['authorization'] ?? '', /\/faceid\/tc3_request/)
    assert.equal(request.headers['x-tc-action'], 'IdCardVerification')
    assert.equal(request.headers['x-tc-version'], '2018-03-01')
    assert.equal(request.headers['x-tc-region'], undefined)
    assert.deepEqual(JSON.parse(request.body), { IdCard: person.number, Name: person.name })
  })

  for (const [result, wanted] of Object.entries({
    '0': 'match',
    '-1': 'mismatch',
    '-2': 'refused',
    '-3': 'refused',
    '-4': 'not_sent',
    '-5': 'no_record',
    '-6': 'not_sent',
    '-7': 'throttled',
  })) {
    it(`Result ${result} is ${wanted}, as text and as number`, async () => {
      assert.equal(verdict(await stage.verify(open(), answer(result))), wanted)
      assert.equal(verdict(await stage.verify(open(), answer(Number(result)))), wanted)
    })
  }

  for (const value of [...lookAlikes, 1, '1', 2, '-8', '00']) {
    it(`Result ${JSON.stringify(value)} is not a verdict`, async () => {
      assert.equal(verdict(await stage.verify(open(), answer(value))), 'refused')
    })
  }

  for (const [code, kind] of [
    ['AuthFailure.SignatureFailure', 'not_sent'],
    ['UnauthorizedOperation.Arrears', 'not_sent'],
    ['RequestLimitExceeded', 'throttled'],
    ['InvalidParameterValue.NameFormat', 'not_sent'],
    ['InternalError', 'ambiguous'],
    [undefined, 'ambiguous'],
    [0, 'ambiguous'],
  ] as const) {
    it(`Error ${code} with a match beside it is ${kind}`, async () => {
      assert.equal((await stage.verify(open(), failure(code))).kind, kind)
    })
  }

  stage.testFaults(open, { Response: { Result: '0' } })
})
