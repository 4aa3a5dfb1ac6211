// Events of low and empty credits.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachEngine } from '../../../test/support/engines.ts'
import { startService, type TestAccount, type TestService } from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { createEventRules } from '../../events/delivery.ts'
import { reportExpiring } from '../../events/expiring-store.ts'

onEachEngine('low credits', (engine) => {
  let service: TestService

  before(async () => {
    service = await startService(engine)
    await service.app.services.jobs.stop()
  })
  after(() => service[Symbol.asyncDispose]())

  const db = () => service.installation.db
  const holder = async (credits: number) => {
    const account = await service.account({ sms: credits })
    const { webhooks } = createEventRules(service.app.services)
    await webhooks.add(systemActor, account.id, { url: 'https://example.com/', events: [] })
    return account
  }
  const charge = (account: TestAccount, cost: number) =>
    service.app.services.credits.charge({
      accountId: account.id,
      apiType: 'sms',
      action: 'test.charge',
      cost,
      requestId: 'test',
    })
  const grant = (account: TestAccount, amount: number) =>
    service.app.services.credits.grant({ actor: systemActor, accountId: account.id, apiType: 'sms', amount })
  const eventsOf = async (account: TestAccount) => {
    const rows = await db().all<{ type: string; data: string }>(
      'SELECT type, data FROM event WHERE account_id = ? ORDER BY id',
      [account.id],
    )
    return rows.map(({ type, data }) => {
      const { percent, remaining } = JSON.parse(data) as { percent?: number; remaining?: number }
      return [type, percent, remaining].filter((part) => part !== undefined).join(' ')
    })
  }

  it('reports each threshold once, and the last credit', async () => {
    const account = await holder(100)
    for (let i = 0; i < 79; i += 1) await charge(account, 1)
    assert.deepEqual(await eventsOf(account), [])
    await Promise.all(Array.from({ length: 21 }, () => charge(account, 1)))
    const events = await eventsOf(account)
    assert.equal(events.filter((one) => one.startsWith('credits.low 20')).length, 1)
    assert.equal(events.filter((one) => one.startsWith('credits.low 5')).length, 1)
    assert.ok(events.includes('credits.empty 0'))
    assert.equal(events.length, 3)
  })

  it('reports all thresholds that one charge crosses', async () => {
    const account = await holder(100)
    await charge(account, 97)
    assert.deepEqual(await eventsOf(account), ['credits.low 20 3', 'credits.low 5 3'])
  })

  it('is armed again by a grant, relative to the new balance', async () => {
    const account = await holder(100)
    await charge(account, 81)
    await grant(account, 81)
    await charge(account, 79)
    assert.deepEqual(await eventsOf(account), ['credits.low 20 19'])
    await charge(account, 1)
    assert.deepEqual(await eventsOf(account), ['credits.low 20 19', 'credits.low 20 20'])
  })

  it('is reported when an operator takes credits', async () => {
    const account = await holder(100)
    const take = (amount: number) =>
      service.app.services.credits.take({
        actor: systemActor,
        accountId: account.id,
        apiType: 'sms',
        amount,
      })
    await take(70)
    assert.deepEqual(await eventsOf(account), [])
    await take(15)
    await take(15)
    assert.deepEqual(await eventsOf(account), ['credits.low 20 15', 'credits.low 5 0', 'credits.empty 0'])
    await assert.rejects(take(1))
    assert.equal((await eventsOf(account)).length, 3)
  })

  it('reports an account that expires within seven days, and again within one', async () => {
    const account = await holder(1)
    const signal = new AbortController().signal
    const expireIn = (days: number) => {
      const day = new Date(Date.now() + 8 * 3_600_000 + days * 86_400_000).toISOString().slice(0, 10)
      return db().write((tx) => tx.run('UPDATE account SET expires_on = ? WHERE id = ?', [day, account.id]))
    }
    const count = async () => (await eventsOf(account)).length
    await expireIn(30)
    await reportExpiring(db(), signal)
    assert.equal(await count(), 0)
    await expireIn(6)
    await reportExpiring(db(), signal)
    await reportExpiring(db(), signal)
    assert.equal(await count(), 1)
    await expireIn(1)
    await reportExpiring(db(), signal)
    await reportExpiring(db(), signal)
    assert.equal(await count(), 2)
  })
})
