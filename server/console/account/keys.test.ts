// The API key: shown once, invalid immediately after a reset or a clear, at most one valid key.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { systemActor } from '../../audit/audit.ts'
import { keyRoutes } from '../../../contract/console/key.ts'
import { createAccount } from '../../accounts/accounts.ts'
import { signedIn, testPassword } from '../../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { get, startService, type TestService } from '../../../test/support/service.ts'

onEachEngine('the API key', (engine) => {
  let service: TestService

  before(async () => void (service = await startService(engine)))
  after(() => service[Symbol.asyncDispose]())

  const use = (username: string, key: string, at: TestService = service) =>
    get(`${at.url}/api/sms_api.php?action=get_credits&username=${username}`, { api_key: key })

  async function createHolderWithoutKey() {
    const username = uniqueName()
    const account = await createAccount(service.installation.db, systemActor, {
      username,
      password: testPassword,
    })
    return { ...account, browser: await signedIn(service, { username }) }
  }

  it('is generated and shown in full once, and works', async () => {
    const { username, browser } = await createHolderWithoutKey()
    assert.deepEqual((await browser.call(keyRoutes.state)).body, {
      hint: null,
      created_at: null,
      calls_24h: 0,
      last_call_at: null,
    })
    const created = await browser.call(keyRoutes.generate)
    assert.equal(created.status, 200)
    assert.equal(created.headers.get('cache-control'), 'no-store')
    const key: string = created.body.api_key
    assert.equal((await use(username, key)).body.code, 0)
    const state = await browser.call(keyRoutes.state)
    assert.equal(state.body.hint, created.body.hint)
    assert.ok(!JSON.stringify(state.body).includes(key))
    assert.equal((await browser.call(keyRoutes.generate)).body.error.code, 'conflict')
    assert.equal((await use(username, key)).body.code, 0)
    assert.ok(!service.logged.join('').includes(key))
  })

  it('is created once by two concurrent requests', async () => {
    const { username, browser } = await createHolderWithoutKey()
    const created = await Promise.all([browser.call(keyRoutes.generate), browser.call(keyRoutes.generate)])
    assert.deepEqual(new Set(created.map((reply) => reply.status)), new Set([200, 409]))
    const key = created.find((reply) => reply.status === 200)!.body.api_key
    assert.equal((await use(username, key)).body.code, 0)
  })

  it('can be reset and cleared only with the password', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    for (const route of [keyRoutes.reset, keyRoutes.clear]) {
      const wrong = await browser.call(route, { sent: { password: 'not this one' } })
      assert.deepEqual(wrong.body.error.fields, { password: '密码错误' })
      assert.equal((await browser.call(route)).body.error.code, 'confirmation_required')
    }
    assert.equal((await use(account.username, account.key)).body.code, 0)
  })

  it('fails from the first call after a reset or a clear, on every process', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    await using second = await startService(engine, {}, service.storage)
    assert.equal((await use(account.username, account.key, second)).body.code, 0)
    const reset = await browser.call(keyRoutes.reset, { sent: { password: testPassword } })
    assert.equal(reset.headers.get('cache-control'), 'no-store')
    const old = await use(account.username, account.key, second)
    assert.equal(old.status, 401)
    const unknown = await use(uniqueName(), reset.body.api_key, second)
    assert.deepEqual(old.body, unknown.body)
    assert.equal((await use(account.username, reset.body.api_key, second)).body.code, 0)
    assert.equal((await browser.call(keyRoutes.clear, { sent: { password: testPassword } })).status, 200)
    assert.deepEqual((await use(account.username, reset.body.api_key, second)).body, old.body)
    assert.equal((await browser.call(keyRoutes.state)).body.hint, null)
  })

  it('leaves one valid key after two concurrent resets', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    const reset = () => browser.call(keyRoutes.reset, { sent: { password: testPassword } })
    const created = await Promise.all([reset(), reset(), reset()])
    const replies = await Promise.all(created.map((reply) => use(account.username, reply.body.api_key)))
    assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
    assert.equal((await use(account.username, account.key)).status, 401)
  })

  it('shows how many calls a reset would break', async () => {
    const account = await service.account()
    const browser = await signedIn(service, account)
    for (let i = 0; i < 3; i++) await use(account.username, account.key)
    await service.app.requestLog.flush()
    const { body } = await browser.call(keyRoutes.state)
    assert.equal(body.calls_24h, 3)
    assert.ok(body.last_call_at > Date.now() - 60_000)
  })
})
