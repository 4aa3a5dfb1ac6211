// The identity commands: rotation beside a running service, and one question to one gateway.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshStorage, onEachEngine } from '../test/support/engines.ts'
import { html502, json, startFakeUpstream } from '../test/support/fake-upstream.ts'
import { admin } from '../test/support/service.ts'
import { readConfig } from '../server/config.ts'
import { testIdentityGateway } from './identity.ts'

onEachEngine('identity rotate-secret', (engine) => {
  it('counts the generations and keeps nothing of the old secret', async () => {
    const storage = await freshStorage(engine)
    const rotate = async () => {
      const { code, stdout } = await admin(storage.environment, 'identity', 'rotate-secret', '--json')
      assert.equal(code, 0)
      return (JSON.parse(stdout) as { generation: number }).generation
    }
    const seed = async () => {
      const db = storage.open()
      const row = await db.one<{ value: string }>(
        `SELECT value FROM setting WHERE name = 'identity_hash_seed'`,
      )
      await db.close()
      return row?.value ?? ''
    }
    const first = await rotate()
    const before = await seed()
    assert.equal(await rotate(), first + 1)
    const after = await seed()
    assert.notEqual(before.split(':')[1], after.split(':')[1])
    assert.ok(!after.includes(before.split(':')[1]!))
    await storage.remove()
  })
})

describe('gateway test identity', () => {
  it('is ok with a verdict of any kind', async () => {
    const { json: told, failed } = await testIdentityGateway(readConfig({}), 'sandbox')
    assert.equal(failed, false)
    assert.deepEqual(
      { ...(told as object), ms: 0 },
      {
        group: 'identity',
        name: 'sandbox',
        ok: true,
        detail: 'match',
        ms: 0,
      },
    )
  })

  it('fails with the reason otherwise', async () => {
    const fake = await startFakeUpstream(() => json(200, { Code: '412' }))
    const config = readConfig({
      IDENTITY_GATEWAYS: 'aliyun',
      ALIYUN_ACCESS_KEY_ID: 'i',
      ALIYUN_ACCESS_KEY_SECRET: 's',
      ALIYUN_IDENTITY_ENDPOINT: fake.url,
    })
    const { failed, text } = await testIdentityGateway(config, 'aliyun')
    assert.equal(failed, true)
    assert.match(text, /^identity aliyun: failed, not_sent aliyun_412_arrears, \d+ ms$/)
    fake.handle(() => html502())
    assert.match((await testIdentityGateway(config, 'aliyun')).text, /ambiguous http_502/)
    await assert.rejects(testIdentityGateway(config, 'tencent'), /IDENTITY_GATEWAYS/)
    await fake.close()
  })
})
