// Receivers that are down for days, by a clock that the test moves: every attempt at its time, disabling, and what comes after.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { Webhook } from 'standardwebhooks'
import { withClock } from '../../test/support/clock.ts'
import { freshDatabase, onEachEngine, uniqueName } from '../../test/support/engines.ts'
import { startFakeUpstream, text } from '../../test/support/fake-upstream.ts'
import { openMailbox } from '../../test/support/mailbox.ts'
import { until } from '../../test/support/until.ts'
import { webhookLimits } from '../../contract/events.ts'
import { dayMs } from '../../contract/time.ts'
import { createAccount } from '../accounts/accounts.ts'
import { systemActor } from '../audit/audit.ts'
import { readConfig } from '../config.ts'
import { createJobs } from '../jobs.ts'
import { createEventDelivery } from './delivery.ts'
import { hasDue } from './dispatch-store.ts'
import { leaseMs } from './dispatcher.ts'
import { emitEvents } from './emit.ts'
import { findEndpoint, listAttempts, listDeliveries } from './store.ts'

const secretKey = 'a secret of thirty-two characters.'
/** When events happen, in days. The first two use up their schedule; the third is still in it when five days have passed. */
const eventDays = [0, 1, 3]

onEachEngine('days of failure', (engine) => {
  it('every attempt is made at its time, the endpoint is disabled after five days, and nothing is lost', async () => {
    await using started = new AsyncDisposableStack()
    const fresh = started.use(await freshDatabase(engine))
    const mailbox = started.adopt(await openMailbox(), (one) => one.close())
    const startAt = Date.now()
    const clock = { now: startAt }
    const down = { always: true }
    const requests: {
      path: string
      id: string
      at: number
      body: string
      signature: string
      sent: number
    }[] = []
    const receiver = started.adopt(
      await startFakeUpstream(({ path, headers, body }) => {
        requests.push({
          path,
          id: headers['webhook-id']!,
          at: clock.now,
          body,
          signature: headers['webhook-signature']!,
          sent: Number(headers['webhook-timestamp']),
        })
        const isDown = path === '/always' ? down.always : path === '/day' && clock.now < startAt + dayMs
        return text(isDown ? 500 : 200, '')
      }),
      (one) => one.close(),
    )
    const db = withClock(fresh.db, clock)
    const log = pino({ enabled: false })
    const metrics = new Registry()
    const jobs = createJobs(log, metrics)
    const config = readConfig({
      ...fresh.storage.environment,
      ...mailbox.environment,
      WEBHOOK_ALLOW_PRIVATE: 'on',
    })
    const delivery = createEventDelivery({
      db,
      config,
      jobs,
      log,
      metrics,
      secretKey,
      publicUrl: () => 'http://127.0.0.1',
      now: () => clock.now,
    })
    started.defer(async () => {
      await jobs.stop()
      await delivery.stop()
    })

    const username = uniqueName()
    const { id: accountId } = await createAccount(db, systemActor, { username, password: 'correct horse 9' })
    const add = async (path: string, events: readonly string[]) =>
      delivery.webhooks.add(systemActor, accountId, { url: receiver.url + path, events })
    const always = await add('always', ['key.reset'])
    const day = await add('day', ['key.reset'])
    await add('other', ['webhook.disabled'])
    const to = `${username}@example.com`
    const input = { kind: 'mail', target: to, language: 'en' } as const
    const channel = await delivery.alerts.add(systemActor, { id: accountId, role: 'account' }, input)
    await mailbox.next(to)
    await delivery.alerts.confirmByOperator(systemActor, (await findEndpoint(db, channel.id))!)
    delivery.start()

    const endpoint = async () => (await findEndpoint(db, always.id))!
    const nextDue = async () =>
      (await db.one<{ due: number | null }>(
        `SELECT MIN(d.due_at) AS due FROM event_delivery d JOIN event_endpoint p ON p.id = d.endpoint_id
         WHERE d.state = 'pending' AND p.state = 'active'`,
      ))!.due
    const deliveriesTo = async (id: number) =>
      (await listDeliveries(db, id, { before: undefined, limit: 10 })).toReversed()
    /** Until everything that is due by the clock was tried. */
    const untilTried = () => until(async () => ((await nextDue()) ?? Infinity) > clock.now, 60_000)

    const waiting = eventDays.map((days) => startAt + days * dayMs)
    while ((await endpoint()).state === 'active') {
      const due = (await nextDue()) ?? Infinity
      const event = waiting[0] ?? Infinity
      clock.now = Math.min(due, event) - 1
      assert.equal(await hasDue(db, leaseMs), false, 'nothing is tried before its time')
      clock.now += 1
      if (event <= due) {
        waiting.shift()
        await db.write((tx) => emitEvents(tx, [{ accountId, type: 'key.reset', data: { at: clock.now } }]))
      }
      await untilTried()
    }
    const disabledAt = clock.now

    // The schedule of each event, and five days of failure.
    const waits = config.WEBHOOK_RETRY_S.map((seconds) => seconds * 1000)
    const perEvent = (path: string) => [
      ...Map.groupBy(
        requests.filter((request) => request.path === path),
        ({ id }) => id,
      ).values(),
    ]
    for (const attempts of [...perEvent('/always'), ...perEvent('/day')]) {
      for (const [index, { at }] of attempts.slice(1).entries()) {
        const gap = at - attempts[index]!.at
        const wait = waits[index]!
        assert.ok(gap >= wait && gap <= wait * 1.1 + 1, `attempt ${index + 2}: ${gap} ms, ${wait} expected`)
      }
    }
    assert.equal(disabledAt - startAt >= webhookLimits.disableAfterMs, true)
    const lastBefore = requests.filter(({ path, at }) => path === '/always' && at < disabledAt).at(-1)!
    assert.ok(lastBefore.at - startAt < webhookLimits.disableAfterMs, 'not a failure later than needed')
    const [first, second, third] = await deliveriesTo(always.id)
    assert.deepEqual(
      [first!, second!].map(({ state, attempts }) => [state, attempts]),
      [
        ['failed', waits.length + 1],
        ['failed', waits.length + 1],
      ],
    )
    assert.equal(third!.state, 'pending')
    assert.equal((await endpoint()).disabled_reason, 'failing')
    assert.equal((await endpoint()).failing_since, startAt)

    // The receiver that was down for one day has everything, the first event after a wait of its schedule.
    assert.deepEqual(
      (await deliveriesTo(day.id)).map(({ state }) => state),
      ['delivered', 'delivered', 'delivered'],
    )
    const [late, onTime] = perEvent('/day')
    assert.ok(late!.at(-1)!.at >= startAt + dayMs && late!.length > 5 && late!.length <= waits.length)
    assert.equal(onTime!.length, 1)

    // The account is notified once, by webhook and by mail.
    await until(() => requests.some(({ path }) => path === '/other'))
    assert.match((await mailbox.next(to)).text, /\/always/)
    const told = JSON.parse(requests.find(({ path }) => path === '/other')!.body) as {
      data: { reason: string }
    }
    assert.equal(told.data.reason, 'failing')
    assert.equal(mailbox.count(to), 0)

    // Disabled means disabled, whatever the time.
    const before = requests.length
    clock.now += 2 * dayMs
    await untilTried()
    assert.equal(await hasDue(db, leaseMs), false)
    assert.equal(requests.length, before)

    // Enabled again after the repair, what is pending goes out; what failed does so on request.
    down.always = false
    await delivery.webhooks.setState(systemActor, await endpoint(), 'active')
    await until(async () => (await deliveriesTo(always.id))[2]!.state === 'delivered')
    assert.equal(await delivery.webhooks.resendFailed(systemActor, await endpoint(), startAt), 2)
    await until(async () => (await deliveriesTo(always.id)).every(({ state }) => state === 'delivered'))
    assert.equal((await endpoint()).failing_since, null)

    // Every request is a recorded attempt, with the ID of its event and a signature of its own time.
    const sent = requests.filter(({ path }) => path === '/always')
    const recorded = await Promise.all(
      (await deliveriesTo(always.id)).map(async ({ id }) => (await listAttempts(db, id)).length),
    )
    assert.equal(
      sent.length,
      recorded.reduce((sum, count) => sum + count, 0),
    )
    assert.equal(new Set(sent.map(({ id }) => id)).size, eventDays.length)
    for (const { id, at, sent: timestamp, body, signature } of sent) {
      assert.equal(timestamp, Math.floor(at / 1000))
      assert.equal(new Webhook(always.secret).sign(id, new Date(timestamp * 1000), body), signature)
    }
  })
})
