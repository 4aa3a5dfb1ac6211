// The slots of the dispatcher: endpoints that hang give way to those that wait.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { freshDatabase, onEachEngine, uniqueName } from '../../test/support/engines.ts'
import { emitNumbered } from '../../test/support/events.ts'
import { until } from '../../test/support/until.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { createJobs } from '../jobs.ts'
import { type DeliveryAttempt, nextState } from './attempt.ts'
import type { DueDelivery } from './dispatch-store.ts'
import { createDispatcher } from './dispatcher.ts'
import { createEventRules } from './delivery.ts'
import { findEndpoint, listDeliveries } from './store.ts'
import { disableEndpoint } from './webhooks.ts'

onEachEngine('dispatcher', (engine) => {
  it('serves a waiting endpoint although others with a backlog hang in every slot', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const rules = createEventRules({
      db,
      secretKey: 'a secret of thirty-two characters.',
      config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
      publicUrl: () => 'http://127.0.0.1',
    })
    const addAccount = async (path: string) => {
      const { id } = await createAccount(db, systemActor, {
        username: uniqueName(),
        password: 'correct horse 9',
      })
      await rules.webhooks.add(systemActor, id, { url: `http://127.0.0.1:9/${path}`, events: [] })
      return id
    }
    const hanging = [await addAccount('hangs-1'), await addAccount('hangs-2')]
    const waiting = await addAccount('waits')

    /** Attempts that hang: each ends when it is called, as if it had timed out. */
    const timeouts: (() => void)[] = []
    const served: string[] = []
    const attempt = async (path: string, delivery: DueDelivery): Promise<DeliveryAttempt> => {
      served.push(path)
      const succeeded = path === '/waits'
      if (!succeeded) await new Promise<void>((resolve) => timeouts.push(resolve))
      const result = { durationMs: 0, status: succeeded ? 200 : null, error: null, response: '' }
      return {
        succeeded,
        disable: undefined,
        pauseMs: 0,
        record: { ...nextState(delivery, succeeded, [3_600_000], 0), ...result },
      }
    }
    const log = pino({ enabled: false })
    const metrics = new Registry()
    const jobs = createJobs(log, metrics)
    const dispatcher = createDispatcher({
      db,
      senderFor: ({ url }) => ({
        concurrency: 1,
        attempt: (delivery) => attempt(new URL(url).pathname, delivery),
      }),
      keepDays: 30,
      disable: disableEndpoint,
      metrics,
      onError: (error) => assert.fail(String(error)),
      maxEndpoints: 2,
    })
    for (const id of hanging) await emitNumbered(db, id, 100)
    dispatcher.start(jobs)
    try {
      await until(() => timeouts.length === 2)
      await emitNumbered(db, waiting, 1)
      for (const end of timeouts.splice(0)) end()
      await until(() => served.includes('/waits'))
    } finally {
      let isStopped = false
      const stopped = Promise.all([jobs.stop(), dispatcher.stop()]).then(() => (isStopped = true))
      // What hangs now ends, and what began meanwhile too.
      await until(() => {
        for (const end of timeouts.splice(0)) end()
        return isStopped
      })
      await stopped
      await rules.close()
    }
  })

  it('records what was delivered when it stops, and leaves the rest to other processes at once', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const rules = createEventRules({
      db,
      secretKey: 'a secret of thirty-two characters.',
      config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
      publicUrl: () => 'http://127.0.0.1',
    })
    const { id: account } = await createAccount(db, systemActor, { username: uniqueName() })
    const { id } = await rules.webhooks.add(systemActor, account, { url: 'http://127.0.0.1:9/', events: [] })
    let attempts = 0
    async function attempt(delivery: DueDelivery, signal: AbortSignal): Promise<DeliveryAttempt> {
      attempts += 1
      const succeeded = attempts === 1
      if (!succeeded) await once(signal, 'abort')
      const result = { durationMs: 0, status: succeeded ? 200 : null, error: null, response: '' }
      return {
        succeeded,
        disable: undefined,
        pauseMs: 0,
        record: { ...nextState(delivery, succeeded, [3_600_000], 0), ...result },
      }
    }
    const log = pino({ enabled: false })
    const metrics = new Registry()
    const jobs = createJobs(log, metrics)
    const dispatcher = createDispatcher({
      db,
      senderFor: () => ({ concurrency: 1, attempt }),
      keepDays: 30,
      disable: disableEndpoint,
      metrics,
      onError: (error) => assert.fail(String(error)),
    })
    await emitNumbered(db, account, 3)
    dispatcher.start(jobs)
    await until(() => attempts === 2)
    await jobs.stop()
    await dispatcher.stop()
    const deliveries = await listDeliveries(db, id, { before: undefined, limit: 10 })
    assert.deepEqual(
      deliveries.map((one) => [one.state, one.attempts]),
      [
        ['pending', 0],
        ['pending', 0],
        ['delivered', 1],
      ],
    )
    const endpoint = await findEndpoint(db, id)
    assert.deepEqual([endpoint?.lease_until, endpoint?.failing_since], [0, null])
    await rules.close()
  })
})
