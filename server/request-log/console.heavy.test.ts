// The request log: stored data, access, search, and that it never fails a call.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { homeRoutes } from '../../contract/console/home.ts'
import { requestRoutes, searchRoutes } from '../../contract/console/requests.ts'
import { formatDay } from '../../contract/time.ts'
import { type Browser, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import {
  get,
  post,
  type Reply,
  startService,
  type TestAccount,
  type TestService,
} from '../../test/support/service.ts'

const phone = '13912345678'
const idcard = '11010519491231002X'

onEachEngine('request log', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser
  let credits: Reply
  let logs: Reply
  let person: Reply
  let wrong: Reply

  before(async () => {
    service = await startService(engine)
    account = await service.account({ sms: 10 })
    browser = await signedIn(service, account)
    const { url } = service
    const { username, key } = account
    credits = await get(`${url}/api/sms_api.php?action=get_credits&api_key=${key}`, { username })
    logs = await post(
      `${url}/api/sms_api.php?action=get_logs`,
      { username, phone_number: phone, biz_id: '202611150000000001', start_date: '2026-01-01' },
      { 'api-key': key },
    )
    person = await post(`${url}/api/id_verification_api.php`, {
      api_key: key,
      name: '欧阳\r\n\u001b[31m娜娜',
      idcard,
    })
    wrong = await get(`${url}/api/sms_api.php?action=no_such&api_key=${key}&username=${username}`)
    // A call without an account appears in no request log.
    await get(`${url}/api/sms_api.php?action=get_credits&api_key=x&username=${username}`)
    await service.app.requestLog.flush()
  })
  after(() => service[Symbol.asyncDispose]())

  const idOf = (reply: Reply) => reply.headers.get('x-request-id')!
  const list = async (sent = {}, client = browser) => (await client.call(requestRoutes.list, { sent })).body
  const getRequest = async (id: string, client = browser) => client.call(requestRoutes.one, { parts: { id } })

  it('lists the account’s calls, newest first', async () => {
    const { items, next, newest, kept_days } = await list()
    assert.deepEqual(
      items.map((call: { request_id: string }) => call.request_id),
      [wrong, person, logs, credits].map(idOf),
    )
    assert.equal(next, null)
    assert.equal(newest, items[0].id)
    assert.equal(kept_days, 30)
    assert.equal(items[3].ok, true)
    assert.equal(items[3].code, 0)
    assert.equal(items[3].action, 'credits')
    assert.equal(items[0].code, 1002)
    assert.equal(items[0].message, '无效的操作类型')
    assert.ok(items[0].duration_ms > 0)
  })

  it('shows a call with its parameters, their sources, its response and its steps', async () => {
    const { body } = await getRequest(idOf(credits))
    assert.deepEqual(
      body.parameters.map((each: { name: string; source: string; value: unknown }) => [
        each.name,
        each.source,
        each.value,
      ]),
      [
        ['username', 'header', account.username],
        ['api_key', 'query', '••••••'],
        ['action', 'query', 'get_credits'],
      ],
    )
    assert.equal(body.answer.data.remaining, 10)
    assert.equal(body.steps[0].name, 'checked')
    assert.equal(body.address, '127.0.0.1')
    assert.equal(body.idempotency_key, false)
  })

  it('masks personal data and keys in responses and in the database', async () => {
    const shown = JSON.stringify((await getRequest(idOf(person))).body)
    assert.ok(shown.includes('"欧*"'))
    assert.ok(shown.includes('110105********002X'))
    assert.ok(JSON.stringify((await getRequest(idOf(logs))).body).includes('139****5678'))
    const { db } = service.installation
    const dump = JSON.stringify([
      await db.all('SELECT * FROM request_log'),
      await db.all('SELECT * FROM request_term'),
    ])
    for (const secret of [account.key, '娜娜', '欧阳', idcard, phone, '1231002', '\u001b[']) {
      assert.ok(!dump.includes(secret), secret)
      assert.ok(!service.logged.join('').includes(secret), secret)
    }
    assert.ok(service.logged.every((line) => line.trimEnd().split('\n').length === 1))
  })

  it('finds by request id, phone number and serial number', async () => {
    for (const q of [idOf(logs), idOf(logs).toUpperCase(), phone, ` ${phone} `, '202611150000000001']) {
      const { items } = await list({ q })
      assert.deepEqual(
        items.map((call: { request_id: string }) => call.request_id),
        [idOf(logs)],
        q,
      )
    }
    assert.equal((await list({ q: '13900000000' })).items.length, 0)
    const { items } = (await browser.call(searchRoutes.search, { sent: { q: phone } })).body
    assert.deepEqual(
      items.map((hit: { kind: string; id: string }) => [hit.kind, hit.id]),
      [['request', idOf(logs)]],
    )
  })

  it('finds and shows a call whose request id was chosen by a proxy', async () => {
    await using behind = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1' })
    const caller = await behind.account()
    const own = await signedIn(behind, caller)
    for (const id of ['7F000001_C1A2_7F000001_0BB8_0042', '3F2504E0-4F89-41D3-9A0C-0305E82C3301']) {
      const headers = { api_key: caller.key, username: caller.username, 'x-request-id': id }
      await get(`${behind.url}/api/sms_api.php?action=get_credits`, headers)
      await behind.app.requestLog.flush()
      const { body } = await own.call(requestRoutes.list, { sent: { q: id } })
      assert.deepEqual(
        body.items.map(({ request_id }: { request_id: string }) => request_id),
        [id],
      )
      assert.equal((await own.call(requestRoutes.one, { parts: { id } })).body.request_id, id)
    }
  })

  it('finds calls that version 1.0.0 recorded', async () => {
    const { db } = service.installation
    const [term, former] = service.app.requestLog.termsFor(phone)
    const move = (from: string, to: string) =>
      db.write((tx) => tx.run('UPDATE request_term SET term = ? WHERE term = ?', [to, from]))
    assert.equal(await move(term!, former!), 1)
    assert.deepEqual(
      (await list({ q: phone })).items.map((call: { request_id: string }) => call.request_id),
      [idOf(logs)],
    )
    assert.equal(await move(former!, term!), 1)
  })

  it('filters by endpoint, action, outcome, code and day', async () => {
    const count = async (sent: object) => (await list(sent)).items.length
    assert.equal(await count({ endpoint: 'sms' }), 3)
    assert.equal(await count({ endpoint: 'sms', action: 'credits' }), 1)
    assert.equal(
      await count({ outcome: 'ok' }),
      (await list()).items.filter((call: { ok: boolean }) => call.ok).length,
    )
    assert.ok((await count({ outcome: 'error' })) >= 2)
    assert.equal(await count({ code: 1002, endpoint: 'sms' }), 1)
    const today = formatDay(Date.now())
    assert.equal(await count({ from: today, to: today }), 4)
    assert.equal(await count({ to: '2020-01-01' }), 0)
    assert.equal((await browser.call(requestRoutes.list, { sent: { endpoint: 'gold' } })).status, 400)
  })

  it('pages backward, and forward for the live list', async () => {
    const first = await list({ size: 3 })
    const rest = await list({ size: 3, before: first.next })
    assert.equal(first.items.length + rest.items.length, 4)
    assert.equal(rest.next, null)
    const live = await list({ after: first.items[1].id })
    assert.deepEqual(live.items, [first.items[0]])
    assert.deepEqual((await list({ after: first.newest })).items, [])
  })

  it('returns 404 for the calls of another account', async () => {
    const otherBrowser = await signedIn(service, await service.account())
    for (const sent of [{}, { q: phone }, { q: idOf(logs) }, { account_id: account.id }]) {
      assert.deepEqual((await list(sent, otherBrowser)).items, [])
    }
    const foreign = await getRequest(idOf(logs), otherBrowser)
    const missing = await getRequest('00000000-0000-4000-8000-000000000000', otherBrowser)
    assert.equal(foreign.status, 404)
    delete foreign.body.error.request_id
    delete missing.body.error.request_id
    assert.deepEqual(foreign.body, missing.body)
    const { text } = await otherBrowser.text(requestRoutes.csv)
    assert.equal(text.trimEnd().split('\r\n').length, 1)
    assert.deepEqual(
      (await otherBrowser.call(searchRoutes.search, { sent: { q: account.username } })).body.items,
      [],
    )
  })

  it('exports the filtered calls', async () => {
    const { text, headers } = await browser.text(requestRoutes.csv, { sent: { endpoint: 'sms' } })
    assert.match(headers.get('content-disposition') ?? '', /requests-/)
    assert.equal(text.trimEnd().split('\r\n').length, 4)
    assert.ok(!text.includes(phone))
  })

  it('counts for the home page', async () => {
    const { body } = await browser.call(homeRoutes.home)
    const today = body.days.at(-1)
    assert.equal(today.total, 4)
    assert.equal(today.calls.sms, 3)
    assert.equal(today.calls.identity, 1)
    assert.equal(body.checklist.has_call, true)
    const missing = body.errors.find(
      (each: { endpoint: string; code: number }) => each.endpoint === 'sms' && each.code === 1002,
    )
    assert.equal(missing.count, 1)
    assert.ok(missing.advice.length > 0)
  })
})

