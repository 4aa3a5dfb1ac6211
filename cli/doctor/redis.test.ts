// Redis or Valkey for shared limits.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { noRedis, startRedis } from '../../test/support/redis.ts'
import { freePort } from '../../test/support/service.ts'
import { readConfig } from '../../server/config.ts'
import { checkRedis } from './redis.ts'

it('reports a Redis that cannot be reached, with the reason, and nothing without REDIS_URL', async () => {
  assert.deepEqual(await checkRedis(readConfig({})), [])
  const url = `redis://127.0.0.1:${await freePort()}`
  const [finding] = await checkRedis(readConfig({ REDIS_URL: url }))
  assert.equal(finding?.state, 'fail')
  assert.match(finding.text.zh, /127\.0\.0\.1:\d+.*ECONNREFUSED/)
})

it(
  'reports a Redis that works, and one that rejects the password or the number of the database',
  { skip: noRedis },
  async () => {
    await using server = await startRedis()
    const changed = (part: 'password' | 'pathname', value: string) =>
      Object.assign(new URL(server.url), { [part]: value }).href
    const check = async (url: string) => (await checkRedis(readConfig({ REDIS_URL: url })))[0]!
    assert.equal((await check(server.url)).state, 'ok')
    const password = await check(changed('password', 'hidden-word'))
    assert.equal(password.state, 'fail')
    assert.doesNotMatch(JSON.stringify(password), /hidden-word|offline/)
    assert.match(password.text.zh, /password/)
    assert.match((await check(changed('pathname', '/99'))).text.zh, /DB index/)
  },
)
