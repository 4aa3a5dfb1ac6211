// Events survive kill -9, and several processes deliver every event exactly once when nothing fails.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemActor } from '../server/audit/audit.ts'
import { createAccount } from '../server/accounts/accounts.ts'
import { createEventRules } from '../server/events/delivery.ts'
import type { Database } from '../server/db/database.ts'
import { engines, freshStorage, uniqueName } from './support/engines.ts'
import { emitNumbered } from './support/events.ts'
import { startFakeUpstream, text } from './support/fake-upstream.ts'
import { spawnService } from './support/service.ts'
import { until } from './support/until.ts'

const secret = 'a secret of thirty-two characters.'

/** Returns the account. */
async function addWebhooks(db: Database, ...urls: readonly string[]): Promise<number> {
  const { id } = await createAccount(db, systemActor, { username: uniqueName(), password: 'correct horse 9' })
  const rules = createEventRules({
    db,
    secretKey: secret,
    config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
    publicUrl: () => 'http://127.0.0.1',
  })
  for (const url of urls) await rules.webhooks.add(systemActor, id, { url, events: [] })
  await rules.close()
  return id
}

for (const engine of engines) {
  void describe(`events (${engine})`, () => {
    it('are delivered after kill -9 before the first attempt, and between an attempt and its record', async () => {
      const storage = await freshStorage(engine)
      const db = storage.open()
      const receiver = await startFakeUpstream()
      const environment = {
        ...storage.environment,
        SECRET_KEY: secret,
        SAMPLE_ACCOUNT: 'off',
        WEBHOOK_ALLOW_PRIVATE: 'on',
        WEBHOOK_RETRY_S: '1,1,1',
      }
      // Nothing is answered, so no attempt can be recorded.
      receiver.handle(() => () => undefined)
      const first = await spawnService(environment)
      const account = await addWebhooks(db, `${receiver.url}hook`)
      await emitNumbered(db, account, 5)
      await until(() => receiver.requests.length === 5)
      await first.kill('SIGKILL')
      receiver.handle(() => text(200, ''))
      // As if the lease of the killed process had expired.
      await db.write((tx) => tx.run('UPDATE event_endpoint SET lease_until = 0'))
      await emitNumbered(db, account, 3)
      const second = await spawnService(environment)
      try {
        await until(async () => {
          const row = await db.one<{ count: number }>(
            `SELECT COUNT(*) AS count FROM event_delivery WHERE state = 'delivered'`,
          )
          return row?.count === 8
        }, 60_000)
        const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
        assert.equal(new Set(ids).size, 8)
        assert.equal(ids.length, 13)
      } finally {
        await second.kill('SIGTERM')
        await receiver.close()
        await db.close()
        await storage.remove()
      }
    })

    it('reach 1,000 endpoints and one busy endpoint once each from two processes', async () => {
      const storage = await freshStorage(engine)
      const db = storage.open()
      const receiver = await startFakeUpstream()
      const environment = {
        ...storage.environment,
        SECRET_KEY: secret,
        SAMPLE_ACCOUNT: 'off',
        WEBHOOK_ALLOW_PRIVATE: 'on',
      }
      const processes =
        engine === 'sqlite'
          ? [await spawnService({ ...environment, WORKERS: '2' })]
          : [await spawnService(environment), await spawnService(environment)]
      try {
        const busy = await addWebhooks(db, `${receiver.url}busy`)
        const accounts: number[] = []
        for (let i = 0; i < 50; i += 1) {
          const urls = Array.from({ length: 20 }, (_, n) => `${receiver.url}one-${i}-${n}`)
          accounts.push(await addWebhooks(db, ...urls))
        }
        await Promise.all([emitNumbered(db, busy, 2_000), ...accounts.map((id) => emitNumbered(db, id, 1))])
        await until(async () => {
          const row = await db.one<{ count: number }>(
            `SELECT COUNT(*) AS count FROM event_delivery WHERE state = 'delivered'`,
          )
          return row?.count === 3_000
        }, 120_000)
        const ids = receiver.requests.map(({ path, headers }) => `${path} ${headers['webhook-id']}`)
        assert.equal(ids.length, 3_000)
        assert.equal(new Set(ids).size, 3_000)
      } finally {
        for (const one of processes) await one.kill('SIGTERM')
        await receiver.close()
        await db.close()
        await storage.remove()
      }
    })
  })
}
