// Rules for every console route. The routes come from the contract, so new routes are tested too.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { after, before, it } from 'node:test'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { requestRoutes } from '../../contract/console/requests.ts'
import { pathOf, type Route } from '../../contract/console/route.ts'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { operatorApi } from '../../contract/console/responses/operator-api.ts'
import { accountApi, exampleParts as parts } from '../../test/support/console-responses.ts'
import { type Browser, createBrowser, operator, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestAccount, type TestService } from '../../test/support/service.ts'

const { start, signIn, secondStep, requestRecovery, recover, signUp, signOut } = sessionRoutes
const { signIn: oidcSignIn } = oidcRoutes

/** Routes without a session. */
const openRoutes = { start, signIn, secondStep, requestRecovery, recover, signUp, signOut, oidcSignIn }
const isOpen = (route: unknown) => Object.values<unknown>(openRoutes).includes(route)

const routesByPath = (operations: readonly { readonly route: Route<unknown, unknown> }[]) =>
  Object.fromEntries(operations.map(({ route }) => [`${route.method} ${route.path}`, route]))

const accountRoutes = routesByPath(accountApi.filter(({ route }) => !isOpen(route)))
const allOperatorRoutes = routesByPath(operatorApi)
const guarded = { ...accountRoutes, ...allOperatorRoutes }

const isRoute = (value: unknown): value is Route<unknown, unknown> =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'input' in value

it('123 every route of the contract is tested here', async () => {
  const listed = new Set<unknown>(Object.values({ ...guarded, ...openRoutes }))
  const folder = new URL('../../contract/console/', import.meta.url)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts'))) {
    const exported = (await import(new URL(file, folder).href)) as Record<string, unknown>
    for (const [table, routes] of Object.entries(exported)) {
      if (typeof routes !== 'object' || routes === null) continue
      for (const [name, route] of Object.entries(routes)) {
        if (isRoute(route)) assert.ok(listed.has(route), `${file}: ${table}.${name}`)
      }
    }
  }
})

/** The status of the response to a request that announces a megabyte and never sends it. */
async function statusWithoutBody(url: string, line: string, headers: readonly string[]): Promise<number> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  const head = [`Host: ${host}`, 'Content-Type: application/json', 'Content-Length: 1000000', ...headers]
  socket.write(`${line} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{`)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1])
}

