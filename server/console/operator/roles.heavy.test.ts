// Roles and tokens of operators: every operator route by every role, the last owner, and what a token may do.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { keyRoutes } from '../../../contract/console/key.ts'
import { operatorApi } from '../../../contract/console/responses/operator-api.ts'
import { operatorAdminRoutes } from '../../../contract/console/operators.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import {
  areaOf,
  mayAccess,
  type OperatorRole,
  operatorRoles,
  tokenScopes,
} from '../../../contract/console/roles.ts'
import { dayMs, formatDay } from '../../../contract/time.ts'
import { consoleApi, pathOf, type Route } from '../../../contract/console/route.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { type Browser, openBrowser, testPassword } from '../../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { admin, type Reply, startService, type TestService } from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { changeAccount, createAccount, requireAccount } from '../../accounts/accounts.ts'
import { changeRole } from '../../accounts/operators.ts'

const isRoute = (value: unknown): value is Route<unknown, unknown> =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'input' in value

describe('operator routes', () => {
  it('73 each has an area in the table of rights and is in the document for programs', async () => {
    const folder = new URL('../../../contract/console/', import.meta.url)
    const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.includes('.test.'))
    const documented = new Set(operatorApi.map(({ route }) => `${route.method} ${route.path}`))
    const found = new Set<string>()
    for (const file of files) {
      const exported = (await import(new URL(file, folder).href)) as Record<string, unknown>
      for (const table of Object.values(exported)) {
        if (typeof table !== 'object' || table === null) continue
        for (const route of Object.values(table).filter(isRoute)) {
          if (!route.path.startsWith('/operator/')) continue
          found.add(`${route.method} ${route.path}`)
          assert.notEqual(areaOf(route.path), undefined, `${route.path} has no area in roles.ts`)
        }
      }
    }
    assert.deepEqual([...found].sort(), [...documented].sort())
  })

  it('73 the longest path decides the area', () => {
    assert.equal(areaOf('/operator/accounts/:id'), 'accounts')
    assert.equal(areaOf('/operator/accounts/:id/credits'), 'credits')
    assert.equal(areaOf('/operator/accounts/:id/role'), 'operators')
    assert.equal(areaOf('/operator/audit.csv'), 'audit')
    assert.equal(areaOf('/operator/accountsx'), undefined)
    assert.equal(mayAccess('auditor', undefined, 'read'), false)
  })
})

