// The sandbox identity gateway: names force an outcome.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { person, verdict } from '../../../test/support/identity-gateway.ts'
import { createSandboxGateway } from './sandbox.ts'

describe('sandbox', () => {
  const said = async (name: string) =>
    verdict(await createSandboxGateway().verify({ ...person, name }, new AbortController().signal))

  it('returns an outcome by name', async () => {
    assert.equal(await said('不匹配'), 'mismatch')
    assert.equal(await said('无记录'), 'no_record')
    assert.equal(await said('上游故障'), 'not_sent')
    assert.equal(await said('张三'), 'match')
    assert.equal(await said('不匹配吗'), 'match')
  })
})
