// Calls of the short link API by two accounts, and visits of links.
import assert from 'node:assert/strict'
import type { Engine } from '../../server/db/database.ts'
import { post, type Reply, startService, type TestAccount, type TestService } from './service.ts'

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'
export const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 MicroMessenger/8.0.49'
export const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

export const newLink = { action: 'generate', target_url: 'https://example.com/b', title: 't' }

export interface LinkCalls extends AsyncDisposable {
  readonly service: TestService
  readonly account: TestAccount
  readonly other: TestAccount
  call(body: object, caller?: TestAccount): Promise<Reply>
  /** Returns `data` of a successful response. */
  ok(body: object, caller?: TestAccount): Promise<Reply['body']>
  refused(body: object, message: string, caller?: TestAccount): Promise<void>
}

export async function openLinkCalls(engine: Engine): Promise<LinkCalls> {
  const service = await startService(engine, { TRUSTED_PROXIES: '127.0.0.1' })
  const account = await service.account({ short_link: 1_000 })
  const other = await service.account({ short_link: 100 })
  const call = (body: object, caller = account): Promise<Reply> =>
    post(`${service.url}/api/shortlink_api.php`, { username: caller.username, api_key: caller.key, ...body })
  return {
    service,
    account,
    other,
    call,
    async ok(body, caller) {
      const reply = await call(body, caller)
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
      return reply.body.data
    },
    async refused(body, message, caller) {
      const reply = await call(body, caller)
      assert.deepEqual([reply.status, reply.body], [400, { success: false, message }])
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

export async function visit(url: string, options: RequestInit & { headers?: Record<string, string> } = {}) {
  const reply = await fetch(url, {
    redirect: 'manual',
    ...options,
    headers: { 'user-agent': chrome, ...options.headers },
  })
  const text = await reply.text()
  return { status: reply.status, location: reply.headers.get('location'), text, headers: reply.headers }
}