onEachEngine('operators', (engine) => {
  let service: TestService
  const browsers = new Map<OperatorRole, Browser & { readonly username: string }>()

  const operatorWith = async (operatorRole: OperatorRole) => {
    const username = uniqueName()
    const password = testPassword
    const { db } = service.installation
    await createAccount(db, systemActor, { username, password, role: 'operator', operatorRole })
    const browser = openBrowser(service)
    await browser.signIn(username)
    return Object.assign(browser, { username })
  }

  before(async () => {
    service = await startService(engine)
    for (const role of operatorRoles) browsers.set(role, await operatorWith(role))
  })
  after(() => service[Symbol.asyncDispose]())

  const as = (role: OperatorRole) => browsers.get(role)!
  const set = async (username: string, change: Parameters<typeof changeAccount>[3]) => {
    const { db } = service.installation
    await changeAccount(db, systemActor, await requireAccount(db, username), change)
  }
  const command = async (...words: string[]) => {
    const done = await admin(service.storage.environment, ...words, '--json')
    assert.equal(done.code, 0, done.stderr)
    return JSON.parse(done.stdout)
  }
  const withToken = async (
    token: string,
    route: Route<unknown, unknown> | { method: string; path: string },
    {
      id = 1,
      sent = {},
      headers = {},
    }: { id?: number; sent?: object; headers?: Record<string, string> } = {},
  ): Promise<Reply> => {
    const isGet = route.method === 'GET'
    const response = await fetch(`${service.url}${pathOf(route, { id })}`, {
      method: route.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(!isGet && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: isGet ? null : JSON.stringify(sent),
    })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Reply['body'],
    }
  }

  it('73 every role reaches exactly the routes of its areas', async () => {
    const parts = {
      id: 999_999,
      kind: 'template',
      group: 'sms',
      name: 'nothing',
      number: 'NONE00',
      code: 'none',
    }
    for (const role of operatorRoles) {
      for (const { name, route } of operatorApi) {
        const { status, text } = await as(role).text(route, { parts })
        const isForbidden = status === 403 && text.includes('"forbidden"')
        const allowed = mayAccess(role, areaOf(route.path), route.method === 'GET' ? 'read' : 'write')
        assert.equal(isForbidden, !allowed, `${role} ${name}: ${status} ${text.slice(0, 100)}`)
      }
    }
  })

  it('73 only owners and support view accounts', async () => {
    const account = await service.account()
    for (const role of operatorRoles) {
      const { status } = await as(role).call(sessionRoutes.me, { query: { view_as: account.id } })
      assert.equal(status, role === 'owner' || role === 'support' ? 200 : 403, role)
    }
  })

  it('74 owners change roles, effective with the next request; the last owner stays', async () => {
    const support = await operatorWith('support')
    const { db } = service.installation
    const account = await requireAccount(db, support.username)
    const change = (by: Browser, id: number, role: string) =>
      by.call(operatorAdminRoutes.changeRole, { parts: { id }, sent: { role, note: 'n' } })
    await as('owner').confirm()
    assert.equal((await change(as('finance'), account.id, 'owner')).body.error.code, 'forbidden')
    assert.equal((await change(as('owner'), account.id, 'finance')).status, 200)
    assert.equal((await support.call(operatorRoutes.redeemBatches)).status, 200)
    const holder = await service.account()
    assert.equal((await change(as('owner'), holder.id, 'auditor')).status, 400)
    // Everyone but one owner is demoted at the same time: exactly one stays.
    const others = await Promise.all([operatorWith('owner'), operatorWith('owner'), operatorWith('owner')])
    const owners = [as('owner').username, ...others.map(({ username }) => username)]
    const first = await db.all<{ username: string }>(
      `SELECT username FROM account WHERE role = 'operator' AND operator_role = 'owner'`,
    )
    for (const { username } of first) {
      if (!owners.includes(username)) {
        await db.write((tx) => tx.run('UPDATE account SET suspended = 1 WHERE username = ?', [username]))
      }
    }
    const results = await Promise.allSettled(
      owners.map(async (username) =>
        changeRole(db, systemActor, await requireAccount(db, username), 'auditor'),
      ),
    )
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
    await db.write((tx) =>
      tx.run(`UPDATE account SET operator_role = 'owner' WHERE username = ?`, [as('owner').username]),
    )
  })

  it('152 the last owner cannot be suspended, and two owners cannot suspend each other', async () => {
    const { db } = service.installation
    const [first, second] = [await operatorWith('owner'), await operatorWith('owner')]
    const isOwner = `role = 'operator' AND operator_role = 'owner' AND suspended = 0`
    const owners = await db.all<{ id: number; username: string }>(
      `SELECT id, username FROM account WHERE ${isOwner}`,
    )
    const others = owners.filter(
      ({ username }) => username !== first.username && username !== second.username,
    )
    const suspend = (suspended: number, ids: readonly number[]) =>
      db.write(async (tx) => {
        for (const id of ids) await tx.run('UPDATE account SET suspended = ? WHERE id = ?', [suspended, id])
      })
    const otherIds = others.map(({ id }) => id)
    await suspend(1, otherIds)
    const results = await Promise.allSettled(
      [first, second].map(async ({ username }) =>
        changeAccount(db, systemActor, await requireAccount(db, username), { suspended: true }),
      ),
    )
    assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
    const [last] = await db.all<{ username: string }>(`SELECT username FROM account WHERE ${isOwner}`)
    const { environment } = service.storage
    const refused = await admin(environment, 'account', 'set', last!.username, '--suspended', 'yes')
    await suspend(0, otherIds)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /不能停用最后一位所有者.*the last owner cannot be suspended/)
  })

  it('153 an owner who confirmed creates operators; limits and prices need a confirmation too', async () => {
    const owner = await operatorWith('owner')
    const sent = { username: uniqueName(), role: 'support', note: 'new' }
    const create = (by: Browser) => by.call(operatorAdminRoutes.createOperator, { sent })
    assert.equal((await create(as('finance'))).body.error.code, 'forbidden')
    assert.equal((await create(owner)).body.error.code, 'confirmation_required')
    const holder = await service.account()
    const change = (values: Record<string, unknown>) =>
      owner.call(operatorRoutes.changeAccount, { parts: { id: holder.id }, sent: { ...values, note: 'n' } })
    const limits = [
      { scopes: ['sms:read'] },
      { allow_ips: ['192.0.2.1'] },
      { daily_cap: { sms: 5 } },
      { monthly_cap: { sms: 5 } },
      { prices: { generate: 2 } },
      { prices: null },
    ]
    for (const values of limits)
      assert.equal((await change(values)).body.error.code, 'confirmation_required', JSON.stringify(values))
    assert.equal((await change({ sms_enabled: false })).status, 200)
    await owner.confirm()
    for (const values of limits) assert.equal((await change(values)).status, 200, JSON.stringify(values))
    const created = await create(owner)
    assert.equal(created.status, 200, JSON.stringify(created.body))
    assert.equal((await create(owner)).status, 400)
    const account = await requireAccount(service.installation.db, sent.username)
    assert.deepEqual([account.role, account.operator_role], ['operator', 'support'])
    assert.equal(created.body.account.id, account.id)
    const support = openBrowser(service)
    assert.equal((await support.signIn(sent.username, created.body.password)).status, 200)
    assert.equal((await support.call(operatorRoutes.accounts)).status, 200)
  })

  it('75 a token opens the operator routes of its scopes, without a session or CSRF token', async () => {
    const created = await command(
      'token',
      'create',
      'ci',
      '--scopes',
      'accounts:read,credits:write',
      '--operator',
      as('owner').username,
    )
    assert.match(created.token, /^tgo_/)
    const account = await service.account({ sms: 5 })
    const listed = await withToken(created.token, operatorRoutes.accounts)
    assert.equal(listed.status, 200)
    const credit = { api_type: 'sms', direction: 'grant', amount: 7, note: 'paid' }
    assert.equal(
      (await withToken(created.token, operatorRoutes.changeCredits, { id: account.id, sent: credit })).body
        .remaining,
      12,
    )
    for (const route of [
      operatorRoutes.audit,
      operatorRoutes.createAccount,
      operatorAdminRoutes.tokens,
      keyRoutes.state,
      sessionRoutes.me,
    ]) {
      const reply = await withToken(created.token, route)
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'forbidden'], route.path)
    }
    const { items } = (await as('owner').call(operatorRoutes.audit, { sent: { target: account.username } }))
      .body
    assert.equal(items[0].actor, `${as('owner').username}/ci`)
    const shown = await command('token', 'list')
    const mine = shown.tokens.find((one: { id: number }) => one.id === created.id)
    assert.deepEqual(
      [mine.name, mine.operator, mine.scopes],
      ['ci', as('owner').username, ['accounts:read', 'credits:write']],
    )
    assert.ok(!JSON.stringify(shown).includes(created.token))
    await command('token', 'revoke', String(created.id))
    assert.equal((await withToken(created.token, operatorRoutes.accounts)).status, 401)
  })

  it('118 roles and tokens need a confirmation, and a token ends with its last day', async () => {
    const owner = await operatorWith('owner')
    const lastDay = formatDay(Date.now() + 2 * dayMs)
    const sent = { name: 'nightly', scopes: ['accounts:read'], note: 'n', expires_on: lastDay }
    const create = (more: object = {}) =>
      owner.call(operatorAdminRoutes.createToken, { sent: { ...sent, ...more } as typeof sent })
    const revoke = (id: number) =>
      owner.call(operatorAdminRoutes.revokeToken, { parts: { id }, sent: { note: 'n' } })
    const { db } = service.installation
    const { id: ownerId } = await requireAccount(db, owner.username)
    const demote = () =>
      owner.call(operatorAdminRoutes.changeRole, {
        parts: { id: ownerId },
        sent: { role: 'auditor', note: 'n' },
      })
    for (const reply of [await create(), await revoke(1), await demote()]) {
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'confirmation_required'])
    }
    await owner.confirm()
    const past = await create({ expires_on: '2020-01-01' })
    assert.deepEqual([past.status, Object.keys(past.body.error.fields)], [400, ['expires_on']])
    const { token, secret } = (await create()).body
    assert.deepEqual([token.expires_on, token.expired], [lastDay, false])
    assert.equal((await withToken(secret, operatorRoutes.accounts)).status, 200)
    await db.write((tx) =>
      tx.run(`UPDATE operator_token SET expires_on = '2020-01-01' WHERE id = ?`, [token.id]),
    )
    assert.equal((await withToken(secret, operatorRoutes.accounts)).status, 401)
    const { items } = (await owner.call(operatorAdminRoutes.tokens)).body
    assert.equal(items.find((one: { id: number }) => one.id === token.id).expired, true)
    assert.equal((await revoke(token.id)).status, 200)
    assert.equal((await revoke(token.id)).status, 404)
  })

  it('119 what holders change about their credentials and sessions is in the audit log', async () => {
    const account = await service.account()
    const [browser, other, third] = [openBrowser(service), openBrowser(service), openBrowser(service)]
    for (const one of [browser, other, third]) await one.signIn(account.username)
    const { items: sessions } = (await browser.call(sessionRoutes.sessions)).body
    const ended = sessions.find((one: { current: boolean }) => !one.current).id
    await browser.call(sessionRoutes.endSession, { parts: { id: ended } })
    await browser.call(sessionRoutes.endOtherSessions)
    await browser.call(sessionRoutes.changePassword, {
      sent: { current_password: testPassword, new_password: 'another horse 1' },
    })
    await browser.call(keyRoutes.clear, { sent: { password: 'another horse 1' } })
    await browser.call(keyRoutes.generate)
    await browser.call(keyRoutes.reset, { sent: { password: 'another horse 1' } })
    const audit = await as('owner').call(operatorRoutes.audit, { sent: { actor: account.username } })
    assert.deepEqual(
      audit.body.items
        .toReversed()
        .map((one: { action: string; target: string; details: object }) => [one.action, one.details]),
      [
        ['session.end', { id: ended }],
        ['session.end_others', { ended: 1 }],
        ['account.change_password', {}],
        ['key.clear', {}],
        ['key.create', {}],
        ['key.reset', {}],
      ],
    )
  })

  it('75 a wrong token is rejected even with a session, and never falls back to it', async () => {
    const { cookie, csrf } = as('owner')
    const headers = { cookie: cookie ?? '', 'x-csrf-token': csrf ?? '', origin: service.url }
    const wrong = `tgo_${'a'.repeat(43)}00000000`
    const reply = await withToken(wrong, operatorRoutes.accounts, { headers })
    assert.deepEqual([reply.status, reply.body.error.code], [401, 'unauthenticated'])
    const open = await withToken(wrong, sessionRoutes.me, { headers })
    assert.equal(open.status, 403)
  })

  it('75 a token never has more rights than its creator has now', async () => {
    const creator = await operatorWith('owner')
    const { token } = await command(
      'token',
      'create',
      'all',
      '--scopes',
      'all',
      '--operator',
      creator.username,
    )
    assert.equal((await withToken(token, operatorRoutes.audit)).status, 200)
    const { db } = service.installation
    const demote = (role: OperatorRole) =>
      db.write((tx) =>
        tx.run('UPDATE account SET operator_role = ? WHERE username = ?', [role, creator.username]),
      )
    for (const role of operatorRoles) {
      await demote(role)
      for (const { name, route } of operatorApi) {
        if (areaOf(route.path) === 'operators' || route.path.includes('.csv')) continue
        const access = route.method === 'GET' ? 'read' : 'write'
        const reply = await withToken(
          token,
          { ...route, path: route.path.replaceAll(/:(?!id)\w+/g, 'x') },
          { id: 999_999 },
        )
        if (reply.status === 429) continue
        assert.equal(
          reply.body.error?.code === 'forbidden',
          !mayAccess(role, areaOf(route.path), access),
          `${role} ${name}`,
        )
      }
    }
    await demote('owner')
    await set(creator.username, { suspended: true })
    const { token: other } = await command(
      'token',
      'create',
      'second',
      '--scopes',
      'all',
      '--operator',
      creator.username,
    )
    assert.deepEqual((await withToken(other, operatorRoutes.audit)).body.error.code, 'suspended')
  })

  it('75 an Idempotency-Key makes a change once, also at the same time', async () => {
    const { token } = await command(
      'token',
      'create',
      'once',
      '--scopes',
      'credits:write',
      '--operator',
      as('finance').username,
    )
    const account = await service.account({ sms: 1 })
    const sent = { api_type: 'sms', direction: 'grant', amount: 10, note: 'n' }
    const grant = (key: string, amount = 10) =>
      withToken(token, operatorRoutes.changeCredits, {
        id: account.id,
        sent: { ...sent, amount },
        headers: { 'idempotency-key': key },
      })
    const replies = await Promise.all(Array.from({ length: 8 }, () => grant('k1')))
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    const again = await grant('k1')
    assert.deepEqual([again.status, again.body.remaining], [200, 11])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await grant('k1', 11)).status, 409)
    assert.equal((await grant('k2')).body.remaining, 21)
  })

  it('the document names every route with its roles and scope', async () => {
    const response = await fetch(`${service.url}/openapi-operator.json`)
    const document = (await response.json()) as {
      paths: Record<string, Record<string, { 'x-roles': string[]; 'x-scope'?: string }>>
    }
    for (const { route } of operatorApi) {
      const path = `${consoleApi}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`
      const operation = document.paths[path]?.[route.method.toLowerCase()]
      assert.ok(operation, path)
      assert.ok(operation['x-roles'].includes('owner'))
      if (operation['x-scope'] !== undefined)
        assert.ok((tokenScopes as readonly string[]).includes(operation['x-scope']))
    }
  })

  it('76 holders limit their own key; a list without the present address needs a second yes', async () => {
    const account = await service.account({ sms: 5 })
    const browser = openBrowser(service)
    await browser.signIn(account.username)
    const change = (sent: object) => browser.call(keyRoutes.changeLimits, { sent: { ...sent } })
    assert.equal((await change({ scopes: ['sms:read'] })).body.error.code, 'confirmation_required')
    await browser.confirm()
    const list = ['203.0.113.0/24']
    assert.equal((await change({ allow_ips: list })).body.error.code, 'conflict')
    const saved = await change({
      allow_ips: list,
      excludes_own_address: true,
      scopes: ['sms:read'],
      daily_cap: { sms: 3 },
    })
    assert.deepEqual([saved.body.allow_ips, saved.body.scopes], [list, ['sms:read']])
    const audit = await as('owner').call(operatorRoutes.audit, { sent: { target: account.username } })
    const [entry] = audit.body.items
    assert.deepEqual(
      [entry.actor, entry.action, entry.details],
      [account.username, 'account.change', { scopes: 'sms:read', allow_ips: list[0], daily_cap: 'sms=3' }],
    )
    const shown = (await browser.call(keyRoutes.limits)).body
    assert.equal(shown.usage.find((one: { api_type: string }) => one.api_type === 'sms').daily_cap, 3)
    assert.equal((await change({ scopes: ['gold'] })).status, 400)
    const cleared = await change({ allow_ips: null, scopes: null, daily_cap: {}, monthly_cap: null })
    assert.deepEqual([cleared.body.allow_ips, cleared.body.scopes], [null, null])
  })
})
