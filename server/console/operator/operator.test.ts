// Operator pages: accounts, credits, audit log, settings, overview.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { creditRoutes } from '../../../contract/console/credits.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { requestRoutes, searchRoutes } from '../../../contract/console/requests.ts'
import { smsRoutes } from '../../../contract/console/sms.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import {
  type Browser,
  createBrowser,
  operator,
  signedIn,
  testPassword,
} from '../../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { admin, get, startService, type TestService } from '../../../test/support/service.ts'
import { checkLedger } from '../../credits/ledger/check-store.ts'

onEachEngine('the operator', (engine) => {
  let service: TestService
  let operatorBrowser: Browser & { readonly username: string }

  before(async () => {
    service = await startService(engine, {
      ALIYUN_ACCESS_KEY_SECRET: 'seeded-vendor-secret',
      SMS_HTTP_URL: 'https://user:seeded-password@gateway.test/send',
      RATE_LIMIT: '50,70',
    })
    operatorBrowser = await operator(service)
  })
  after(async () => {
    assert.deepEqual((await checkLedger(service.installation.db, 60_000)).problems, [])
    await service[Symbol.asyncDispose]()
  })

  const note = '客户来电'
  const change = (id: number, sent: object) =>
    operatorBrowser.call(operatorRoutes.changeAccount, { parts: { id }, sent: { note, ...sent } })
  const audit = async (sent: object) =>
    (await operatorBrowser.call(operatorRoutes.audit, { sent: { ...sent } })).body.items

  it('keeps contact data and notes of an account, which its holder cannot read', async () => {
    const holder = await service.account()
    const parts = { id: holder.id }
    const contact = { company: '云帆商城', name: '李经理', phone: '010-12345678', mail: 'li@example.com' }
    const saved = await operatorBrowser.call(operatorRoutes.changeContact, { parts, sent: contact })
    assert.deepEqual(saved.body, { contact, notes: [] })
    const partly = { company: '云帆商城', name: '', phone: '', mail: '' }
    const changed = await operatorBrowser.call(operatorRoutes.changeContact, { parts, sent: partly })
    assert.deepEqual(changed.body, { contact: partly, notes: [] })
    await operatorBrowser.call(operatorRoutes.addNote, { parts, sent: { note: '第一次来电' } })
    const { body } = await operatorBrowser.call(operatorRoutes.addNote, { parts, sent: { note: '续约' } })
    assert.deepEqual(
      body.notes.map((one: { note: string; author: string }) => [one.note, one.author]),
      [
        ['续约', operatorBrowser.username],
        ['第一次来电', operatorBrowser.username],
      ],
    )
    const target = holder.username
    const noted = await audit({ target, action: 'account.note' })
    assert.equal(noted.length, 2)
    assert.doesNotMatch(JSON.stringify(noted), /第一次来电|续约/)
    assert.ok(!JSON.stringify(await audit({ target, action: 'account.contact' })).includes(contact.phone))
    const browser = await signedIn(service, holder)
    assert.equal((await browser.call(operatorRoutes.file, { parts })).status, 403)
  })

  it('counts what waits for an operator', async () => {
    const earlier = (await operatorBrowser.call(operatorRoutes.waiting)).body
    const browser = await signedIn(service, await service.account())
    await browser.call(smsRoutes.createTemplate, { sent: { name: '通知', content: '您好' } })
    const { body } = await operatorBrowser.call(operatorRoutes.waiting)
    assert.deepEqual([body.reviews - earlier.reviews, body.blocked_domains], [1, []])
  })

  it('creates an account with credits and a working password', async () => {
    const username = uniqueName()
    const sent = {
      username,
      expires_on: '2030-12-31',
      credits: { sms: 100, short_link: 5, gold: 9 },
      note,
      role: 'operator',
      suspended: true,
      id: 1,
    }
    const { status, body } = await operatorBrowser.call(operatorRoutes.createAccount, { sent })
    assert.equal(status, 200)
    assert.equal(body.account.role, 'account')
    assert.equal(body.account.suspended, false)
    assert.equal(body.account.expires_on, '2030-12-31')
    assert.deepEqual(
      body.account.balances.map((one: { remaining: number }) => one.remaining),
      [5, 100, 0, 0],
    )
    assert.deepEqual(body.account.platform_rate_limit, { per_second: 50, burst: 70 })
    assert.equal((await createBrowser(service).signIn(username, body.password)).status, 200)
    const [entry] = await audit({ target: username })
    assert.equal(entry.actor, operatorBrowser.username)
    assert.equal(entry.action, 'account.create')
    assert.equal(entry.note, note)
    assert.deepEqual(entry.details, { expires_on: '2030-12-31', short_link: 5, sms: 100 })
    assert.ok(!JSON.stringify(await audit({})).includes(body.password))
    const repeated = await operatorBrowser.call(operatorRoutes.createAccount, { sent })
    assert.deepEqual(repeated.body.error.fields, { username: '用户名已被使用' })
  })

  it('reports the wrong fields of a new account', async () => {
    const wrong = async (sent: object) =>
      Object.keys(
        (
          await operatorBrowser.call(operatorRoutes.createAccount, {
            sent: { username: uniqueName(), note, ...sent },
          })
        ).body.error.fields,
      )
    assert.deepEqual(await wrong({ username: '' }), ['username'])
    assert.deepEqual(await wrong({ username: 'a b' }), ['username'])
    assert.deepEqual(await wrong({ password: '12345678' }), ['password'])
    assert.deepEqual(await wrong({ expires_on: '2030-02-30' }), ['expires_on'])
    assert.deepEqual(await wrong({ credits: { sms: 0 } }), ['credits'])
    assert.deepEqual(await wrong({ credits: { sms: 2 ** 53 } }), ['credits'])
    assert.deepEqual(await wrong({ note: '' }), ['note'])
    assert.deepEqual(await wrong({ note: 'x'.repeat(201), password: 5 }), ['password', 'note'])
  })

  it('finds accounts by name, id and state, sorted and by page', async () => {
    const account = await service.account({ sms: 3 })
    const find = async (sent: object) =>
      (await operatorBrowser.call(operatorRoutes.accounts, { sent: { ...sent } })).body
    const byName = await find({ q: account.username.slice(1, 9).toUpperCase() })
    assert.equal(byName.items[0].id, account.id)
    assert.equal(byName.items[0].balances[1].remaining, 3)
    assert.ok(
      (await find({ q: String(account.id) })).items.some((one: { id: number }) => one.id === account.id),
    )
    assert.equal((await find({ q: '%' })).total, 0)
    await change(account.id, { suspended: true })
    assert.ok((await find({ state: 'suspended' })).items.some((one: { id: number }) => one.id === account.id))
    assert.ok(
      (await find({ state: 'operator' })).items.every((one: { role: string }) => one.role === 'operator'),
    )
    const names = (await find({ sort: 'username', order: 'asc', size: 3 })).items
    assert.deepEqual(
      names.map((one: { username: string }) => one.username),
      names.map((one: { username: string }) => one.username).toSorted(),
    )
    assert.equal((await find({ size: 1, page: 2 })).items.length, 1)
    assert.ok(!JSON.stringify(byName).includes('hash'))
  })

  it('changes expiry, suspension, rate limit and SMS, each with an audit entry', async () => {
    const account = await service.account({ sms: 5 })
    const holderBrowser = await signedIn(service, account)
    const use = () =>
      get(`${service.url}/api/sms_api.php?action=get_credits&username=${account.username}`, {
        api_key: account.key,
      })
    const changed = await change(account.id, {
      expires_on: '2020-01-01',
      sms_enabled: false,
      sign_name: '某某科技',
      rate_limit: { per_second: 3, burst: 1, tier: 'gold' },
      role: 'operator',
      remaining: 1_000,
      username: 'root',
    })
    assert.equal(changed.status, 200)
    const { body } = changed
    assert.deepEqual(
      [body.expired, body.sms_enabled, body.sign_name, body.rate_limit, body.role, body.username],
      [true, false, '某某科技', { per_second: 3, burst: 1 }, 'account', account.username],
    )
    assert.equal(body.balances[1].remaining, 5)
    const limited = await service.account()
    await change(limited.id, { rate_limit: { per_second: 3, burst: 12 } })
    const reply = await get(
      `${service.url}/api/sms_api.php?action=get_credits&username=${limited.username}`,
      {
        api_key: limited.key,
      },
    )
    assert.equal(reply.headers.get('ratelimit-policy'), '"account";q=12;w=4', 'its own limit holds at once')
    assert.equal((await holderBrowser.call(sessionRoutes.me)).body.account.expired, true)

    await change(account.id, { expires_on: null, rate_limit: null, sign_name: null })
    assert.equal(
      (await operatorBrowser.call(operatorRoutes.account, { parts: { id: account.id } })).body.rate_limit,
      null,
    )
    await change(account.id, { suspended: true })
    assert.equal((await use()).status, 403)
    assert.equal((await holderBrowser.call(sessionRoutes.me)).status, 401, 'its sessions ended')
    await change(account.id, { suspended: false })
    assert.equal((await use()).status, 200)
    const entries = await audit({ target: account.username })
    assert.equal(entries.length, 4)
    assert.deepEqual(entries[3].details, {
      expires_on: '2020-01-01',
      sms_enabled: false,
      sign_name: '某某科技',
      rate_limit: '3,1',
    })
  })

  it('rejects invalid changes', async () => {
    const account = await service.account()
    const wrong = async (sent: object) => Object.keys((await change(account.id, sent)).body.error.fields)
    assert.deepEqual(await wrong({ expires_on: '31.12.2030' }), ['expires_on'])
    assert.deepEqual(await wrong({ expires_on: '2030-13-01' }), ['expires_on'])
    assert.deepEqual(await wrong({ sign_name: '【签】' }), ['sign_name'])
    assert.deepEqual(await wrong({ rate_limit: { per_second: 0, burst: 1 } }), ['rate_limit'])
    assert.deepEqual(await wrong({ suspended: 1, note: ' ' }), ['suspended', 'note'])
    const me = (await operatorBrowser.call(sessionRoutes.me)).body.user.id
    assert.deepEqual(Object.keys((await change(me, { suspended: true })).body.error.fields), ['suspended'])
    assert.equal((await change(999_999, { suspended: true })).status, 404)
    assert.equal((await operatorBrowser.call(operatorRoutes.account, { parts: { id: '1e3' } })).status, 404)
    assert.deepEqual(await audit({ target: account.username }), [])
  })

  it('resets a password and ends the sessions', async () => {
    const account = await service.account()
    const holderBrowser = await signedIn(service, account)
    const { body } = await operatorBrowser.call(operatorRoutes.resetPassword, {
      parts: { id: account.id },
      sent: { note },
    })
    assert.equal((await holderBrowser.call(sessionRoutes.me)).status, 401)
    assert.equal((await createBrowser(service).signIn(account.username, testPassword)).status, 401)
    assert.equal((await createBrowser(service).signIn(account.username, body.password)).status, 200)
    assert.equal((await audit({ target: account.username }))[0].action, 'account.reset_password')
  })

  it('grants and takes credits with a note, never more than remain', async () => {
    const account = await service.account({ sms: 10 })
    const credits = (sent: object) =>
      operatorBrowser.call(operatorRoutes.changeCredits, {
        parts: { id: account.id },
        sent: { api_type: 'sms', note, ...sent },
      })
    assert.equal((await credits({ direction: 'grant', amount: 90 })).body.remaining, 100)
    assert.equal((await credits({ direction: 'take', amount: 40 })).body.remaining, 60)
    const much = await credits({ direction: 'take', amount: 61 })
    assert.equal(much.status, 400)
    assert.ok(much.body.error.fields.amount)
    for (const amount of [0, -1, 1.5, 2 ** 53, 1e21, '5', null]) {
      const refused = await credits({ direction: 'grant', amount })
      assert.equal(refused.status, 400, String(amount))
      assert.deepEqual(Object.keys(refused.body.error.fields), ['amount'])
    }
    const numbered = await credits({ direction: 'grant', amount: 1, note: 'T20260102030405ABCDEFGHJK' })
    assert.deepEqual(Object.keys(numbered.body.error.fields), ['note'])
    assert.equal((await credits({ direction: 'steal', amount: 1 })).status, 400)
    const holderBrowser = await signedIn(service, account)
    const { items } = (await holderBrowser.call(creditRoutes.ledger)).body
    assert.deepEqual(
      items.map((one: { kind: string; amount: number; note: string | null }) => [
        one.kind,
        one.amount,
        one.note,
      ]),
      [
        ['adjust', -40, note],
        ['grant', 90, note],
        ['grant', 10, null],
      ],
    )
    assert.deepEqual(
      (await audit({ target: account.username })).map((one: { action: string }) => one.action),
      ['credits.take', 'credits.grant'],
    )
  })

  it('views an account as its holder sees it', async () => {
    const account = await service.account({ sms: 4 })
    await get(`${service.url}/api/sms_api.php?action=get_credits&username=${account.username}`, {
      api_key: account.key,
    })
    await service.app.requestLog.flush()
    const query = { view_as: account.id }
    assert.equal((await operatorBrowser.call(creditRoutes.ledger, { query })).body.items.length, 1)
    assert.equal((await operatorBrowser.call(requestRoutes.list, { query })).body.items.length, 1)
    assert.equal(
      (await operatorBrowser.text(creditRoutes.ledgerCsv, { query })).text.trimEnd().split('\r\n').length,
      2,
    )
    const hits = (await operatorBrowser.call(searchRoutes.search, { sent: { q: account.username } })).body
      .items
    assert.deepEqual([hits[0].kind, hits[0].id], ['account', String(account.id)])
  })

  it('pages through the audit log, which includes the command line', async () => {
    const username = uniqueName()
    const run = async (...words: string[]) => {
      const { code, stderr } = await admin(service.storage.environment, ...words, '--json')
      assert.equal(code, 0, stderr)
    }
    await run('account', 'create', username, '--credits', 'sms=5')
    await run('account', 'set', username, '--sms', 'no', '--password', 'seeded-horse-77')
    await run('credits', 'grant', username, 'sms', '7', '--note', '=cmd')
    await run('key', 'reset', username)
    await run('key', 'clear', username)
    const entries = await audit({ target: username })
    assert.deepEqual(
      entries.map((one: { actor: string; action: string }) => [one.actor, one.action]),
      ['key.clear', 'key.reset', 'credits.grant', 'account.change', 'account.create'].map((action) => [
        'cli',
        action,
      ]),
    )
    assert.ok(!JSON.stringify(entries).includes('seeded-horse-77'))
    const first = (await operatorBrowser.call(operatorRoutes.audit, { sent: { target: username, size: 2 } }))
      .body
    const second = (
      await operatorBrowser.call(operatorRoutes.audit, {
        sent: { target: username, size: 9, before: first.next },
      })
    ).body
    assert.equal(first.items.length + second.items.length, 5)
    assert.equal((await audit({ actor: 'cli', action: 'key.clear' })).length, 1)
    const { text } = await operatorBrowser.text(operatorRoutes.auditCsv, { sent: { target: username } })
    assert.equal(text.trimEnd().split('\r\n').length, 6)
    assert.ok(text.includes(`,'=cmd,`))
  })

  it('shows the settings in use without secrets', async () => {
    const { body } = await operatorBrowser.call(operatorRoutes.settings)
    const by = new Map<string, { value: string | null; secret: boolean; is_set: boolean }>(
      body.items.map((one: { name: string }) => [one.name, one]),
    )
    assert.deepEqual([by.get('SIGN_UP')?.value, by.get('SIGN_UP')?.is_set], ['off', false])
    assert.deepEqual([by.get('RATE_LIMIT')?.is_set], [true])
    assert.deepEqual(
      [by.get('ALIYUN_ACCESS_KEY_SECRET')?.value, by.get('ALIYUN_ACCESS_KEY_SECRET')?.is_set],
      [null, true],
    )
    assert.ok(!JSON.stringify(body).includes('seeded'))
    assert.ok(!JSON.stringify(body).includes(service.installation.secretKey))
  })

  it('shows an overview of the platform', async () => {
    const { status, body } = await operatorBrowser.call(operatorRoutes.overview)
    assert.equal(status, 200)
    assert.equal(body.engine, engine)
    assert.equal(body.days.length, 14)
    assert.ok(body.days.at(-1).total > 0)
    assert.ok(
      body.latency.some(
        (one: { endpoint: string; p50_ms: number }) => one.endpoint === 'sms' && one.p50_ms > 0,
      ),
    )
    assert.ok(body.credits.find((one: { api_type: string }) => one.api_type === 'sms').sold > 0)
    assert.ok(body.accounts.total > 3 && body.accounts.active_7d > 0)
    assert.deepEqual(body.operations, { open: 0, overdue: 0, oldest_at: null })
    assert.ok(body.disk.free_bytes > 0 && body.disk.total_bytes >= body.disk.free_bytes)
    assert.deepEqual(body.gateways[0], { group: 'sms', names: ['sandbox'], down: [] })
  })
})