onEachEngine('every console route', (engine) => {
  let service: TestService
  let account: TestAccount
  let browser: Browser

  before(async () => {
    service = await startService(engine)
    account = await service.account()
    browser = await signedIn(service, account)
  })
  after(() => service[Symbol.asyncDispose]())

  it('rejects requests without a session', async () => {
    for (const [name, route] of Object.entries(guarded)) {
      const reply = await createBrowser(service).call(route, { parts })
      assert.equal(reply.status, 401, name)
      assert.equal(reply.body.error.code, 'unauthenticated', name)
      assert.equal(reply.body.error.request_id, reply.headers.get('x-request-id'), name)
    }
  })

  it('rejects changes without the CSRF token or with the token of another session', async () => {
    const other = await signedIn(service, await service.account())
    const changing = Object.entries({ ...guarded, signOut }).filter(([, route]) => route.method !== 'GET')
    assert.ok(changing.length > 30)
    for (const [name, route] of changing) {
      for (const token of [undefined, '', 'x', other.csrf]) {
        const reply = await browser.call(route, { parts, headers: { 'x-csrf-token': token } })
        assert.equal(reply.status, 403, name)
        assert.equal(reply.body.error.code, 'csrf', name)
      }
    }
    assert.equal((await browser.call(sessionRoutes.me)).status, 200, 'the session is as it was')
  })

  it('rejects changes from another site and bodies that are not JSON', async () => {
    const changing = Object.entries({
      ...guarded,
      signIn,
      secondStep,
      requestRecovery,
      recover,
      signUp,
      signOut,
    }).filter(([, route]) => route.method !== 'GET')
    for (const [name, route] of changing) {
      for (const headers of [
        { origin: 'https://evil.test' },
        { origin: 'null' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ]) {
        const reply = await browser.call(route, { parts, headers })
        assert.equal(reply.status, 403, name)
        assert.equal(reply.body.error.code, 'csrf', name)
      }
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
      ]) {
        const reply = await browser.call(route, { parts, headers: { 'content-type': type } })
        assert.equal(reply.status, 415, name)
        assert.equal(reply.body.error.code, 'not_json', name)
      }
    }
  })

  it('41 rejects access before the body arrives', async () => {
    const other = await signedIn(service, await service.account())
    const changing = Object.entries({
      ...guarded,
      signIn,
      secondStep,
      requestRecovery,
      recover,
      signUp,
      signOut,
    }).filter(([, route]) => route.method !== 'GET')
    const open = [
      signIn,
      oidcSignIn,
      secondStep,
      requestRecovery,
      recover,
      signUp,
      signOut,
    ] as readonly unknown[]
    for (const [name, route] of changing) {
      const line = `${route.method} ${pathOf(route, parts)}`
      const foreign = ['Origin: https://evil.test']
      assert.equal(await statusWithoutBody(service.url, line, foreign), 403, `${name}: another site`)
      if (open.includes(route)) continue
      assert.equal(await statusWithoutBody(service.url, line, []), 401, `${name}: no session`)
      const wrongToken = [`Cookie: ${browser.cookie}`, `X-CSRF-Token: ${other.csrf}`]
      assert.equal(await statusWithoutBody(service.url, line, wrongToken), 403, `${name}: no token`)
    }
    for (const path of ['/console/api/nothing', '/nothing/here', '/docs/', '/receipts/sms/aliyun/wrong']) {
      assert.equal(await statusWithoutBody(service.url, `POST ${path}`, []), 404, path)
    }
  })

  it('41 rejects bodies with too many values and large bodies without a session', async () => {
    const send = async (path: string, body: string) => {
      const response = await fetch(`${service.url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          cookie: browser.cookie ?? '',
          'x-csrf-token': browser.csrf ?? '',
        },
        body,
      })
      await response.arrayBuffer()
      return response.status
    }
    assert.equal(await send(pathOf(signIn), `{"username":"${'a'.repeat(70_000)}"}`), 413)
    for (const path of [pathOf(signIn), pathOf(domainCheckRoutes.start)]) {
      for (const body of [
        '['.repeat(50_000),
        `[${'1,'.repeat(25_000)}1]`,
        `{${'"a":1,'.repeat(3_000)}"a":1}`,
      ]) {
        assert.equal(await send(path, body), 400, `${path} ${body.slice(0, 10)}`)
      }
    }
  })

  it('rejects account holders on operator routes', async () => {
    for (const [name, route] of Object.entries(allOperatorRoutes)) {
      const reply = await browser.call(route, { parts: { ...parts, id: account.id } })
      assert.equal(reply.status, 403, name)
      assert.equal(reply.body.error.code, 'forbidden', name)
    }
    const looked = await browser.call(sessionRoutes.me, { query: { view_as: account.id } })
    assert.equal(looked.status, 403)
  })

  it('lets an operator view an account read-only', async () => {
    const operatorBrowser = await operator(service)
    for (const [name, route] of Object.entries(accountRoutes)) {
      if (route.method === 'GET') continue
      const reply = await operatorBrowser.call(route, { parts, query: { view_as: account.id } })
      assert.equal(reply.status, 403, name)
      assert.equal(reply.body.error.code, 'read_only', name)
    }
    const viewed = await operatorBrowser.call(sessionRoutes.me, { query: { view_as: account.id } })
    assert.equal(viewed.body.account.username, account.username)
    assert.equal(viewed.body.user.username, operatorBrowser.username)
    assert.equal(viewed.body.read_only, true)
    assert.equal((await operatorBrowser.call(sessionRoutes.me, { query: { view_as: 999_999 } })).status, 404)
    const { body } = await operatorBrowser.call(operatorRoutes.audit, { sent: { action: 'account.view' } })
    assert.deepEqual(
      body.items.map((one: { actor: string; target: string }) => [one.actor, one.target]),
      [[operatorBrowser.username, account.username]],
    )
  })

  it('shows no account to an operator while the view cannot be recorded', async () => {
    const staff = await operator(service)
    const { db } = service.installation
    const look = () => staff.call(sessionRoutes.me, { query: { view_as: account.id } })
    await db.write((tx) => tx.run('ALTER TABLE audit RENAME TO audit_elsewhere'))
    try {
      assert.deepEqual([(await look()).status, (await look()).status], [500, 500])
    } finally {
      await db.write((tx) => tx.run('ALTER TABLE audit_elsewhere RENAME TO audit'))
    }
    assert.deepEqual([(await look()).status, (await look()).status], [200, 200])
    const { body } = await staff.call(operatorRoutes.audit, { sent: { action: 'account.view' } })
    assert.equal(body.items.filter((one: { actor: string }) => one.actor === staff.username).length, 1)
  })

  it('rejects suspended accounts, except to sign out', async () => {
    const stopped = await service.account()
    const suspendedBrowser = await signedIn(service, stopped)
    const { db } = service.installation
    await db.write((tx) => tx.run('UPDATE account SET suspended = 1 WHERE id = ?', [stopped.id]))
    for (const [name, route] of Object.entries(accountRoutes)) {
      const reply = await suspendedBrowser.call(route, { parts })
      assert.equal(reply.status, 403, name)
      assert.equal(reply.body.error.code, 'suspended', name)
    }
    assert.equal((await createBrowser(service).signIn(stopped.username)).body.error.code, 'suspended')
    assert.equal((await suspendedBrowser.call(signOut)).status, 200)
  })

  it('sends security headers and never a stack trace', async () => {
    const response = await fetch(`${service.url}${pathOf(start)}`)
    assert.equal(response.headers.get('cache-control'), 'no-store')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(response.headers.get('referrer-policy'), 'no-referrer')
    assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
    const broken = await fetch(`${service.url}${pathOf(signIn)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"username": ',
    })
    assert.equal(broken.status, 400)
    assert.deepEqual(Object.keys((await broken.json()) as object), ['error'])
    const polluted = await fetch(`${service.url}${pathOf(signIn)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"__proto__": {"role": "operator"}}',
    })
    assert.equal(polluted.status, 400)
  })

  it('responds in the language of the request', async () => {
    const zh = await createBrowser(service).call(sessionRoutes.me)
    const en = await createBrowser(service).call(sessionRoutes.me, { headers: { 'accept-language': 'en' } })
    assert.equal(zh.body.error.message, '请重新登录')
    assert.equal(en.body.error.message, 'Sign in again')
  })

  it('returns 404 for a path part that no database can store', async () => {
    const operatorBrowser = await operator(service)
    for (const [name, route] of Object.entries(guarded)) {
      if (!route.path.includes(':')) continue
      const invalid = { id: 'a\0b', kind: 'a\0b', group: 'a\0b', name: 'a\0b' }
      const { status } = await operatorBrowser.call(route as typeof requestRoutes.one, {
        parts: invalid,
        sent: {},
      })
      assert.ok(status >= 400 && status < 500, `${name}: ${status}`)
    }
  })

  it('returns 404 for unknown routes', async () => {
    for (const path of ['/console/api/nothing', '/console/api/', '/console/api/operator/nothing']) {
      const response = await fetch(`${service.url}${path}`)
      assert.equal(response.status, 404, path)
      assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'not_found')
    }
  })
})
