// Operator tokens: what they open, their rights and last day, and changes that are made once.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { keyRoutes } from '../../../contract/console/key.ts'
import { operatorApi } from '../../../contract/console/responses/operator-api.ts'
import { operatorAdminRoutes } from '../../../contract/console/operators.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import { areaOf, mayAccess, type OperatorRole, operatorRoles } from '../../../contract/console/roles.ts'
import { dayMs, formatDay } from '../../../contract/time.ts'
import { sessionRoutes } from '../../../contract/console/session.ts'
import { onEachEngine, uniqueName } from '../../../test/support/engines.ts'
import { systemActor } from '../../audit/audit.ts'
import { changeAccount, requireAccount } from '../../accounts/accounts.ts'
import { openOperators, type Operators } from '../../../test/support/operators.ts'

onEachEngine('operator tokens', (engine) => {
  let operators: Operators
  before(async () => {
    operators = await openOperators(engine, { TRUSTED_PROXIES: '127.0.0.1' })
  })
  after(() => operators[Symbol.asyncDispose]())

  const set = async (username: string, change: Parameters<typeof changeAccount>[3]) => {
    const { db } = operators.service.installation
    await changeAccount(db, systemActor, await requireAccount(db, username), change)
  }

  it('75 a token opens the operator routes of its scopes, without a session or CSRF token', async () => {
    const created = await operators.command(
      'token',
      'create',
      'ci',
      '--scopes',
      'accounts:read,credits:write',
      '--operator',
      operators.as('owner').username,
    )
    assert.match(created.token, /^tgo_/)
    const account = await operators.service.account({ sms: 5 })
    const listed = await operators.callWithToken(created.token, operatorRoutes.accounts)
    assert.equal(listed.status, 200)
    const credit = { api_type: 'sms', direction: 'grant', amount: 7, note: 'paid' }
    assert.equal(
      (
        await operators.callWithToken(created.token, operatorRoutes.changeCredits, {
          id: account.id,
          sent: credit,
        })
      ).body.remaining,
      12,
    )
    for (const route of [
      operatorRoutes.audit,
      operatorRoutes.createAccount,
      operatorAdminRoutes.tokens,
      keyRoutes.state,
      sessionRoutes.me,
    ]) {
      const reply = await operators.callWithToken(created.token, route)
      assert.deepEqual([reply.status, reply.body.error.code], [403, 'forbidden'], route.path)
    }
    const { items } = (
      await operators.as('owner').call(operatorRoutes.audit, { sent: { target: account.username } })
    ).body
    assert.equal(items[0].actor, `${operators.as('owner').username}/ci`)
    const shown = await operators.command('token', 'list')
    const mine = shown.tokens.find((one: { id: number }) => one.id === created.id)
    assert.deepEqual(
      [mine.name, mine.operator, mine.scopes],
      ['ci', operators.as('owner').username, ['accounts:read', 'credits:write']],
    )
    assert.ok(!JSON.stringify(shown).includes(created.token))
    await operators.command('token', 'revoke', String(created.id))
    assert.equal((await operators.callWithToken(created.token, operatorRoutes.accounts)).status, 401)
  })

  it('118 roles and tokens need a confirmation, and a token ends with its last day', async () => {
    const owner = await operators.create('owner')
    const lastDay = formatDay(Date.now() + 2 * dayMs)
    const sent = { name: 'nightly', scopes: ['accounts:read'], note: 'n', expires_on: lastDay }
    const create = (more: object = {}) =>
      owner.call(operatorAdminRoutes.createToken, { sent: { ...sent, ...more } as typeof sent })
    const revoke = (id: number) =>
      owner.call(operatorAdminRoutes.revokeToken, { parts: { id }, sent: { note: 'n' } })
    const { db } = operators.service.installation
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
    assert.equal((await operators.callWithToken(secret, operatorRoutes.accounts)).status, 200)
    await db.write((tx) =>
      tx.run(`UPDATE operator_token SET expires_on = '2020-01-01' WHERE id = ?`, [token.id]),
    )
    assert.equal((await operators.callWithToken(secret, operatorRoutes.accounts)).status, 401)
    const { items } = (await owner.call(operatorAdminRoutes.tokens)).body
    assert.equal(items.find((one: { id: number }) => one.id === token.id).expired, true)
    assert.equal((await revoke(token.id)).status, 200)
    assert.equal((await revoke(token.id)).status, 404)
  })

  it('75 a wrong token is rejected even with a session, and never falls back to it', async () => {
    const { cookie, csrf } = operators.as('owner')
    const headers = { cookie: cookie ?? '', 'x-csrf-token': csrf ?? '', origin: operators.service.url }
    const wrong = `tgo_${'a'.repeat(43)}00000000`
    const reply = await operators.callWithToken(wrong, operatorRoutes.accounts, { headers })
    assert.deepEqual([reply.status, reply.body.error.code], [401, 'unauthenticated'])
    const open = await operators.callWithToken(wrong, sessionRoutes.me, { headers })
    assert.equal(open.status, 403)
  })

  it('75 a token never has more rights than its creator has now', async () => {
    const creator = await operators.create('owner')
    const { token } = await operators.command(
      'token',
      'create',
      'all',
      '--scopes',
      'all',
      '--operator',
      creator.username,
    )
    assert.equal((await operators.callWithToken(token, operatorRoutes.audit)).status, 200)
    const { db } = operators.service.installation
    const demote = (role: OperatorRole) =>
      db.write((tx) =>
        tx.run('UPDATE account SET operator_role = ? WHERE username = ?', [role, creator.username]),
      )
    for (const role of operatorRoles) {
      await demote(role)
      for (const { name, route } of operatorApi) {
        if (areaOf(route.path) === 'operators' || route.path.includes('.csv')) continue
        const access = route.method === 'GET' ? 'read' : 'write'
        const reply = await operators.callWithToken(
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
    const { token: other } = await operators.command(
      'token',
      'create',
      'second',
      '--scopes',
      'all',
      '--operator',
      creator.username,
    )
    assert.deepEqual(
      (await operators.callWithToken(other, operatorRoutes.audit)).body.error.code,
      'suspended',
    )
  })

  it('75 a token cannot reset the password of an operator', async () => {
    const owner = await operators.create('owner')
    const { db } = operators.service.installation
    const created = await operators.command(
      'token',
      'create',
      'accounts',
      '--scopes',
      'accounts:write',
      '--operator',
      operators.as('owner').username,
    )
    const { id } = await requireAccount(db, owner.username)
    const account = await operators.service.account()
    const reset = (of: number) =>
      operators.callWithToken(created.token, operatorRoutes.resetPassword, { id: of, sent: { note: 'n' } })
    const refused = await reset(id)
    assert.deepEqual([refused.status, refused.body.error?.code], [403, 'forbidden'])
    assert.equal((await owner.call(sessionRoutes.me)).status, 200)
    assert.equal((await reset(account.id)).status, 200)
  })

  it('183 a change in another area needs its scope too', async () => {
    const tokenWith = async (scopes: string) =>
      (await operators.command('token', 'create', uniqueName(), '--scopes', scopes)).token as string
    const accounts = await tokenWith('accounts:write')
    const credits = await tokenWith('accounts:write,credits:write')
    const reviews = await tokenWith('accounts:write,reviews:write')
    const create = async (token: string, more: object) => {
      const sent = { username: uniqueName(), note: 'n', ...more }
      return (await operators.callWithToken(token, operatorRoutes.createAccount, { sent })).status
    }
    assert.equal(await create(accounts, { credits: { sms: 5 } }), 403)
    assert.equal(await create(accounts, {}), 200)
    assert.equal(await create(accounts, { credits: {} }), 200)
    assert.equal(await create(credits, { credits: { sms: 5 } }), 200)

    const { id } = await operators.service.account()
    const change = async (token: string, sent: object, of: number = id) => {
      const call = { id: of, sent: { note: 'n', ...sent } }
      return (await operators.callWithToken(token, operatorRoutes.changeAccount, call)).status
    }
    for (const prices of [{ sms_part: 0 }, {}, null]) {
      assert.equal(await change(accounts, { prices }), 403)
      assert.equal(await change(reviews, { prices }), 403)
      assert.equal(await change(credits, { prices }), 200)
    }
    const named = { sign_name: '示例科技' }
    assert.equal(await change(accounts, named), 403)
    assert.equal(await change(credits, named), 403)
    assert.equal(await change(reviews, named), 200)
    assert.equal(await change(accounts, { sign_name: null, suspended: true }), 200)

    const { db } = operators.service.installation
    const operator = await requireAccount(db, (await operators.create('support')).username)
    assert.equal(await change(accounts, { suspended: true }, operator.id), 200)
    assert.equal(await change(credits, { suspended: false }, operator.id), 403)
    assert.equal(await change(accounts, { suspended: false }), 200)
    assert.equal(await change(accounts, { sms_enabled: false }, operator.id), 200)
  })

  it('75 an Idempotency-Key makes a change once, also at the same time', async () => {
    const { token } = await operators.command(
      'token',
      'create',
      'once',
      '--scopes',
      'credits:write',
      '--operator',
      operators.as('finance').username,
    )
    const account = await operators.service.account({ sms: 1 })
    const sent = { api_type: 'sms', direction: 'grant', amount: 10, note: 'n' }
    const grant = (key: string, amount = 10) =>
      operators.callWithToken(token, operatorRoutes.changeCredits, {
        id: account.id,
        sent: { ...sent, amount },
        headers: { 'idempotency-key': key },
      })
    const replies = await Promise.all(Array.from({ length: 8 }, () => grant('k1')))
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    const again = await grant('k1')
    assert.deepEqual([again.status, again.body.remaining], [200, 11])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal((await grant('k1', 11)).status, 422)
    assert.equal((await grant('k2')).body.remaining, 21)
  })

  it('75 an Idempotency-Key of an operator in the console makes a change once too, for that operator', async () => {
    const account = await operators.service.account({ sms: 1 })
    const sent = { api_type: 'sms', direction: 'grant', amount: 10, note: 'n' }
    const [finance, owner] = [await operators.create('finance'), await operators.create('owner')]
    await finance.confirm()
    await owner.confirm()
    const grant = (operator: typeof finance, amount = 10) =>
      operator.call(operatorRoutes.changeCredits, {
        parts: { id: account.id },
        sent: { ...sent, amount } as never,
        headers: { 'idempotency-key': 'console-1' },
      })
    const replies = await Promise.all(Array.from({ length: 8 }, () => grant(finance)))
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    const again = await grant(finance)
    assert.deepEqual([again.status, again.body.remaining], [200, 11])
    assert.equal((await grant(finance, 11)).status, 422)
    assert.equal((await grant(owner)).body.remaining, 21)
    assert.equal((await operators.command('ledger', 'check')).ok, true)
  })

  it('75 changes at the same time are made once for each Idempotency-Key, whatever the ids of the requests', async () => {
    const account = await operators.service.account()
    const finance = await operators.create('finance')
    await finance.confirm()
    const grant = (key: string, id: string | undefined) =>
      finance.call(operatorRoutes.changeCredits, {
        parts: { id: account.id },
        sent: { api_type: 'sms', direction: 'grant', amount: 1, note: 'n' },
        headers: { 'idempotency-key': key, 'x-request-id': id },
      })
    for (let round = 1; round <= 10; round += 1) {
      // Some proxies pass on the id that a program sends, and programs repeat it.
      const id = round % 2 === 0 ? 'the-same-id-of-all' : undefined
      const keys = Array.from({ length: 12 }, (_one, index) =>
        `round ${round} ${index % 2}`.replaceAll(' ', '-'),
      )
      const replies = await Promise.all(keys.map((key) => grant(key, id)))
      assert.ok(replies.every(({ status }) => status === 200 || status === 409))
      const { remaining } = await operators.service.app.services.credits.balance(account.id, 'sms')
      assert.equal(remaining, 2 * round, `round ${round}`)
    }
  })
})
