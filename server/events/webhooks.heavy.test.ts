// Webhooks against a real receiver: signatures, retries, disabling, rotation, and what is written at all.
import assert from 'node:assert/strict'
import { after, afterEach, before, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  type FakeUpstream,
  type Handler,
  type RecordedRequest,
  startFakeUpstream,
  text,
} from '../../test/support/fake-upstream.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { eventRoutes, operatorEventRoutes } from '../../contract/console/events.ts'
import { viewAsParameter } from '../../contract/console/route.ts'
import { operator, signedIn } from '../../test/support/console.ts'
import { systemActor } from '../audit/audit.ts'
import type { Tx } from '../db/database.ts'
import { createEventRules } from './delivery.ts'
import { emitEvents } from './emit.ts'
import { findDelivery, findEndpoint, listAttempts, listDeliveries } from './store.ts'

onEachEngine('webhooks', (engine) => {
  let service: TestService
  let receiver: FakeUpstream
  const accept: Handler = () => text(200, 'ok')

  before(async () => {
    receiver = await startFakeUpstream(accept)
    service = await startService(engine, { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_RETRY_S: '0,0,86400' })
  })
  afterEach(() => receiver.handle(accept))
  after(async () => {
    await service[Symbol.asyncDispose]()
    await receiver.close()
  })

  const db = () => service.installation.db
  const rules = () => createEventRules(service.app.services).webhooks
  const add = async (account: TestAccount, path: string, events: readonly string[] = []) => {
    const { id, secret } = await rules().add(systemActor, account.id, { url: receiver.url + path, events })
    return { id, secret, endpoint: (await findEndpoint(db(), id))! }
  }
  const emit = (account: TestAccount, type: 'key.reset' | 'credits.empty', data = {}) =>
    db().write((tx) => emitEvents(tx, [{ accountId: account.id, type, data }]))
  const sentTo = (path: string): readonly RecordedRequest[] =>
    receiver.requests.filter((request) => request.path === `/${path}`)
  const stateOf = async (id: number) => (await findDelivery(db(), id))?.state
  const latest = async (endpointId: number) =>
    (await listDeliveries(db(), endpointId, { before: undefined, limit: 1 }))[0]

  it('delivers an event with a signature that the reference package accepts', async () => {
    const account = await service.account()
    const { id, secret } = await add(account, 'signed', ['key.reset'])
    await emit(account, 'key.reset', { key_hint: 'tg_abc' })
    await until(async () => (await latest(id))?.state === 'delivered')
    const [request, ...rest] = sentTo('signed')
    assert.equal(rest.length, 0)
    const body = new Webhook(secret).verify(request!.body, request!.headers) as Record<string, unknown>
    assert.deepEqual([body['type'], body['data']], ['key.reset', { key_hint: 'tg_abc' }])
    assert.match(String(body['timestamp']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/)
    assert.match(request!.headers['webhook-id']!, /^evt_[0-9a-f]{32}$/)
  })

  it('158 an account asks for twenty tests and repeated deliveries a minute', async () => {
    const account = await service.account()
    const { id } = await add(account, 'by-hand')
    const browser = await signedIn(service, account)
    const first = await browser.call(eventRoutes.testWebhook, { parts: { id } })
    const delivery = (first.body as { delivery: number }).delivery
    const statuses: number[] = []
    for (let index = 0; index < 20; index += 1) {
      const reply =
        index % 2 === 0
          ? await browser.call(eventRoutes.testWebhook, { parts: { id } })
          : await browser.call(eventRoutes.resendDelivery, { parts: { id: delivery } })
      statuses.push(reply.status)
    }
    assert.deepEqual(statuses, [...Array.from({ length: 19 }, () => 200), 429])
  })

  it('writes nothing for types that no endpoint receives, and nothing for other accounts', async () => {
    const account = await service.account()
    const other = await service.account()
    const { id } = await add(account, 'filtered', ['key.reset'])
    await emit(account, 'credits.empty')
    await emit(other, 'key.reset')
    const rows = await db().all<{ id: number }>('SELECT id FROM event WHERE account_id IN (?, ?)', [
      account.id,
      other.id,
    ])
    assert.deepEqual(rows, [])
    assert.equal(await latest(id), undefined)
  })

  it('writes many events of one type with few statements', async () => {
    const account = await service.account()
    await add(account, 'batch', ['sms.sent'])
    let statements = 0
    await db().write(async (tx) => {
      const counted: Tx = {
        ...tx,
        run: (...args) => ((statements += 1), tx.run(...args)),
        insert: (...args) => ((statements += 1), tx.insert(...args)),
        all: (...args) => ((statements += 1), tx.all(...args)),
      }
      const events = Array.from({ length: 300 }, (_, n) => ({
        accountId: account.id,
        type: 'sms.sent' as const,
        data: { n },
      }))
      await emitEvents(counted, events)
    })
    assert.ok(statements < 20, `${statements} statements`)
    await until(() => sentTo('batch').length === 300)
  })

  it('writes nothing when the transaction of the change is rolled back', async () => {
    const account = await service.account()
    const { id } = await add(account, 'rolled-back')
    await assert.rejects(
      db().write(async (tx) => {
        await emitEvents(tx, [{ accountId: account.id, type: 'key.reset', data: {} }])
        throw new Error('the change failed')
      }),
    )
    assert.equal(await latest(id), undefined)
  })

  it('repeats with the same ID and body and a new signature until a response is 2xx', async () => {
    const account = await service.account()
    const { id, secret } = await add(account, 'repeated')
    receiver.handle(() => text(sentTo('repeated').length < 3 ? 500 : 204, ''))
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.state === 'delivered')
    const requests = sentTo('repeated')
    assert.equal(requests.length, 3)
    assert.equal(new Set(requests.map(({ headers, body }) => headers['webhook-id'] + body)).size, 1)
    for (const { body, headers } of requests) new Webhook(secret).verify(body, headers)
    const attempts = await listAttempts(db(), (await latest(id))!.id)
    assert.deepEqual(
      attempts.map(({ status }) => status),
      [204, 500, 500],
    )
  })

  it('counts redirects as failures and waits as the schedule says', async () => {
    const account = await service.account()
    const { id } = await add(account, 'redirected')
    receiver.handle(() => text(302, '', { location: `${receiver.url}elsewhere` }))
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.attempts === 3)
    const delivery = (await latest(id))!
    assert.deepEqual(
      [delivery.state, delivery.last_status, delivery.last_error],
      ['pending', 302, 'redirect'],
    )
    assert.ok(delivery.due_at - delivery.created_at >= 86_400_000)
    assert.equal(sentTo('elsewhere').length, 0)
  })

  it('gives up after the last wait, and sends again on request with the same ID', async () => {
    const account = await service.account()
    const { id } = await add(account, 'given-up')
    receiver.handle(() => text(500, 'x'.repeat(5_000)))
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.attempts === 3)
    await db().write((tx) => tx.run('UPDATE event_delivery SET due_at = 0 WHERE endpoint_id = ?', [id]))
    await until(async () => (await latest(id))?.state === 'failed')
    const delivery = (await latest(id))!
    assert.equal(delivery.attempts, 4)
    const [attempt] = await listAttempts(db(), delivery.id)
    assert.equal(attempt!.response.length, 1_000)
    receiver.handle(accept)
    await rules().resend(systemActor, delivery.id)
    await until(async () => (await stateOf(delivery.id)) === 'delivered')
    assert.equal(new Set(sentTo('given-up').map(({ headers }) => headers['webhook-id'])).size, 1)
  })

  it('sends again what failed since a time, and nothing older', async () => {
    const account = await service.account()
    const { id, endpoint } = await add(account, 'again')
    for (let i = 0; i < 3; i += 1) await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.state === 'delivered' && sentTo('again').length === 3)
    const rows = await listDeliveries(db(), id, { before: undefined, limit: 10 })
    await db().write(async (tx) => {
      await tx.run(`UPDATE event_delivery SET state = 'failed' WHERE endpoint_id = ?`, [id])
      await tx.run('UPDATE event_delivery SET created_at = 1 WHERE id = ?', [rows.at(-1)!.id])
    })
    assert.equal(await rules().resendFailed(systemActor, endpoint, rows.at(-1)!.created_at - 1_000), 2)
    await until(() => sentTo('again').length === 5)
    assert.equal(await stateOf(rows.at(-1)!.id), 'failed')
  })

  it('honours Retry-After and sends nothing else to the endpoint before', async () => {
    const account = await service.account()
    const { id } = await add(account, 'throttled')
    receiver.handle(() => text(429, '', { 'retry-after': '3600' }))
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.attempts === 1)
    const delivery = (await latest(id))!
    assert.ok(delivery.due_at - delivery.created_at >= 3_600_000)
    const endpoint = (await findEndpoint(db(), id))!
    assert.ok(endpoint.paused_until > delivery.created_at)
    assert.equal(endpoint.lease_until, 0)
  })

  it('starts again with a new URL, whatever the receiver at the old one has asked for', async () => {
    const account = await service.account()
    const { id, endpoint } = await add(account, 'moved-away')
    receiver.handle(({ path }) => text(path === '/moved-away' ? 503 : 200, '', { 'retry-after': '86400' }))
    await db().write((tx) =>
      tx.run(`UPDATE event_endpoint SET failing_since = ${tx.now} - 400000000 WHERE id = ?`, [id]),
    )
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.attempts === 1)
    await rules().update(systemActor, endpoint, { url: endpoint.url, events: ['key.reset'] })
    assert.ok((await findEndpoint(db(), id))!.paused_until > 0, 'the same receiver')
    await rules().update(systemActor, endpoint, { url: `${receiver.url}moved-here`, events: [] })
    assert.equal((await findEndpoint(db(), id))!.failing_since, null)
    await rules().test((await findEndpoint(db(), id))!)
    await until(() => sentTo('moved-here').length === 1)

    await rules().update(systemActor, endpoint, { url: `${receiver.url}moved-away`, events: [] })
    await rules().test((await findEndpoint(db(), id))!)
    await until(() => sentTo('moved-away').length === 2)
    receiver.handle(accept)
    await rules().setState(systemActor, (await findEndpoint(db(), id))!, 'disabled')
    await rules().setState(systemActor, (await findEndpoint(db(), id))!, 'active')
    await rules().test((await findEndpoint(db(), id))!)
    await until(() => sentTo('moved-away').length === 3)
  })

  it('is disabled by 410, and the other endpoints of the account are told', async () => {
    const account = await service.account()
    const gone = await add(account, 'gone')
    await add(account, 'other', ['webhook.disabled'])
    receiver.handle((request) => text(request.path === '/gone' ? 410 : 200, ''))
    await emit(account, 'key.reset')
    await until(() => sentTo('other').length === 1)
    const endpoint = (await findEndpoint(db(), gone.id))!
    assert.deepEqual([endpoint.state, endpoint.disabled_reason], ['disabled', 'gone'])
    const body = JSON.parse(sentTo('other')[0]!.body) as { data: unknown }
    assert.deepEqual(body.data, { webhook_id: gone.id, url: `${receiver.url}gone`, reason: 'gone' })
    await emit(account, 'key.reset')
    assert.equal((await listDeliveries(db(), gone.id, { before: undefined, limit: 10 })).length, 1)
  })

  it('is disabled after five days of failure, and continues when it is enabled again', async () => {
    const account = await service.account()
    const { id } = await add(account, 'failing')
    receiver.handle(() => text(500, ''))
    await db().write((tx) =>
      tx.run(`UPDATE event_endpoint SET failing_since = ${tx.now} - 432000001 WHERE id = ?`, [id]),
    )
    await emit(account, 'key.reset')
    await until(async () => (await findEndpoint(db(), id))?.state === 'disabled')
    assert.equal((await latest(id))?.state, 'pending')
    receiver.handle(accept)
    await rules().setState(systemActor, (await findEndpoint(db(), id))!, 'active')
    await db().write((tx) => tx.run('UPDATE event_delivery SET due_at = 0 WHERE endpoint_id = ?', [id]))
    await until(async () => (await latest(id))?.state === 'delivered')
  })

  it('signs with both secrets for a day after a rotation', async () => {
    const account = await service.account()
    const { id, secret, endpoint } = await add(account, 'rotated')
    const next = await rules().rotate(systemActor, endpoint)
    await rules().test((await findEndpoint(db(), id))!)
    await until(() => sentTo('rotated').length === 1)
    const [{ body, headers }] = sentTo('rotated') as [RecordedRequest]
    for (const one of [secret, next]) new Webhook(one).verify(body, headers)
    await db().write((tx) => tx.run('UPDATE event_endpoint SET previous_until = 1 WHERE id = ?', [id]))
    await rules().test((await findEndpoint(db(), id))!)
    await until(() => sentTo('rotated').length === 2)
    const last = sentTo('rotated')[1]!
    new Webhook(next).verify(last.body, last.headers)
    assert.throws(() => new Webhook(secret).verify(last.body, last.headers))
  })

  it('operators see the state of all webhooks, read the deliveries of an account, and send again', async () => {
    const account = await service.account()
    const browser = await operator(service)
    receiver.handle(() => text(500, 'call 13800138000'))
    const { id } = await add(account, 'watched', ['key.reset'])
    await emit(account, 'key.reset', { phone_number: '13800138000', sender: '+8613900139000' })
    await until(async () => ((await latest(id))?.attempts ?? 0) >= 3)
    const health = (await browser.call(operatorEventRoutes.health)).body
    assert.ok(health.attempts_hour >= 3 && health.failed_hour >= 3 && health.failing >= 1)
    const troubled = health.troubled.find((one: { id: number }) => one.id === id)
    assert.deepEqual([troubled.username, troubled.account_id], [account.username, account.id])
    const listed = (await browser.call(operatorEventRoutes.webhooks, { parts: { id: account.id } })).body
    assert.deepEqual([listed.username, listed.items[0].id], [account.username, id])
    const { items } = (await browser.call(operatorEventRoutes.deliveries, { parts: { id } })).body
    const parts = { id: items[0].id }
    const detail = (await browser.call(operatorEventRoutes.delivery, { parts })).body
    const query = { [viewAsParameter]: account.id }
    const viewed = (await browser.call(eventRoutes.delivery, { parts, query })).body
    for (const { body, attempt_list: attempts } of [detail, viewed]) {
      assert.match(body, /"138\*{4}8000".*"\+86139\*{4}9000"/)
      assert.equal(attempts[0].response, 'call 138****8000')
    }
    const own = await signedIn(service, account)
    assert.match((await own.call(eventRoutes.delivery, { parts })).body.body, /"13800138000"/)
    receiver.handle(accept)
    const noteless = await browser.call(operatorEventRoutes.resendDelivery, { parts, sent: {} })
    assert.deepEqual(Object.keys(noteless.body.error.fields), ['note'])
    const sent = { note: '客户要求' }
    assert.equal((await browser.call(operatorEventRoutes.resendDelivery, { parts, sent })).status, 200)
    await until(async () => (await stateOf(items[0].id)) === 'delivered')
    const alert = await browser.call(operatorEventRoutes.deliveries, { parts: { id: 999_999 } })
    assert.equal(alert.status, 404)
  })

  it('operators do not see the tokens in a URL', async () => {
    const account = await service.account()
    const own = await signedIn(service, account)
    const browser = await operator(service)
    const url = `${receiver.url}hooks/t4711?key=k4711`
    receiver.handle(({ path }) => text(path === '/gone' ? 410 : 500, ''))
    const { id } = await add(account, 'hooks/t4711?key=k4711')
    await add(account, 'gone', ['key.reset'])
    await rules().test((await findEndpoint(db(), id))!)
    await emit(account, 'key.reset')
    await until(async () => (await latest(id))?.type === 'webhook.disabled')
    const parts = { id: (await latest(id))!.id }
    const query = { [viewAsParameter]: account.id }
    const seen = [
      await browser.call(operatorEventRoutes.webhooks, { parts: { id: account.id } }),
      await browser.call(operatorEventRoutes.delivery, { parts }),
      await browser.call(eventRoutes.webhooks, { query }),
      await browser.call(eventRoutes.delivery, { parts, query }),
    ].map(({ body }) => JSON.stringify(body))
    for (const body of seen) {
      assert.ok(body.includes(`"${receiver.url}hooks/••••••?••••••"`), body)
      assert.doesNotMatch(body, /4711|\/gone/)
    }
    const troubled = (await browser.call(operatorEventRoutes.health)).body
    assert.doesNotMatch(JSON.stringify(troubled), /4711|\/gone/)
    assert.equal((await own.call(eventRoutes.delivery, { parts })).body.url, url)
    assert.match((await own.call(eventRoutes.delivery, { parts })).body.body, /\/gone/)
  })

  it('stores no secret in clear text', async () => {
    const account = await service.account()
    const { secret, endpoint } = await add(account, 'secret')
    assert.ok(!endpoint.secret!.includes(secret.slice(6, 30)))
  })

  it('does not let a receiver that hangs delay others', async () => {
    const account = await service.account()
    const { id } = await add(account, 'hangs', ['credits.empty'])
    const quick = await add(account, 'quick', ['key.reset'])
    receiver.handle((request) => (request.path === '/hangs' ? () => undefined : text(200, '')))
    for (let i = 0; i < 40; i += 1) await emit(account, 'credits.empty')
    await until(() => sentTo('hangs').length > 0)
    await emit(account, 'key.reset')
    await until(async () => (await latest(quick.id))?.state === 'delivered')
    assert.equal((await latest(id))?.state, 'pending')
    await rules().remove(systemActor, (await findEndpoint(db(), id))!)
  })

  it('rejects URLs and types that cannot work', async () => {
    const account = await service.account()
    const config = { ...service.app.services.config, WEBHOOK_ALLOW_PRIVATE: 'off' } as const
    const strict = createEventRules({ ...service.app.services, config }).webhooks
    const addStrict = (url: string, events: readonly string[] = []) =>
      strict.add(systemActor, account.id, { url, events })
    for (const url of [
      ...['', 'x', '/path', 'ftp://example.com/', 'http://user:pass@example.com/', 'http://localhost/'],
      ...[
        'http://127.0.0.1/',
        'http://2130706433/',
        'http://[::1]/',
        'http://10.0.0.1:8080/',
        'http://a.localhost/',
        'http://localhost./',
      ],
      `https://example.com/${'x'.repeat(2_048)}`,
    ])
      await assert.rejects(addStrict(url), /url/, url)
    await assert.rejects(addStrict('https://example.com/', ['sms.unknown']), /sms\.unknown/)
    await addStrict('https://example.com/')
  })

  it('limits the endpoints of an account, also when they are added at once', async () => {
    const account = await service.account()
    const results = await Promise.allSettled(Array.from({ length: 25 }, (_, i) => add(account, `many-${i}`)))
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 20)
  })
})
