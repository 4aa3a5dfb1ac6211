// A service with an operator of every role, and calls with a session or an operator token.
import assert from 'node:assert/strict'
import { type OperatorRole, operatorRoles } from '../../contract/console/roles.ts'
import { pathOf, type Route } from '../../contract/console/route.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { systemActor } from '../../server/audit/audit.ts'
import type { Engine } from '../../server/db/database.ts'
import { type Browser, createBrowser, testPassword } from './console.ts'
import { uniqueName } from './engines.ts'
import { admin, type Reply, startService, type TestService } from './service.ts'

type OperatorBrowser = Browser & { readonly username: string }

interface TokenCall {
  readonly id?: number
  readonly sent?: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface Operators extends AsyncDisposable {
  readonly service: TestService
  as(role: OperatorRole): OperatorBrowser
  /** Another operator, signed in. */
  create(role: OperatorRole): Promise<OperatorBrowser>
  /** The output of an admin command, which must succeed. */
  command(...words: string[]): Promise<Reply['body']>
  callWithToken(
    token: string,
    route: Pick<Route<unknown, unknown>, 'method' | 'path'>,
    call?: TokenCall,
  ): Promise<Reply>
}

export async function openOperators(
  engine: Engine,
  environment: Readonly<Record<string, string>> = {},
): Promise<Operators> {
  const service = await startService(engine, environment)
  const browsers = new Map<OperatorRole, OperatorBrowser>()

  async function create(operatorRole: OperatorRole): Promise<OperatorBrowser> {
    const username = uniqueName()
    const { db } = service.installation
    await createAccount(db, systemActor, {
      username,
      password: testPassword,
      role: 'operator',
      operatorRole,
    })
    const browser = createBrowser(service)
    await browser.signIn(username)
    return Object.assign(browser, { username })
  }

  for (const role of operatorRoles) browsers.set(role, await create(role))
  return {
    service,
    as: (role) => browsers.get(role)!,
    create,
    async command(...words) {
      const done = await admin(service.storage.environment, ...words, '--json')
      assert.equal(done.code, 0, done.stderr)
      return JSON.parse(done.stdout) as Reply['body']
    },
    async callWithToken(token, route, { id = 1, sent = {}, headers = {} } = {}) {
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
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
