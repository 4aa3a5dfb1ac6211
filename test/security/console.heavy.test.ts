// Attacks on the console and the API by another account or with forged fields.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { systemActor } from '../../server/audit/audit.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { homeRoutes } from '../../contract/console/home.ts'
import { identityRoutes } from '../../contract/console/identity.ts'
import { keyRoutes } from '../../contract/console/key.ts'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { requestRoutes, searchRoutes } from '../../contract/console/requests.ts'
import type { Route } from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { smsRoutes } from '../../contract/console/sms.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import { createTemplate } from '../../server/sms/templates.ts'
import { type Browser, operator, signedIn } from '../support/console.ts'
import { onEachEngine, uniqueName } from '../support/engines.ts'
import { post, type Reply, startService, type TestAccount, type TestService } from '../support/service.ts'

type AnyRoute = Route<unknown, unknown>

const accountRoutes = [
  sessionRoutes,
  homeRoutes,
  keyRoutes,
  creditRoutes,
  requestRoutes,
  searchRoutes,
  linkRoutes,
  smsRoutes,
  identityRoutes,
  domainCheckRoutes,
].flatMap((routes) => Object.values(routes) as AnyRoute[])

const allOperatorRoutes = [operatorRoutes, operatorProductRoutes].flatMap(
  (routes) => Object.values(routes) as AnyRoute[],
)

const marker = 'seeded-and-private'

/** Returns an ID of the same form that does not exist. */
function unusedIdLike(id: string | number): string | number {
  if (typeof id === 'number') return 987_654_321
  return id.includes('-') ? crypto.randomUUID() : '199999999999999999'
}

