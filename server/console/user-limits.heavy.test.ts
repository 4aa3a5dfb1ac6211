// Limits on what a user reads and changes in the console, and that neither makes others wait.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { homeRoutes } from '../../contract/console/home.ts'
import { creditRoutes } from '../../contract/console/credits.ts'
import { requestRoutes } from '../../contract/console/requests.ts'
import { pathOf } from '../../contract/console/route.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import { type Browser, signedIn } from '../../test/support/console.ts'
import { onEachEngine } from '../../test/support/engines.ts'
import { startService, type TestService } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'
import { ConsoleProblem } from './problem.ts'
import { createUserLimits, userRate } from './user-limits.ts'

const holder = (id: number) => ({ id, role: 'account' }) as const

void describe('user limits', () => {
  it('42 let a few requests of a user run at a time, more wait, and the rest are rejected', async () => {
    const limits = createUserLimits(undefined)
    const entered: (() => void)[] = []
    const enter = (userId: number) =>
      limits.enter('page', holder(userId)).then((leave) => entered.push(leave))
    const waiting = Array.from({ length: 64 }, () => enter(1))
    await Promise.all(waiting.slice(0, 4))
    assert.equal(entered.length, 4)
    await assert.rejects(enter(1), (error) => error instanceof ConsoleProblem && error.retryAfter === 1)
    // Another user does not wait.
    await enter(2)
    for (let left = 0; left < waiting.length; left += 1) {
      const leave = entered.shift()!
      leave()
      // A second call changes nothing.
      leave()
      await new Promise(setImmediate)
      assert.ok(entered.length <= 5)
    }
    await Promise.all(waiting)
    await enter(1)
  })

  it('42 let two files of a user run at a time, four wait, and the rest are rejected', async () => {
    const limits = createUserLimits(undefined)
    const entered: (() => void)[] = []
    const enter = () => limits.enter('file', holder(1)).then((leave) => entered.push(leave))
    const sent = Array.from({ length: 6 }, enter)
    await new Promise(setImmediate)
    assert.equal(entered.length, 2)
    await assert.rejects(enter(), ConsoleProblem)
    for (let left = 0; left < sent.length; left += 1) {
      await until(() => entered.length > 0)
      entered.shift()!()
    }
    await Promise.all(sent)
    assert.deepEqual(userRate, { perSecond: 30, burst: 300 })
  })

  it('157 let an account holder make ten thousand changes at once', async () => {
    const limits = createUserLimits({ perSecond: 1e6, burst: 1e6 })
    const start = performance.now()
    for (let i = 0; i < 10_000; i += 1) (await limits.enter('change', holder(1)))()
    let more = 0
    const isRefused = async () => {
      try {
        ;(await limits.enter('change', holder(1)))()
        return false
      } catch (error) {
        assert.ok(error instanceof ConsoleProblem)
        return true
      }
    }
    while (!(await isRefused())) more += 1
    assert.ok(more <= (performance.now() - start) / 1000 + 1, `${more} more`)
  })

  it('42 limit the requests per second', async () => {
    const limits = createUserLimits({ perSecond: 1, burst: 20 })
    for (let i = 0; i < 20; i += 1) (await limits.enter('page', holder(1)))()
    await assert.rejects(
      limits.enter('page', holder(1)),
      (error) => error instanceof ConsoleProblem && error.code === 'too_many' && error.retryAfter === 1,
    )
    await limits.enter('page', holder(2))
    await limits.enter('page', undefined)
  })

  it('147 limit the changes per second apart from the reads', async () => {
    const limits = createUserLimits({ perSecond: 0.001, burst: 20 })
    for (let i = 0; i < 20; i += 1) (await limits.enter('page', holder(1)))()
    for (let i = 0; i < 20; i += 1) (await limits.enter('change', holder(1)))()
    await assert.rejects(limits.enter('change', holder(1)), (error) => error instanceof ConsoleProblem)
  })

  it('157 limit the changes in the long run, and the reads not', async () => {
    const limits = createUserLimits({ perSecond: 1_000, burst: 1_000 }, { perSecond: 0.001, burst: 20 })
    for (let i = 0; i < 20; i += 1) (await limits.enter('change', holder(1)))()
    await assert.rejects(limits.enter('change', holder(1)), (error) => error instanceof ConsoleProblem)
    const leave = await limits.enter('change', holder(2))
    leave()
    for (let i = 0; i < 50; i += 1) (await limits.enter('change', { id: 3, role: 'operator' }))()
    for (let i = 0; i < 50; i += 1) (await limits.enter('page', holder(1)))()
  })

  it('147 let sixteen changes of a user run at a time, others wait, and another user does not', async () => {
    const limits = createUserLimits(undefined)
    const entered: number[] = []
    const ends: (() => void)[] = []
    const enter = async (userId: number) => {
      ends.push(await limits.enter('change', holder(userId)))
      entered.push(userId)
    }
    const sent = Array.from({ length: 30 }, () => enter(1))
    await Promise.all(sent.slice(0, 16))
    await new Promise(setImmediate)
    assert.equal(entered.length, 16)
    await enter(2)
    assert.equal(entered.length, 17)
    while (ends.length > 0) {
      ends.shift()!()
      await new Promise(setImmediate)
    }
    await Promise.all(sent)
    assert.equal(entered.length, 31)
  })
})

