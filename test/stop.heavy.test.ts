// What a stop waits for: it must end before systemd kills the process.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { domainCheckRoutes } from '../contract/console/domain-check.ts'
import { systemActor } from '../server/audit/audit.ts'
import { createEventRules } from '../server/events/delivery.ts'
import { emitEvents } from '../server/events/emit.ts'
import { insertEndpoint } from '../server/events/store.ts'
import { signedIn } from './support/console.ts'
import { onEachEngine } from './support/engines.ts'
import { hang, late, startFakeUpstream, text } from './support/fake-upstream.ts'
import { startService } from './support/service.ts'
import { until } from './support/until.ts'

onEachEngine('a stop', (engine) => {
  it('ends the requests of all receivers that do not respond, although no other endpoint can be served', async () => {
    const receiver = await startFakeUpstream(() => hang())
    const service = await startService(engine, { WEBHOOK_ALLOW_PRIVATE: 'on' })
    const { db } = service.installation
    const account = await service.account()
    const added = await createEventRules(service.app.services).webhooks.add(systemActor, account.id, {
      url: receiver.url,
      events: [],
    })
    const { secret } = (await db.one<{ secret: string }>('SELECT secret FROM event_endpoint WHERE id = ?', [
      added.id,
    ]))!
    await db.write(async (tx) => {
      for (let index = 1; index < 250; index += 1)
        await insertEndpoint(tx, {
          account_id: account.id,
          kind: 'webhook',
          url: `${receiver.url}${index}`,
          event_types: '*',
          secret,
          state: 'active',
          language: 'zh',
          confirm_hash: null,
        })
      await emitEvents(tx, [{ accountId: account.id, type: 'sms.delivered', data: {} }])
    })
    await until(() => receiver.requests.length === 200)
    await service.app.stop()
    const tried = await db.one<{ count: number }>(
      'SELECT COUNT(*) AS count FROM event_delivery WHERE attempts > 0',
    )
    assert.equal(tried?.count, 0, 'no request had to time out')
    await service[Symbol.asyncDispose]()
    await receiver.close()
  })

  it('records a check of the console that ends during the stop', async () => {
    const platform = await startFakeUpstream(() => late(1_000, text(302, '', { location: 'https://a.com/' })))
    const service = await startService(engine, {
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${platform.url}?target={url}`,
    })
    const browser = await signedIn(service, await service.account({ domain_check: 5 }))
    const sent = { urls: ['a.com'], check_random: false }
    const { body } = await browser.call(domainCheckRoutes.start, { sent })
    await service.app.stop()
    const { db } = service.installation
    const calls = await db.all('SELECT charged FROM request_log WHERE request_id = ?', [body.request_id])
    assert.deepEqual(calls, [{ charged: 1 }])
    await service[Symbol.asyncDispose]()
    await platform.close()
  })

  it('leaves background work that does not end', async () => {
    const service = await startService(engine)
    service.app.services.jobs.every(3_600_000, 'never_ends', () => new Promise(() => undefined))
    await service.app.stop()
    assert.ok(service.logged.some((line) => line.includes('background work has not ended in time')))
    await service.installation.close()
    await service.storage.remove()
  })
})