onEachEngine('recording calls', (engine) => {
  const call = (service: TestService, account: TestAccount) =>
    get(`${service.url}/api/sms_api.php?action=get_credits&username=${account.username}`, {
      api_key: account.key,
    })

  it('writes the queue when the service stops', async () => {
    const first = await startService(engine)
    const account = await first.account()
    await call(first, account)
    await first.app.stop()
    const rows = await first.installation.db.all('SELECT 1 FROM request_log')
    await first.installation.close()
    await first.storage.remove()
    assert.equal(rows.length, 1)
  })

  it('deletes old calls, and records none with a setting of 0', async () => {
    await using service = await startService(engine, { REQUEST_LOG_DAYS: '2' })
    const { db } = service.installation
    const account = await service.account()
    await call(service, account)
    await post(
      `${service.url}/api/sms_api.php`,
      { action: 'get_logs', username: account.username, phone_number: phone },
      { api_key: account.key },
    )
    await service.app.requestLog.flush()
    await service.app.requestLog.prune()
    assert.equal((await db.all('SELECT 1 FROM request_log')).length, 2)
    for (const table of ['request_log', 'request_term']) {
      await db.write((tx) => tx.run(`UPDATE ${table} SET at = at - 172800001`))
    }
    await service.app.requestLog.prune()
    assert.equal((await db.all('SELECT 1 FROM request_log')).length, 0)
    assert.equal((await db.all('SELECT 1 FROM request_term')).length, 0)
    assert.equal((await db.all('SELECT 1 FROM call_day')).length > 0, true, 'the counts stay')

    await using silent = await startService(engine, { REQUEST_LOG_DAYS: '0' })
    await call(silent, await silent.account())
    await silent.app.requestLog.flush()
    assert.equal((await silent.installation.db.all('SELECT 1 FROM request_log')).length, 0)
  })

  it('fails no call and loses no count when the log cannot be written', async () => {
    await using service = await startService(engine)
    const { db } = service.installation
    const account = await service.account()
    await db.write((tx) => tx.run('ALTER TABLE request_log RENAME TO request_log_away'))
    assert.equal((await call(service, account)).body.code, 0)
    // The background may have tried first: then this call has nothing to write.
    await service.app.requestLog.flush().catch(() => undefined)
    assert.ok(service.app.requestLog.stats.dropped > 0)
    assert.equal((await call(service, account)).body.code, 0)
    await db.write((tx) => tx.run('ALTER TABLE request_log_away RENAME TO request_log'))
    await service.app.requestLog.flush()
    const row = await db.one<{ calls: number }>(
      'SELECT SUM(calls) AS calls FROM call_day WHERE account_id = ?',
      [account.id],
    )
    assert.equal(row?.calls, 2)
  })

  it('records every one of many concurrent calls', async () => {
    await using service = await startService(engine)
    const account = await service.account()
    await Promise.all(Array.from({ length: 120 }, () => call(service, account)))
    await service.app.requestLog.flush()
    const row = await service.installation.db.one<{ count: number; ids: number }>(
      'SELECT COUNT(*) AS count, COUNT(DISTINCT request_id) AS ids FROM request_log',
    )
    assert.deepEqual({ ...row }, { count: 120, ids: 120 })
  })
})
