// Webhooks to receivers that misbehave: each event is delivered at least once, one attempt per entry of the schedule.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  type Behaviour,
  type FakeUpstream,
  hugePage,
  reset,
  startFakeUpstream,
  text,
} from '../../test/support/fake-upstream.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { systemActor } from '../audit/audit.ts'
import { createEventRules } from './delivery.ts'
import { emitEvents } from './emit.ts'
import { listAttempts, listDeliveries } from './store.ts'

/** A status line and then a byte now and then: the response never ends. */
const drip: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'text/plain' })
  const timer = setInterval(() => response.write('.'), 200)
  response.on('close', () => clearInterval(timer))
}

const halfHeader: Behaviour = (response) => {
  response.socket?.write('HTTP/1.1 200 OK\r\ncontent-le')
}

onEachEngine('webhooks to receivers that misbehave', (engine) => {
  let service: TestService
  let receiver: FakeUpstream
  const behaviours = new Map<string, Behaviour[]>()

  before(async () => {
    // The first entries of each list are used up; afterwards everything is accepted.
    receiver = await startFakeUpstream(({ path }) => behaviours.get(path)?.shift() ?? text(200, 'ok'))
    service = await startService(engine, {
      WEBHOOK_ALLOW_PRIVATE: 'on',
      WEBHOOK_RETRY_S: '0,0,300,3600,86400',
    })
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await receiver.close()
  })

  const db = () => service.installation.db
  const add = (account: TestAccount, path: string) =>
    createEventRules(service.app.services).webhooks.add(systemActor, account.id, {
      url: receiver.url + path.slice(1),
      events: [],
    })
  const emit = (account: TestAccount, count: number) =>
    db().write((tx) =>
      emitEvents(
        tx,
        Array.from({ length: count }, (_, n) => ({
          accountId: account.id,
          type: 'key.reset' as const,
          data: { n },
          alertKey: `key.reset ${n}`,
        })),
      ),
    )
  const latest = async (endpointId: number) =>
    (await listDeliveries(db(), endpointId, { before: undefined, limit: 1 }))[0]
  const countOf = async (endpointId: number, state: string) =>
    (await db().one<{ count: number }>(
      'SELECT COUNT(*) AS count FROM event_delivery WHERE endpoint_id = ? AND state = ?',
      [endpointId, state],
    ))!.count

  const cases: readonly { what: string; behaviour: Behaviour; errors: readonly (string | null)[] }[] = [
    { what: 'resets the connection', behaviour: reset(), errors: ['ECONNRESET', null] },
    { what: 'drips its response', behaviour: drip, errors: ['timeout', null] },
    { what: 'stops in the middle of a header', behaviour: halfHeader, errors: ['timeout', null] },
    { what: 'responds with 10 MB', behaviour: hugePage(10_000_000), errors: [null] },
  ]
  it('repeats after a failure, and reads no more of a response than it needs', async () => {
    const account = await service.account()
    const endpoints = await Promise.all(
      cases.map(async ({ behaviour }, number) => {
        behaviours.set(`/case-${number}`, [behaviour])
        return add(account, `/case-${number}`)
      }),
    )
    await emit(account, 1)
    for (const [number, { what, errors }] of cases.entries()) {
      const { id } = endpoints[number]!
      await until(async () => (await latest(id))?.state === 'delivered', 90_000)
      const delivery = (await latest(id))!
      assert.equal(delivery.attempts, errors.length, what)
      const attempts = await listAttempts(db(), delivery.id)
      assert.deepEqual(new Set(attempts.map(({ error }) => error)), new Set(errors), what)
      for (const { response } of attempts) assert.ok(response.length <= 1_000, what)
      const ids = receiver.requests.filter(({ path }) => path === `/case-${number}`)
      assert.equal(new Set(ids.map(({ headers }) => headers['webhook-id'])).size, 1, what)
    }
  })

  it('delivers 10,000 events to one endpoint, each once', { timeout: 240_000 }, async () => {
    const account = await service.account()
    const { id } = await add(account, '/many')
    for (let i = 0; i < 10; i += 1) await emit(account, 1_000)
    await until(async () => (await countOf(id, 'delivered')) === 10_000, 200_000)
    const sent = receiver.requests.filter(({ path }) => path === '/many')
    assert.equal(sent.length, 10_000)
    assert.equal(new Set(sent.map(({ headers }) => headers['webhook-id'])).size, 10_000)
  })
})
