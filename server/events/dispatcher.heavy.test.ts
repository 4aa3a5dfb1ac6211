// The slots of the dispatcher: endpoints that hang give way to those that wait.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { dayMs } from '../../contract/time.ts'
import { freshDatabase, onEachEngine, uniqueName } from '../../test/support/engines.ts'
import { emitNumbered } from '../../test/support/events.ts'
import { until } from '../../test/support/until.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import type { Database } from '../db/database.ts'
import { createJobs } from '../jobs.ts'
import { type DeliveryAttempt, nextState } from './attempt.ts'
import type { DueDelivery } from './dispatch-store.ts'
import { createDispatcher } from './dispatcher.ts'
import { createEventRules } from './delivery.ts'
import { findEndpoint, listDeliveries } from './store.ts'
import { disableEndpoint } from './webhooks.ts'

const rulesFor = (db: Database) =>
  createEventRules({
    db,
    secretKey: 'a secret of thirty-two characters.',
    config: { WEBHOOK_ALLOW_PRIVATE: 'on', MAIL_URL: undefined, MAIL_FROM: undefined },
    publicUrl: () => 'http://127.0.0.1',
  })

type Attempt = (path: string, delivery: DueDelivery, signal: AbortSignal) => Promise<DeliveryAttempt>

/** Delivers to one endpoint one event at a time. The caller starts and stops both. */
function dispatcherFor(db: Database, attempt: Attempt, maxEndpoints?: number) {
  const metrics = new Registry()
  const jobs = createJobs(pino({ enabled: false }), metrics)
  const dispatcher = createDispatcher({
    db,
    senderFor: ({ url }) => ({
      concurrency: 1,
      attempt: (delivery, signal) => attempt(new URL(url).pathname, delivery, signal),
    }),
    maxWaitMs: dayMs,
    keepDays: 30,
    disable: disableEndpoint,
    metrics,
    onError: (error) => assert.fail(String(error)),
    ...(maxEndpoints !== undefined && { maxEndpoints }),
  })
  return { jobs, dispatcher }
}

onEachEngine('dispatcher', (engine) => {
  it('serves a waiting endpoint although others with a backlog hang in every slot', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const rules = rulesFor(db)
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
    const { jobs, dispatcher } = dispatcherFor(db, attempt, 2)
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
    const rules = rulesFor(db)
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
    const { jobs, dispatcher } = dispatcherFor(db, (_path, delivery, signal) => attempt(delivery, signal))
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

  it('ignores for a new URL how a request in progress to the old one ends', async () => {
    await using fresh = await freshDatabase(engine)
    const { db } = fresh
    const rules = rulesFor(db)
    const { id: account } = await createAccount(db, systemActor, { username: uniqueName() })
    const urlOf = (path: string) => `http://127.0.0.1:9/${path}`
    const { id } = await rules.webhooks.add(systemActor, account, { url: urlOf('0'), events: [] })
    /** Each request ends when the test has changed the URL: 410, a pause, no response, then success. */
    const answers: readonly Pick<DeliveryAttempt, 'succeeded' | 'disable' | 'pauseMs'>[] = [
      { succeeded: false, disable: 'gone', pauseMs: 0 },
      { succeeded: false, disable: undefined, pauseMs: 3_600_000 },
      { succeeded: false, disable: undefined, pauseMs: 0 },
      { succeeded: true, disable: undefined, pauseMs: 0 },
    ]
    const waiting: (() => void)[] = []
    const paths: string[] = []
    async function attempt(path: string, delivery: DueDelivery): Promise<DeliveryAttempt> {
      const answer = answers[paths.length]!
      paths.push(path)
      await new Promise<void>((resolve) => waiting.push(resolve))
      const status = answer.succeeded ? 200 : answer.disable ? 410 : null
      const result = { durationMs: 0, status, error: null, response: '' }
      return { ...answer, record: { ...nextState(delivery, answer.succeeded, [3_600_000], 0), ...result } }
    }
    const { jobs, dispatcher } = dispatcherFor(db, attempt)
    await emitNumbered(db, account, 1)
    dispatcher.start(jobs)
    try {
      for (let n = 1; n <= answers.length; n += 1) {
        await until(() => paths.length === n)
        const endpoint = (await findEndpoint(db, id))!
        if (n < answers.length) {
          await rules.webhooks.update(systemActor, endpoint, { url: urlOf(String(n)), events: [] })
          await emitNumbered(db, account, 1)
        }
        waiting.shift()!()
      }
      await until(async () => (await findEndpoint(db, id))?.lease_until === 0)
      assert.deepEqual(paths, ['/0', '/1', '/2', '/3'])
      const { state, failing_since, paused_until } = (await findEndpoint(db, id))!
      assert.deepEqual(
        { state, failing_since, paused_until },
        { state: 'active', failing_since: null, paused_until: 0 },
      )
    } finally {
      for (const end of waiting) end()
      await Promise.all([jobs.stop(), dispatcher.stop()])
      await rules.close()
    }
  })
})