onEachEngine('reads in the console', (engine) => {
  let service: TestService
  let browser: Browser
  before(async () => {
    service = await startService(engine, { RATE_LIMIT: '100,200' })
    browser = await signedIn(service, await service.account())
  })
  after(() => service[Symbol.asyncDispose]())

  it('42 never reject the requests of a few pages', async () => {
    const routes = [homeRoutes.home, creditRoutes.ledger, requestRoutes.list]
    for (let page = 0; page < 5; page += 1) {
      const replies = await Promise.all(Array.from({ length: 15 }, (_, i) => browser.call(routes[i % 3]!)))
      assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200])
    }
  })

  it('42 are rejected with 429 when too many of a user wait, and another user is served', async () => {
    const { db } = service.installation
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    // SQLite has no lock that makes readers wait; its thread answers one query after the other.
    const busy =
      engine === 'postgres'
        ? db.write(async (tx) => {
            await tx.run('LOCK TABLE request_log')
            await released
          })
        : db.reports.all(
            'WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 5000000) SELECT COUNT(*) FROM s',
          )
    const sent = Array.from({ length: 120 }, () => browser.call(requestRoutes.list, { sent: { code: 9999 } }))
    const rejected = await Promise.any(
      sent.map(async (reply) => ((await reply).status === 429 ? reply : Promise.reject(new Error('served')))),
    )
    assert.equal(rejected.body.error.code, 'too_many')
    assert.match(rejected.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    release()
    await busy
    const other = await signedIn(service, await service.account())
    assert.equal((await other.call(requestRoutes.list)).status, 200)
    await Promise.all(sent)
  })

  it('42 give up their place when a request fails', async () => {
    const other = await signedIn(service, await service.account())
    for (let i = 0; i < 70; i += 1) {
      assert.equal((await other.call(linkRoutes.one, { parts: { id: 'x' } })).status, 404)
    }
    assert.equal((await other.call(requestRoutes.list)).status, 200)
  })

  it('42 give up their place when the client leaves during an export', async () => {
    const other = await signedIn(service, await service.account())
    const url = `${service.url}${pathOf(requestRoutes.csv)}`
    for (let i = 0; i < 12; i += 1) {
      const abort = new AbortController()
      const response = await fetch(url, { headers: { cookie: other.cookie ?? '' }, signal: abort.signal })
      assert.equal(response.status, 200)
      abort.abort()
    }
    assert.equal((await other.text(requestRoutes.csv)).status, 200)
  })

  it('147 changes are rejected with 429 above the rate, while the user can still read', async () => {
    const other = await signedIn(service, await service.account())
    const change = () => other.call(sessionRoutes.endOtherSessions)
    const statuses: number[] = []
    // 300 at once, and thirty more each second: a slow machine only needs more calls.
    while (!statuses.includes(429)) {
      assert.ok(statuses.length < 20_000)
      statuses.push(...(await Promise.all(Array.from({ length: 100 }, change))).map(({ status }) => status))
    }
    assert.deepEqual(new Set(statuses), new Set([200, 429]))
    assert.equal((await other.call(requestRoutes.list)).status, 200)
  })
})
