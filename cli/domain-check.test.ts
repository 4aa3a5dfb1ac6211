// The commands of the watch list, and the test of a domain check gateway.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { freshStorage, type FreshStorage } from '../test/support/engines.ts'
import { startFakeUpstream, text } from '../test/support/fake-upstream.ts'
import { admin } from '../test/support/service.ts'
import { readConfig } from '../server/config.ts'
import { testDomainGateway } from './domain-check.ts'

describe('watch …', () => {
  let storage: FreshStorage
  before(async () => {
    storage = await freshStorage('sqlite')
  })
  after(() => storage.remove())

  test('add, list, remove', async () => {
    const run = (...words: string[]) => admin(storage.environment, ...words, '--json')
    await run('account', 'create', 'someone')
    const added = await run('watch', 'add', 'someone', 'Example.com')
    assert.deepEqual(JSON.parse(added.stdout), {
      username: 'someone',
      address: 'Example.com',
      host: 'example.com',
    })
    const { watched } = JSON.parse((await run('watch', 'list', 'someone')).stdout)
    assert.deepEqual(watched, [
      {
        address: 'Example.com',
        verdict: null,
        since: null,
        checked_at: null,
        last_result: null,
        paused: null,
        history: [],
      },
    ])
    const twice = await run('watch', 'add', 'someone', 'example.com')
    assert.equal(twice.code, 1)
    assert.equal(twice.stderr.trim().split('\n').length, 1)
    assert.equal((await run('watch', 'add', 'nobody', 'example.com')).code, 1)
    assert.equal((await run('watch', 'remove', 'someone', 'example.com')).code, 0)
    assert.deepEqual(JSON.parse((await run('watch', 'list')).stdout), { username: null, watched: [] })
  })
})

describe('the test of a domain gateway', () => {
  test('sandbox', async () => {
    const { failed, json } = await testDomainGateway(readConfig({}), 'sandbox')
    assert.equal(failed, false)
    const { probes, ...told } = json as { probes: unknown[] }
    assert.deepEqual(told, { group: 'domain', name: 'sandbox', ok: true })
    assert.equal(probes.length, 2)
  })

  test('a gateway that gets the pair wrong fails', async () => {
    const platform = await startFakeUpstream(() => text(302, '', { location: 'http://x.example/' }))
    const settings = { DOMAIN_JUMP_URL: `${platform.url}?t={url}` }
    const pair = { DOMAIN_CANARY_GOOD: 'good.example', DOMAIN_CANARY_BAD: 'bad.example' }
    assert.equal((await testDomainGateway(readConfig({ ...settings, ...pair }), 'jump')).failed, true)
    assert.equal((await testDomainGateway(readConfig(settings), 'jump')).failed, false)
    await platform.close()
    assert.equal((await testDomainGateway(readConfig(settings), 'jump')).failed, true)
  })

  test('an unknown or unconfigured one is a mistake', async () => {
    await assert.rejects(testDomainGateway(readConfig({}), 'aliyun'))
    await assert.rejects(testDomainGateway(readConfig({}), 'http'))
  })
})
