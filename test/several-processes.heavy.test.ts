// Guarantees with several processes: two workers on SQLite, and two processes on PostgreSQL with and without Redis.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../server/audit/audit.ts'
import type { ApiType } from '../contract/credits.ts'
import { pathOf } from '../contract/console/route.ts'
import { sessionRoutes } from '../contract/console/session.ts'
import { shortlink } from '../contract/shortlink.ts'
import { formatDay } from '../contract/time.ts'
import { sms } from '../contract/sms.ts'
import {
  type AccountInput,
  changeAccount,
  createAccount,
  requireAccount,
  resetKey,
} from '../server/accounts/accounts.ts'
import { generateApiKey } from '../server/accounts/key.ts'
import { type CapsInput, changeAccountAndCaps } from '../server/credits/caps.ts'
import { checkLedger } from '../server/credits/ledger/check-store.ts'
import { createCredits } from '../server/credits/credits.ts'
import type { Database, Engine } from '../server/db/database.ts'
import { migrate } from '../server/db/migrate.ts'
import { addPoolDomain, removePoolDomain } from '../server/shortlink/domains/domains.ts'
import { createTemplate } from '../server/sms/templates.ts'
import { type FreshStorage, freshStorage, uniqueName } from './support/engines.ts'
import { callOnNewConnection, visit } from './support/new-connection.ts'
import { noRedis, startRedis } from './support/redis.ts'
import { type ServiceProcess, spawnService, type TestAccount } from './support/service.ts'

type Redis = Awaited<ReturnType<typeof startRedis>>

const secret = 'a secret of thirty-two characters.'
const password = 'correct horse 9'

/** Maximum time until every process uses a changed link. */
const propagationMs = 1_000

const setups: readonly { name: string; engine: Engine; redis: boolean }[] = [
  { name: 'two workers on SQLite', engine: 'sqlite', redis: false },
  { name: 'two processes on PostgreSQL', engine: 'postgres', redis: false },
  { name: 'two processes on PostgreSQL with Redis', engine: 'postgres', redis: true },
]

