// What must hold however many processes serve: two workers on SQLite, two processes of their own on PostgreSQL, and those
// with Redis between them.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemActor } from '../server/audit/audit.ts'
import type { ApiType } from '../contract/credits.ts'
import { pathOf } from '../contract/console/route.ts'
import { sessionRoutes } from '../contract/console/session.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { createAccount, resetKey } from '../server/accounts/accounts.ts'
import { generateApiKey } from '../server/accounts/key.ts'
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

/** Within which a change of a link has reached every process. */
const soonMs = 1_000

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
    /** Another process each time: workers take turns by themselves, with a connection for each call. */
    const next = () => services[turn++ % services.length]!.url

    async function account(
      credits: Partial<Record<ApiType, number>> = {},
      rateLimit?: string,
    ): Promise<TestAccount> {
      const made = await createAccount(db, systemActor, { username: uniqueName(), password })
      for (const [apiType, amount] of Object.entries(credits)) {
        await createCredits(db, secret).grant({
          actor: systemActor,
          accountId: made.id,
          apiType: apiType as ApiType,
          amount,
        })
      }
      if (rateLimit !== undefined) {
        await db.write((tx) => tx.run('UPDATE account SET rate_limit = ? WHERE id = ?', [rateLimit, made.id]))
      }
      return { ...made, key: await resetKey(db, systemActor, made.id) }
    }

    const call = (
      path: string,
      who: Pick<TestAccount, 'username' | 'key'>,
      values: Record<string, unknown>,
      headers: Record<string, string> = {},
    ) =>
      callOnNewConnection(
        `${next()}${path}`,
        { username: who.username, api_key: who.key, ...values },
        headers,
      )

    const many = <T>(count: number, make: (index: number) => Promise<T>) =>
      Promise.all(Array.from({ length: count }, (_, index) => make(index)))

    const console = (
      route: { readonly method: string; readonly path: string },
      sent: unknown,
      headers: Record<string, string> = {},
    ) => {
      const url = next()
      const path = pathOf(route as Parameters<typeof pathOf>[0])
      return callOnNewConnection(`${url}${path}`, route.method === 'GET' ? undefined : sent, {
        origin: url,
        ...headers,
      })
    }

    it('an account’s rate limit is one limit', async () => {
      const who = await account({}, '1,5')
      const ask = () => call(sms.path, who, { action: 'get_credits' })
      const startedAt = performance.now()
      const answers = await many(40, ask)
      const mayHave = 5 + Math.ceil((performance.now() - startedAt) / 1000)
      const allowed = answers.filter(({ status }) => status === 200)
      assert.ok(allowed.length >= 5 && allowed.length <= mayHave, `${allowed.length} of ${mayHave}`)
      for (const { status, headers } of answers) {
        const [, left, reset] = /^"account";r=(\d+);t=(\d+)$/.exec(String(headers['ratelimit'])) ?? []
        assert.equal(headers['ratelimit-policy'], '"account";q=5;w=5')
        if (status === 200) assert.ok(Number(left) < 5)
        else assert.deepEqual([status, left, headers['retry-after']], [429, '0', reset])
      }
      assert.equal(new Set(allowed.slice(0, 5).map(({ headers }) => headers['ratelimit'])).size, 5)
    })

    it('a large rate limit is one limit too, give or take what may be drawn ahead', async () => {
      const who = await account({}, '20,100')
      const startedAt = performance.now()
      const answers = await many(300, () => call(sms.path, who, { action: 'get_credits' }))
      const seconds = (performance.now() - startedAt) / 1000
      const allowed = answers.filter(({ status }) => status === 200).length
      // A twentieth of the burst and half of that again, by each of two processes.
      assert.ok(allowed <= 100 + Math.ceil(seconds * 20) + 2 * 7.5, `${allowed} in ${seconds} s`)
      assert.ok(allowed >= 85, String(allowed))
    })

    it('9 wrong passwords are counted together', async () => {
      const who = await account()
      const wrong = () => console(sessionRoutes.signIn, { username: who.username, password: 'wrong horse 9' })
      const answers = await many(16, wrong)
      assert.equal(answers.filter(({ status }) => status === 401).length, 10)
      assert.equal(answers.filter(({ status }) => status === 429).length, 6)
      // Even the right one has to wait now, in whatever process.
      for (const { status } of await many(4, () =>
        console(sessionRoutes.signIn, { username: who.username, password }),
      )) {
        assert.equal(status, 429)
      }
    })

    it('sessions and their end hold everywhere', async () => {
      const who = await account()
      const signedIn = await console(sessionRoutes.signIn, { username: who.username, password })
      assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body))
      const cookie = String(signedIn.headers['set-cookie']).split(';')[0]!
      const me = () => console(sessionRoutes.me, undefined, { cookie })
      for (const { status } of await many(6, me)) assert.equal(status, 200)
      const csrf = signedIn.body.csrf_token as string
      const out = await console(sessionRoutes.signOut, {}, { cookie, 'x-csrf-token': csrf })
      assert.equal(out.status, 200)
      for (const { status } of await many(6, me)) assert.equal(status, 401)
    })

    it('an Idempotency-Key pays once, the last credit is spent once, a reset key is dead', async () => {
      const who = await account({ short_link: 6 })
      const generate = { action: 'generate', target_url: 'https://example.com/', title: 't' }
      const same = await many(12, () => call(shortlink.path, who, generate, { 'idempotency-key': 'once' }))
      const made = same.filter(({ status }) => status === 200)
      assert.equal(new Set(made.map(({ body }) => body.data.link_id)).size, 1)
      const rush = await many(30, () => call(shortlink.path, who, generate))
      assert.equal(rush.filter(({ status }) => status === 200).length, 5)
      const key = await resetKey(db, systemActor, who.id)
      const get = { action: 'get', link_id: made[0]!.body.data.link_id as number }
      for (const { status } of await many(6, () => call(shortlink.path, who, get))) assert.equal(status, 401)
      for (const { status } of await many(6, () => call(shortlink.path, { ...who, key }, get)))
        assert.equal(status, 200)
      assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    })

    it('link updates and domain pools', async () => {
      const who = await account({ short_link: 100 })
      const generate = { action: 'generate', target_url: 'https://example.com/1', title: 't' }
      const { link_id, short_code } = (await call(shortlink.path, who, generate)).body.data as {
        link_id: number
        short_code: string
      }
      await many(6, () => visit(`${next()}/${short_code}`))
      await call(shortlink.path, who, { action: 'update', link_id, target_url: 'https://example.com/2' })
      await sleep(soonMs)
      for (const { location } of await many(6, () => visit(`${next()}/${short_code}`)))
        assert.equal(location, 'https://example.com/2')

      await addPoolDomain(db, systemActor, 'a', 'pool-a.test')
      await sleep(soonMs)
      const addresses = async () =>
        (await many(4, () => call(shortlink.path, who, generate))).map(
          ({ body }) => new URL(body.data.a_url as string).host,
        )
      assert.deepEqual(new Set(await addresses()), new Set(['pool-a.test']))
      await removePoolDomain(db, systemActor, 'a', 'pool-a.test')
      await sleep(soonMs)
      assert.equal((await addresses()).includes('pool-a.test'), false)
    })

    it('a phone number gets no more messages than its limit', async () => {
      const who = await account({ sms: 100 })
      await createTemplate(db, systemActor, {
        accountId: who.id,
        code: 'CODE',
        name: 'c',
        content: '验证码${code}。',
        status: '审核通过',
      })
      const send = () =>
        call(sms.path, who, {
          action: 'send_sms',
          phone_number: '13800138000',
          template_code: 'CODE',
          template_params: { code: '1234' },
        })
      const answers = await many(16, send)
      assert.equal(answers.filter(({ body }) => body.code === 200 || body.code === 0).length, 3)
      assert.deepEqual((await checkLedger(db, 10_000)).problems, [])
    })

    // The last one: from here on this address has to wait.
    it('wrong keys from one address are counted together', async () => {
      const who = await account()
      const wrong = () =>
        call(sms.path, { username: who.username, key: generateApiKey() }, { action: 'get_credits' })
      const statuses: number[] = []
      for (let round = 0; round < 8; round += 1) {
        statuses.push(...(await many(10, wrong)).map(({ status }) => status))
        // What one process has counted is told to the others ten times a second.
        await sleep(300)
      }
      const listened = statuses.filter((status) => status !== 429).length
      assert.ok(listened >= 60 && listened <= 70, String(listened))
    })

    if (withRedis) {
      it('calls go on when Redis goes, each process counting for itself, and together again when it is back', async () => {
        const { port } = redis!
        await redis![Symbol.asyncDispose]()
        const who = await account({}, '1,5')
        const ask = () => call(sms.path, who, { action: 'get_credits' })
        const startedAt = performance.now()
        const alone = (await many(40, ask)).filter(({ status }) => status === 200).length
        const inflow = Math.ceil((performance.now() - startedAt) / 1000)
        assert.ok(alone >= 10 && alone <= 2 * (5 + inflow), String(alone))
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
        const backAt = performance.now()
        const answers = await many(40, () => call(sms.path, other, { action: 'get_credits' }))
        const together = answers.filter(({ status }) => status === 200).length
        assert.ok(together <= 5 + Math.ceil((performance.now() - backAt) / 1000), String(together))
        for (const service of services) {
          // What it has logged is written by then.
          assert.equal(await service.kill('SIGTERM'), 0)
          assert.equal(service.output().match(/shared limits are unavailable/g)?.length, 1)
          assert.equal(service.output().match(/limits are shared again/g)?.length, 1)
        }
      })
    }
  })
}
