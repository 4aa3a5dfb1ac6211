// A client of the console API that stores its session cookie, sends the CSRF token, and sends JSON.
import { systemActor } from '../../server/audit/audit.ts'
import { pathOf, type Route } from '../../contract/console/route.ts'
import { securityRoutes } from '../../contract/console/security.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { createAccount } from '../../server/accounts/accounts.ts'
import { checkConsoleResponse } from './console-responses.ts'
import { uniqueName } from './engines.ts'
import type { Reply, TestService } from './service.ts'

export const testPassword = 'correct horse 9'

type AnyRoute = Pick<Route<unknown, unknown>, 'method' | 'path'>

export interface CallOptions {
  readonly parts?: Readonly<Record<string, string | number>>
  /** The query of a GET, the JSON body of other methods. */
  readonly sent?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, string | number>>
  /** The body of an upload, a CSV file, instead of JSON. */
  readonly file?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string | undefined>>
}

export interface Browser {
  cookie: string | undefined
  csrf: string | undefined
  call(route: AnyRoute, options?: CallOptions): Promise<Reply>
  /** Returns the response body as text. */
  text(route: AnyRoute, options?: CallOptions): Promise<{ status: number; headers: Headers; text: string }>
  signIn(username: string, password?: string): Promise<Reply>
  /** Confirms the password, as sensitive changes need. */
  confirm(): Promise<void>
}

export function createBrowser(service: Pick<TestService, 'url'>): Browser {
  const browser: Browser = {
    cookie: undefined,
    csrf: undefined,
    async call(route, options = {}) {
      const { status, headers, text } = await browser.text(route, options)
      const body = JSON.parse(text)
      if (status === 200) checkConsoleResponse(route, body)
      return { status, headers, body }
    },
    async text(route, { parts = {}, sent = {}, query = {}, file, headers = {} } = {}) {
      const isGet = route.method === 'GET'
      const path = pathOf(route, parts, isGet ? { ...(sent as typeof query), ...query } : query)
      const all: Record<string, string | undefined> = {
        cookie: browser.cookie,
        ...(!isGet && {
          'content-type': file === undefined ? 'application/json' : 'text/csv',
          'x-csrf-token': browser.csrf,
          origin: service.url,
        }),
        ...headers,
      }
      const response = await fetch(`${service.url}${path}`, {
        method: route.method,
        headers: Object.fromEntries(
          Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
        body: isGet ? null : (file ?? JSON.stringify(sent)),
      })
      for (const set of response.headers.getSetCookie()) setCookie(browser, set)
      // response.text() would remove the byte order mark, which tests check.
      const text = Buffer.from(await response.arrayBuffer()).toString('utf8')
      return { status: response.status, headers: response.headers, text }
    },
    async signIn(username, password = testPassword) {
      const reply = await browser.call(sessionRoutes.signIn, { sent: { username, password } })
      browser.csrf = reply.body.csrf_token
      return reply
    },
    async confirm() {
      const reply = await browser.call(securityRoutes.confirm, { sent: { password: testPassword } })
      if (reply.status !== 200) throw new Error(`not confirmed: ${JSON.stringify(reply.body)}`)
    },
  }
  return browser
}

/** Replaces, adds or deletes one cookie. */
function setCookie(browser: Browser, set: string): void {
  const pair = set.split(';')[0]!
  const name = `${pair.split('=')[0]}=`
  const others = (browser.cookie?.split('; ') ?? []).filter((one) => !one.startsWith(name))
  const cookies = set.includes('Max-Age=0') ? others : [...others, pair]
  browser.cookie = cookies.length === 0 ? undefined : cookies.join('; ')
}

export async function signedIn(
  service: TestService,
  account: { readonly username: string },
): Promise<Browser> {
  const browser = createBrowser(service)
  await browser.signIn(account.username)
  return browser
}

/** An operator who has confirmed the password. */
export async function operator(service: TestService): Promise<Browser & { readonly username: string }> {
  const username = uniqueName()
  await createAccount(service.installation.db, systemActor, {
    username,
    password: testPassword,
    role: 'operator',
  })
  const browser = await signedIn(service, { username })
  await browser.confirm()
  return Object.assign(browser, { username })
}
