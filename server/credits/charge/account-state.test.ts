// A charge checks the state of the account in its transaction: suspension, expiry and the SMS switch.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { ApiType } from '../../../contract/credits.ts'
import { shortlink } from '../../../contract/shortlink.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import {
  admin,
  post,
  startService,
  type TestAccount,
  type TestService,
} from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { type AccountInput, changeAccount, requireAccount } from '../../accounts/accounts.ts'

onEachEngine('the state of the account', (engine) => {
  let service: TestService

  before(async () => void (service = await startService(engine)))
  after(() => service[Symbol.asyncDispose]())

  async function change(account: TestAccount, input: AccountInput): Promise<void> {
    const { db } = service.installation
    await changeAccount(db, systemActor, await requireAccount(db, account.username), input)
  }

  async function chargeResult(account: TestAccount, apiType: ApiType): Promise<unknown> {
    const request = { accountId: account.id, apiType, action: 'test', cost: 1, requestId: 'r' }
    const result = await service.app.services.credits.charge(request)
    return result.kind === 'not_allowed' ? result.reason : result.kind
  }

  it('36 no charge for an account that was suspended, has expired or has SMS switched off meanwhile', async () => {
    const account = await service.account({ sms: 5, short_link: 5 })
    assert.equal(await chargeResult(account, 'sms'), 'charged')
    await change(account, { smsEnabled: false })
    assert.equal(await chargeResult(account, 'sms'), 'sms_disabled')
    assert.equal(await chargeResult(account, 'short_link'), 'charged')
    await change(account, { smsEnabled: true, expires: '2020-01-01' })
    assert.equal(await chargeResult(account, 'sms'), 'expired')
    await change(account, { expires: 'never', suspended: true })
    assert.equal(await chargeResult(account, 'short_link'), 'suspended')
    await change(account, { suspended: false })
    assert.equal(await chargeResult(account, 'sms'), 'charged')
    const [links, messages] = await service.app.services.credits.balances(account.id)
    assert.deepEqual([links?.remaining, messages?.remaining], [4, 3])
  })

  it('36 no call in flight is charged after account set --suspended yes has returned', async () => {
    const { db } = service.installation
    for (let round = 0; round < 5; round += 1) {
      const account = await service.account({ short_link: 10_000 })
      const countOperations = async () =>
        (await db.one<{ count: number }>('SELECT COUNT(*) AS count FROM operation WHERE account_id = ?', [
          account.id,
        ]))!.count
      let isSuspended = false
      const statuses = new Set<number>()
      const callers = Array.from({ length: 12 }, async () => {
        const body = { username: account.username, api_key: account.key, action: 'generate', title: 't' }
        do {
          const reply = await post(`${service.url}${shortlink.path}`, {
            ...body,
            target_url: 'https://example.com/',
          })
          statuses.add(reply.status)
        } while (!isSuspended)
      })
      while (!statuses.has(200)) await new Promise(setImmediate)
      const result = await admin(
        service.storage.environment,
        'account',
        'set',
        account.username,
        '--suspended',
        'yes',
      )
      assert.equal(result.code, 0, result.stderr)
      const charged = await countOperations()
      isSuspended = true
      await Promise.all(callers)
      assert.equal(await countOperations(), charged, `round ${round}`)
    }
  })
})
