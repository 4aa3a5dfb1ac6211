// Roles of operators: every operator route by every role, the last owner, confirmations, and the audit of changes.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { keyRoutes } from '../../../contract/console/key.ts'
import { operatorApi } from '../../../contract/console/responses/operator-api.ts'
import { operatorAdminRoutes } from '../../../contract/console/operators.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { areaOf, mayAccess, operatorRoles, tokenScopes } from '../../../contract/console/roles.ts'
import { consoleApi, type Route } from '../../../contract/console/route.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { type Browser, createBrowser, testPassword } from '../../../test/support/console.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { admin } from '../../../test/support/service.ts'
import { systemActor } from '../../audit/audit.ts'
import { changeAccount, requireAccount } from '../../accounts/accounts.ts'
import { changeRole } from '../../accounts/operators.ts'
import { openOperators, type Operators } from '../../../test/support/operators.ts'

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
  let operators: Operators
  before(async () => {
    operators = await openOperators(engine)
  })
  after(() => operators[Symbol.asyncDispose]())

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
        const { status, text } = await operators.as(role).text(route, { parts })
        const isForbidden = status === 403 && text.includes('"forbidden"')
        const allowed = mayAccess(role, areaOf(route.path), route.method === 'GET' ? 'read' : 'write')
        assert.equal(isForbidden, !allowed, `${role} ${name}: ${status} ${text.slice(0, 100)}`)
      }
    }
  })

  it('73 only owners and support view accounts', async () => {
    const account = await operators.service.account()
    for (const role of operatorRoles) {
      const { status } = await operators.as(role).call(sessionRoutes.me, { query: { view_as: account.id } })
      assert.equal(status, role === 'owner' || role === 'support' ? 200 : 403, role)
    }
  })

  it('74 owners change roles, effective with the next request; the last owner stays', async () => {
    const support = await operators.create('support')
    const { db } = operators.service.installation
    const account = await requireAccount(db, support.username)
    const change = (by: Browser, id: number, role: string) =>
      by.call(operatorAdminRoutes.changeRole, { parts: { id }, sent: { role, note: 'n' } })
    await operators.as('owner').confirm()
    assert.equal((await change(operators.as('finance'), account.id, 'owner')).body.error.code, 'forbidden')
    assert.equal((await change(operators.as('owner'), account.id, 'finance')).status, 200)
    assert.equal((await support.call(operatorRoutes.redeemBatches)).status, 200)
    const holder = await operators.service.account()
    assert.equal((await change(operators.as('owner'), holder.id, 'auditor')).status, 400)
    // Everyone but one owner is demoted at the same time: exactly one stays.
    const others = await Promise.all([
      operators.create('owner'),
      operators.create('owner'),
      operators.create('owner'),
    ])
    const owners = [operators.as('owner').username, ...others.map(({ username }) => username)]
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
      tx.run(`UPDATE account SET operator_role = 'owner' WHERE username = ?`, [
        operators.as('owner').username,
      ]),
    )
  })

  it('152 the last owner cannot be suspended, and two owners cannot suspend each other', async () => {
    const { db } = operators.service.installation
    const [first, second] = [await operators.create('owner'), await operators.create('owner')]
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
    const { environment } = operators.service.storage
    const refused = await admin(environment, 'account', 'set', last!.username, '--suspended', 'yes')
    const words = ['token', 'create', 'last', '--scopes', 'all', '--operator', last!.username]
    const { token } = await operators.command(...words)
    const { id } = await requireAccount(db, last!.username)
    const byToken = await operators.callWithToken(token, operatorRoutes.changeAccount, {
      id,
      sent: { suspended: true, note: 'n' },
    })
    assert.equal(byToken.status, 400, JSON.stringify(byToken.body))
    await suspend(0, otherIds)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /不能停用最后一位所有者.*the last owner cannot be suspended/)
  })

  it('153 an owner who confirmed creates operators; limits and prices need a confirmation too', async () => {
    const owner = await operators.create('owner')
    const sent = { username: uniqueName(), role: 'support', note: 'new' }
    const create = (by: Browser) => by.call(operatorAdminRoutes.createOperator, { sent })
    assert.equal((await create(operators.as('finance'))).body.error.code, 'forbidden')
    assert.equal((await create(owner)).body.error.code, 'confirmation_required')
    const holder = await operators.service.account()
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
    const started = { prices: { generate: 2 }, prices_before: null }
    assert.equal((await change(started)).status, 200)
    const meanwhile = await change({ prices: { domain: 3 }, prices_before: null })
    assert.deepEqual([meanwhile.status, meanwhile.body.error.code], [409, 'conflict'])
    const further = { prices: { generate: 2, domain: 3 }, prices_before: { generate: 2 } }
    assert.deepEqual((await change(further)).body.own_prices, further.prices)
    const created = await create(owner)
    assert.equal(created.status, 200, JSON.stringify(created.body))
    assert.equal((await create(owner)).status, 400)
    const account = await requireAccount(operators.service.installation.db, sent.username)
    assert.deepEqual([account.role, account.operator_role], ['operator', 'support'])
    assert.equal(created.body.account.id, account.id)
    const support = createBrowser(operators.service)
    assert.equal((await support.signIn(sent.username, created.body.password)).status, 200)
    assert.equal((await support.call(operatorRoutes.accounts)).status, 200)
  })

  it('119 what holders change about their credentials and sessions is in the audit log', async () => {
    const account = await operators.service.account()
    const [browser, other, third] = [
      createBrowser(operators.service),
      createBrowser(operators.service),
      createBrowser(operators.service),
    ]
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
    const audit = await operators
      .as('owner')
      .call(operatorRoutes.audit, { sent: { actor: account.username } })
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

  it('the document names every route with its roles and scope', async () => {
    const response = await fetch(`${operators.service.url}/openapi-operator.json`)
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
    const account = await operators.service.account({ sms: 5 })
    const browser = createBrowser(operators.service)
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
    const audit = await operators
      .as('owner')
      .call(operatorRoutes.audit, { sent: { target: account.username } })
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