onEachEngine('another account', (engine) => {
  let service: TestService
  let owner: TestAccount
  let other: TestAccount
  let otherBrowser: Browser
  let ownerBrowser: Browser
  let link: { link_id: number; short_code: string }
  let ids: readonly (string | number)[]
  let templateId: number
  let bizId: string

  const call = (path: string, who: TestAccount, values: Record<string, unknown>): Promise<Reply> =>
    post(`${service.url}${path}`, { username: who.username, api_key: who.key, ...values })

  before(async () => {
    service = await startService(engine)
    owner = await service.account({ short_link: 10, sms: 10 })
    other = await service.account({ short_link: 10, sms: 10 })
    ;[ownerBrowser, otherBrowser] = [await signedIn(service, owner), await signedIn(service, other)]
    const created = await call(shortlink.path, owner, {
      action: 'generate',
      target_url: `https://example.com/${marker}`,
      title: marker,
    })
    link = created.body.data
    const template = await createTemplate(service.installation.db, systemActor, {
      accountId: owner.id,
      code: 'PRIVATE',
      name: marker,
      content: `${marker}\${code}`,
      status: '审核通过',
    })
    templateId = template.id
    const sent = await call(sms.path, owner, {
      action: 'send_sms',
      phone_number: '13800138000',
      template_code: 'PRIVATE',
      template_params: { code: marker },
    })
    bizId = sent.body.data.biz_id
    await service.app.requestLog.flush()
    const [request] = (await ownerBrowser.call(requestRoutes.list)).body.items
    const [session] = (await ownerBrowser.call(sessionRoutes.sessions)).body.items
    const [ownSession] = (await otherBrowser.call(sessionRoutes.sessions)).body.items
    const foreign = [link.link_id, templateId, request.request_id, request.id, session.id, owner.id, bizId]
    // The session of the other account may have the same ID as a link of the owner.
    ids = foreign.filter((id) => id !== ownSession.id)
    assert.ok(ids.includes(session.id))
  })
  after(() => service[Symbol.asyncDispose]())

  it('14 gets the same response for the data of others as for missing data, on every route and method', async () => {
    for (const route of accountRoutes) {
      if (route === sessionRoutes.signOut || route === sessionRoutes.endOtherSessions) continue
      const hasPart = route.path.includes(':')
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        if (!hasPart && method !== route.method) continue
        const send = async (id: string | number) => {
          const parts = { id, name: id, group: id }
          const { status, text } = await otherBrowser.text({ method, path: route.path }, { parts })
          return { status, text: text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id') }
        }
        for (const id of hasPart ? ids : [1]) {
          const actual = await send(id)
          assert.ok(!actual.text.includes(marker), `${method} ${route.path} ${id}`)
          if (!hasPart) continue
          const missing = await send(unusedIdLike(id))
          assert.deepEqual(actual, missing, `${method} ${route.path} ${id}`)
        }
      }
    }
    assert.equal((await ownerBrowser.call(sessionRoutes.me)).status, 200, 'the owner is still signed in')
  })

  it('14 can neither read nor change the links, templates or records of others by API key', async () => {
    const assertSameAsMissing = async (
      values: Record<string, unknown>,
      absentIds: Record<string, unknown>,
    ) => {
      const [foreign, missing] = [
        await call(shortlink.path, other, values),
        await call(shortlink.path, other, { ...values, ...absentIds }),
      ]
      assert.equal(foreign.status, 400)
      assert.deepEqual(foreign.body, missing.body)
    }
    const { link_id, short_code } = link
    const target_url = 'https://example.com/stolen'
    await assertSameAsMissing({ action: 'update', link_id, target_url }, { link_id: 987_654_321 })
    await assertSameAsMissing({ action: 'execute_update', link_id }, { link_id: 987_654_321 })
    await assertSameAsMissing({ action: 'get', link_id }, { link_id: 987_654_321 })
    await assertSameAsMissing({ action: 'get', short_code }, { short_code: 'zzzzzzz' })
    const use = (template_code: string) =>
      call(sms.path, other, {
        action: 'send',
        phone_number: '13800138000',
        template_code,
        template_params: { code: '1' },
      })
    const [foreign, missing] = [await use('PRIVATE'), await use('NOTHING')]
    assert.equal(foreign.status, 404)
    assert.deepEqual(foreign.body, missing.body)
    for (const values of [{ biz_id: bizId }, { phone_number: '13800138000' }, { start_date: '2020-01-01' }]) {
      assert.deepEqual((await call(sms.path, other, { action: 'get_logs', ...values })).body.data, [])
    }
    assert.ok(
      !JSON.stringify((await call(sms.path, other, { action: 'get_templates' })).body).includes(marker),
    )
    const unchanged = await call(shortlink.path, owner, { action: 'get', link_id })
    assert.equal(unchanged.body.data.target_url, `https://example.com/${marker}`)
    assert.equal((await service.app.services.credits.balance(other.id, 'short_link')).remaining, 10)
  })

  it('15 operator routes reject account sessions with every method and field', async () => {
    for (const route of allOperatorRoutes) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const reply = await otherBrowser.call(
          { method, path: route.path },
          {
            parts: { id: owner.id, name: 'sandbox', group: 'sms', pool: 'a', host: 'x' },
            sent: { role: 'operator', is_operator: 'true' },
          },
        )
        assert.ok([403, 404].includes(reply.status), `${method} ${route.path} ${reply.status}`)
        if (method === route.method && reply.status === 404) continue
        assert.ok(['forbidden', 'not_found'].includes(reply.body.error.code))
      }
    }
  })

  it('16 role, remaining and account_id in a body change nothing', async () => {
    const extraFields = {
      role: 'operator',
      remaining: 1_000_000,
      total: 1_000_000,
      used: 0,
      account_id: owner.id,
      accountId: owner.id,
      user_id: owner.id,
      suspended: false,
      cost: 0,
      price: 0,
      id: owner.id,
    }
    const { db } = service.installation
    const snapshot = () =>
      Promise.all([
        db.all('SELECT id, role, suspended, expires_on, rate_limit, key_hash FROM account ORDER BY id'),
        db.all('SELECT account_id, api_type, total, used FROM credit WHERE account_id = ?', [owner.id]),
      ])
    const previous = await snapshot()
    const created = await call(shortlink.path, other, {
      action: 'generate',
      target_url: 'https://example.com/',
      title: 't',
      ...extraFields,
    })
    assert.equal(created.body.data.remaining_balance, 9)
    const credits = await call(sms.path, other, { action: 'get_credits', ...extraFields })
    assert.equal(credits.body.data.remaining, 10)
    for (const route of accountRoutes) {
      if (route.method === 'GET' || route.path.includes(':') || route.path.startsWith('/key')) continue
      if (['/sign-out', '/sign-up', '/sign-in', '/sessions/end-others'].includes(route.path)) continue
      await otherBrowser.text(route, { sent: extraFields })
    }
    assert.deepEqual(await snapshot(), previous)
    const [row] = await db.all<{ account_id: number }>('SELECT account_id FROM link ORDER BY id DESC LIMIT 1')
    assert.equal(row?.account_id, other.id)
  })

  it('16 signing up with a role creates a plain account', async () => {
    await using open = await startService(engine, { SIGN_UP: 'on' })
    const reply = await fetch(`${open.url}/console/api/sign-up`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        username: uniqueName(),
        password: 'correct horse 9',
        role: 'operator',
        remaining: 5,
        balances: [{ api_type: 'sms', total: 5 }],
      }),
    })
    const body = (await reply.json()) as { user: { role: string }; balances: { remaining: number }[] }
    assert.equal(body.user.role, 'account')
    assert.ok(body.balances.every(({ remaining }) => remaining === 0))
  })

  it('17 invalid amounts are rejected', async () => {
    const operatorBrowser = await operator(service)
    const change = async (direction: string, amount: string) => {
      const response = await fetch(`${service.url}/console/api/operator/accounts/${owner.id}/credits`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          cookie: operatorBrowser.cookie!,
          'x-csrf-token': operatorBrowser.csrf!,
        },
        body: `{"api_type":"sms","direction":"${direction}","amount":${amount},"note":"x"}`,
      })
      await response.arrayBuffer()
      return response.status
    }
    const previous = await service.app.services.credits.balance(owner.id, 'sms')
    for (const amount of [
      '0',
      '-0',
      '-1',
      '1e309',
      '-1e309',
      '9007199254740993',
      '1e-9',
      '1.5',
      '"5"',
      '[5]',
      'true',
      'null',
      '1000000001',
    ]) {
      for (const direction of ['grant', 'take']) {
        assert.equal(await change(direction, amount), 400, `${direction} ${amount}`)
      }
    }
    assert.deepEqual(await service.app.services.credits.balance(owner.id, 'sms'), previous)
  })
})