for (const { name, engine, redis: withRedis } of setups) {
  void describe(name, { skip: withRedis && noRedis }, () => {
    let storage: FreshStorage
    let db: Database
    let redis: Redis | undefined
    let services: ServiceProcess[] = []

    before(async () => {
      storage = await freshStorage(engine)
      db = storage.open()
      await migrate(db)
      redis = withRedis ? await startRedis() : undefined
      const environment = {
        ...storage.environment,
        SECRET_KEY: secret,
        SAMPLE_ACCOUNT: 'off',
        SMS_NUMBER_LIMITS: '3/d',
        ...(redis && { REDIS_URL: redis.url }),
      }
      services =
        engine === 'sqlite'
          ? [await spawnService({ ...environment, WORKERS: '2' })]
          : [await spawnService(environment), await spawnService(environment)]
    })

    after(async () => {
      for (const service of services) await service.kill('SIGKILL')
      await redis?.[Symbol.asyncDispose]()
      await db.close()
      await storage.remove()
    })

    let turn = 0
    /** Returns the URLs in turn. New connections alternate between workers. */
    const nextUrl = () => services[turn++ % services.length]!.url

    async function account(
      credits: Partial<Record<ApiType, number>> = {},
      rateLimit?: string,
    ): Promise<TestAccount> {
      const created = await createAccount(db, systemActor, { username: uniqueName(), password })
      for (const [apiType, amount] of Object.entries(credits)) {
        await createCredits(db, secret).grant({
          actor: systemActor,
          accountId: created.id,
          apiType: apiType as ApiType,
          amount,
        })
      }
      if (rateLimit !== undefined) {
        await db.write((tx) =>
          tx.run('UPDATE account SET rate_limit = ? WHERE id = ?', [rateLimit, created.id]),
        )
      }
      return { ...created, key: await resetKey(db, systemActor, created.id) }
    }

    const call = (
      path: string,
      client: Pick<TestAccount, 'username' | 'key'>,
      values: Record<string, unknown>,
      headers: Record<string, string> = {},
    ) =>
      callOnNewConnection(
        `${nextUrl()}${path}`,
        { username: client.username, api_key: client.key, ...values },
        headers,
      )

    const repeat = <T>(count: number, create: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, (_, index) => create(index)))

    const callConsole = (
      route: { readonly method: string; readonly path: string },
      sent: unknown,
      headers: Record<string, string> = {},
    ) => {
      const url = nextUrl()
      const path = pathOf(route as Parameters<typeof pathOf>[0])
      return callOnNewConnection(`${url}${path}`, route.method === 'GET' ? undefined : sent, {
        origin: url,
        ...headers,
      })
    }

    it('share the rate limit of an account', async () => {
      const client = await account({}, '1,5')
      const send = () => call(sms.path, client, { action: 'get_credits' })
      const startedAt = performance.now()
      const responses = await repeat(40, send)
      const maxAllowed = 5 + Math.ceil((performance.now() - startedAt) / 1000)
      const allowed = responses.filter(({ status }) => status === 200)
      assert.ok(allowed.length >= 5 && allowed.length <= maxAllowed, `${allowed.length} of ${maxAllowed}`)
      for (const { status, headers } of responses) {
        const [, left, reset] = /^"account";r=(\d+);t=(\d+)$/.exec(String(headers['ratelimit'])) ?? []
        assert.equal(headers['ratelimit-policy'], '"account";q=5;w=5')
        if (status === 200) assert.ok(Number(left) < 5)
        else assert.deepEqual([status, left, headers['retry-after']], [429, '0', reset])
      }
      assert.equal(new Set(allowed.slice(0, 5).map(({ headers }) => headers['ratelimit'])).size, 5)
    })

    it('share a large rate limit, except for prefetched tokens', async () => {
      const client = await account({}, '20,100')
      const startedAt = performance.now()
      const responses = await repeat(300, () => call(sms.path, client, { action: 'get_credits' }))
      const seconds = (performance.now() - startedAt) / 1000
      const allowed = responses.filter(({ status }) => status === 200).length
      // Each of two processes may prefetch a twentieth of the burst and half of that again.
      assert.ok(allowed <= 100 + Math.ceil(seconds * 20) + 2 * 7.5, `${allowed} in ${seconds} s`)
      assert.ok(allowed >= 85, String(allowed))
    })

    it('9 count wrong passwords together', async () => {
      const client = await account()
      const attempt = () =>
        callConsole(sessionRoutes.signIn, { username: client.username, password: 'wrong horse 9' })
      const responses = await repeat(16, attempt)
      assert.equal(responses.filter(({ status }) => status === 401).length, 10)
      assert.equal(responses.filter(({ status }) => status === 429).length, 6)
      // Now every process rejects the right password too.
      for (const { status } of await repeat(4, () =>
        callConsole(sessionRoutes.signIn, { username: client.username, password }),
      )) {
        assert.equal(status, 429)
      }
    })

    it('share sessions and sign-outs', async () => {
      const client = await account()
      const signedIn = await callConsole(sessionRoutes.signIn, { username: client.username, password })
      assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
      const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
      const me = () => callConsole(sessionRoutes.me, undefined, { cookie })
      for (const { status } of await repeat(6, me)) assert.equal(status, 200)
      const csrf = signedIn.body.csrf_token as string
      const signedOut = await callConsole(sessionRoutes.signOut, {}, { cookie, 'x-csrf-token': csrf })
      assert.equal(signedOut.status, 200)
      for (const { status } of await repeat(6, me)) assert.equal(status, 401)
    })

    it('share idempotency keys, balances and key resets', async () => {
      const client = await account({ short_link: 6 })
      const generate = { action: 'generate', target_url: 'https://example.com/', title: 't' }
      const same = await repeat(12, () =>
        call(shortlink.path, client, generate, { 'idempotency-key': 'once' }),
      )
      const created = same.filter(({ status }) => status === 200)
      assert.equal(new Set(created.map(({ body }) => body.data.link_id)).size, 1)
      const concurrent = await repeat(30, () => call(shortlink.path, client, generate))
      assert.equal(concurrent.filter(({ status }) => status === 200).length, 5)
      const key = await resetKey(db, systemActor, client.id)
      const get = { action: 'get', link_id: created[0]!.body.data.link_id as number }
      for (const { status } of await repeat(6, () => call(shortlink.path, client, get)))
        assert.equal(status, 401)
      for (const { status } of await repeat(6, () => call(shortlink.path, { ...client, key }, get)))
        assert.equal(status, 200)
      assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    })

    it('120 share caps, which are exact', async () => {
      const generate = { action: 'generate', target_url: 'https://example.com/', title: 't' }
      let day: string
      do {
        // Midnight in Shanghai begins a new day for the caps; then everything is done again.
        day = formatDay(Date.now())
        const client = await account({ short_link: 100 })
        const limit = async (caps: CapsInput) =>
          changeAccountAndCaps(db, systemActor, await requireAccount(db, client.username), caps)
        const spend = async (count: number, message: string) => {
          const replies = await repeat(count, () => call(shortlink.path, client, generate))
          const refused = replies.filter(({ status }) => status !== 200)
          for (const { status, body } of refused) {
            assert.deepEqual([status, body.success, body.message], [400, false, message])
          }
          return count - refused.length
        }
        const used = async () => {
          const [row] = await db.all<{ used: number; operations: number; day: number; month: number }>(
            `SELECT used, used_on_day AS day, used_in_month AS month,
               (SELECT COUNT(*) FROM operation WHERE account_id = credit.account_id) AS operations
             FROM credit WHERE account_id = ? AND api_type = 'short_link'`,
            [client.id],
          )
          return [row?.used, row?.operations, row?.day, row?.month]
        }
        await limit({ dailyCap: { short_link: 7 } })
        const today = await spend(40, '超过每日用量上限')
        const afterDay = await used()
        await limit({ dailyCap: null, monthlyCap: { short_link: 12 } })
        const month = await spend(40, '超过每月用量上限')
        const afterMonth = await used()
        if (formatDay(Date.now()) !== day) continue
        assert.deepEqual([today, afterDay], [7, [7, 7, 7, 7]])
        assert.deepEqual([month, afterMonth], [5, [12, 12, 12, 12]])
      } while (formatDay(Date.now()) !== day)
      assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    })

    it('121 share the allow list and the scopes of a key', async () => {
      const client = await account({ sms: 1 })
      const limit = async (change: AccountInput) =>
        changeAccount(db, systemActor, await requireAccount(db, client.username), change)
      const statuses = async () =>
        new Set(
          (await repeat(8, () => call(sms.path, client, { action: 'get_credits' }))).map(({ status, body }) =>
            `${status} ${body.code} ${body.message ?? ''}`.trim(),
          ),
        )
      assert.equal(
        [...(await statuses())].every((one) => one.startsWith('200 0')),
        true,
      )
      await limit({ allowIps: ['203.0.113.0/24'] })
      assert.deepEqual([...(await statuses())], ['403 1004 来源地址不在允许范围'])
      await limit({ allowIps: ['127.0.0.0/8', '::1'], scopes: ['short_link:write'] })
      assert.deepEqual([...(await statuses())], ['403 1004 无权执行此操作'])
      await limit({ allowIps: null, scopes: null })
      assert.equal(
        [...(await statuses())].every((one) => one.startsWith('200 0')),
        true,
      )
    })

    it('share link updates and domain pools', async () => {
      const client = await account({ short_link: 100 })
      const generate = { action: 'generate', target_url: 'https://example.com/1', title: 't' }
      const { link_id, short_code } = (await call(shortlink.path, client, generate)).body.data as {
        link_id: number
        short_code: string
      }
      await repeat(6, () => visit(`${nextUrl()}/${short_code}`))
      await call(shortlink.path, client, { action: 'update', link_id, target_url: 'https://example.com/2' })
      await sleep(propagationMs)
      for (const { location } of await repeat(6, () => visit(`${nextUrl()}/${short_code}`)))
        assert.equal(location, 'https://example.com/2')

      await addPoolDomain(db, systemActor, 'a', 'pool-a.test')
      await sleep(propagationMs)
      const addresses = async () =>
        (await repeat(4, () => call(shortlink.path, client, generate))).map(
          ({ body }) => new URL(body.data.a_url as string).host,
        )
      assert.deepEqual(new Set(await addresses()), new Set(['pool-a.test']))
      await removePoolDomain(db, systemActor, 'a', 'pool-a.test')
      await sleep(propagationMs)
      assert.equal((await addresses()).includes('pool-a.test'), false)
    })

    it('87 count wrong passwords of a link together', async () => {
      const client = await account({ short_link: 1 })
      const values = {
        action: 'generate',
        target_url: 'https://example.com/',
        title: 't',
        password: 'open 1',
      }
      const { short_code } = (await call(shortlink.path, client, values)).body.data as { short_code: string }
      const enter = (word: string) =>
        callOnNewConnection(`${nextUrl()}/${short_code}`, new URLSearchParams({ password: word }), {
          'content-type': 'application/x-www-form-urlencoded',
        })
      const statuses = (await repeat(16, () => enter('wrong'))).map(({ status }) => status)
      assert.equal(statuses.filter((status) => status === 403).length, 10)
      assert.equal(statuses.filter((status) => status === 429).length, 6)
    })

    it('share the message limit of a phone number', async () => {
      const client = await account({ sms: 100 })
      await createTemplate(db, systemActor, {
        accountId: client.id,
        code: 'CODE',
        name: 'c',
        content: '验证码${code}。',
        status: '审核通过',
      })
      const send = () =>
        call(sms.path, client, {
          action: 'send_sms',
          phone_number: '13800138000',
          template_code: 'CODE',
          template_params: { code: '1234' },
        })
      const responses = await repeat(16, send)
      assert.equal(responses.filter(({ body }) => body.code === 200 || body.code === 0).length, 3)
      assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    })

    // Must be last: it exhausts the limit of this address.
    it('count wrong keys from one address together', async () => {
      const client = await account()
      const attempt = () =>
        call(
          sms.path,
          { username: client.username, key: generateApiKey('another installation') },
          { action: 'get_credits' },
        )
      const statuses: number[] = []
      for (let round = 0; round < 8; round += 1) {
        statuses.push(...(await repeat(10, attempt)).map(({ status }) => status))
        // Processes exchange their counters ten times a second.
        await sleep(300)
      }
      const checked = statuses.filter((status) => status !== 429).length
      assert.ok(checked >= 60 && checked <= 70, String(checked))
    })

    if (withRedis) {
      it('count separately while Redis is down and share limits after it restarts', async () => {
        const { port } = redis!
        await redis![Symbol.asyncDispose]()
        const client = await account({}, '1,5')
        const send = () => call(sms.path, client, { action: 'get_credits' })
        const startedAt = performance.now()
        const separate = (await repeat(40, send)).filter(({ status }) => status === 200).length
        const refilled = Math.ceil((performance.now() - startedAt) / 1000)
        assert.ok(separate >= 10 && separate <= 2 * (5 + refilled), String(separate))
        const shared = async () => {
          const texts = await Promise.all(
            services.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
          )
          return texts.map((text) => /^tollgate_limits_shared (\d)/m.exec(text)?.[1]).join('')
        }
        assert.equal(await shared(), '00')
        redis = await startRedis(port)
        while ((await shared()) !== '11') await sleep(50)
        const other = await account({}, '1,5')
        const restartedAt = performance.now()
        const responses = await repeat(40, () => call(sms.path, other, { action: 'get_credits' }))
        const sharedCount = responses.filter(({ status }) => status === 200).length
        assert.ok(sharedCount <= 5 + Math.ceil((performance.now() - restartedAt) / 1000), String(sharedCount))
        for (const service of services) {
          // The log is flushed when the process exits.
          assert.equal(await service.kill('SIGTERM'), 0)
          assert.equal(service.output().match(/shared limits are unavailable/g)?.length, 1)
          assert.equal(service.output().match(/limits are shared again/g)?.length, 1)
        }
      })
    }
  })
}
