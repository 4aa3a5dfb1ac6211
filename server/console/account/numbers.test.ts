// The numbers of the console: use counts every charge, keys count only API calls, exports are complete.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { creditRoutes } from '../../../contract/console/credits.ts'
import { homeRoutes } from '../../../contract/console/home.ts'
import { keyRoutes } from '../../../contract/console/key.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { identityRoutes } from '../../../contract/console/identity.ts'
import { requestRoutes } from '../../../contract/console/requests.ts'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { dayMs } from '../../../contract/time.ts'
import { type Browser, operator, signedIn } from '../../../test/support/console.ts'
import { onEachEngine } from '../../../test/support/engines.ts'
import { allCredits, person } from '../../../test/support/product-pages.ts'
import { get, startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { addWatch } from '../../domain-check/watch-list.ts'
import { systemActor } from '../../audit/audit.ts'

onEachEngine('the numbers of the console', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser

  before(async () => {
    service = await startService(engine, { SWEEP_S: '3600', DOMAIN_WATCH_S: '3600' })
    // The test runs the rounds of the watch itself.
    await service.app.services.jobs.stop()
    account = await service.account(allCredits)
    browser = await signedIn(service, account)
  })
  after(() => service[Symbol.asyncDispose]())

  const home = async () => (await browser.call(homeRoutes.home)).body
  const verify = () => browser.call(identityRoutes.verify, { sent: person })

  it('a call from the console is neither use of the key nor a step of the checklist', async () => {
    assert.equal((await verify()).status, 200)
    await service.app.requestLog.flush()
    const { body: key } = await browser.call(keyRoutes.state)
    assert.deepEqual([key.calls_24h, key.last_call_at], [0, null])
    const { checklist } = await home()
    assert.deepEqual([checklist.has_call, checklist.has_success, checklist.has_use], [false, false, true])
    const { items } = (await browser.call(requestRoutes.list)).body
    assert.deepEqual(
      items.map((one: { source: string }) => one.source),
      ['console'],
    )
  })

  it('a call with the key is both, and the list is filtered by source, address and duration', async () => {
    const { url } = service
    await get(`${url}/api/sms_api.php?action=get_credits&username=${account.username}&api_key=${account.key}`)
    await service.app.requestLog.flush()
    assert.equal((await browser.call(keyRoutes.state)).body.calls_24h, 1)
    assert.equal((await home()).checklist.has_call, true)
    const count = async (sent: object) =>
      (await browser.call(requestRoutes.list, { sent: sent as Record<string, unknown> })).body.items.length
    assert.equal(await count({ source: 'api' }), 1)
    assert.equal(await count({ source: 'console' }), 1)
    assert.equal(await count({ address: '127.0.0.1' }), 2)
    assert.equal(await count({ address: '203.0.113.9' }), 0)
    assert.equal(await count({ min_ms: 0 }), 2)
    assert.equal(await count({ min_ms: 600_000 }), 0)
    assert.equal((await browser.call(requestRoutes.list, { sent: { source: 'mail' } })).status, 400)
  })

  it('use and totals contain the charges of the domain watch and grants do not change them', async () => {
    const staff = await operator(service)
    const { db } = service.installation
    const used = async () => {
      const { balances, days } = await home()
      const own = balances.find((one: { api_type: string }) => one.api_type === 'domain_check')
      return [own.used_7d, own.daily.at(-1), days.at(-1).credits.domain_check]
    }
    assert.deepEqual(await used(), [0, 0, 0])
    await addWatch(db, systemActor, { accountId: account.id, text: 'watched.example', limit: 3 })
    await service.app.domainCheck.watch.round()
    await service.app.services.credits.grant({
      actor: systemActor,
      accountId: account.id,
      apiType: 'domain_check',
      amount: 7,
    })
    assert.deepEqual(await used(), [1, 1, 1])
    const { credits } = (await staff.call(operatorRoutes.overview)).body
    const total = credits.find((one: { api_type: string }) => one.api_type === 'domain_check')
    assert.deepEqual([total.used, total.sold], [1, allCredits.domain_check + 7])
  })

  it('an export of all time has everything that is stored', async () => {
    const { db } = service.installation
    const old = Date.now() - 400 * dayMs
    await db.write(async (tx) => {
      await tx.run('UPDATE identity_record SET at = ? WHERE account_id = ?', [old, account.id])
      await tx.run('UPDATE request_log SET at = ? WHERE account_id = ?', [old, account.id])
      await tx.run('UPDATE ledger SET at = ? WHERE account_id = ?', [old, account.id])
    })
    const lines = async (route: Parameters<Browser['text']>[0], sent = {}) =>
      (await browser.text(route, { sent })).text.trimEnd().split('\r\n').length - 1
    assert.equal(await lines(requestRoutes.csv), 2)
    assert.equal(await lines(identityRoutes.historyCsv), 1)
    assert.equal(await lines(creditRoutes.ledgerCsv), 7)
    assert.equal(await lines(smsRoutes.recordsCsv), 0)
    assert.equal(await lines(requestRoutes.csv, { from: '2026-01-01' }), 0)
  })
})
