// Redirects while PostgreSQL is unreachable: a process remembers the links it knew to be current, for five minutes, and nothing else.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../contract/shortlink.ts'
import { openPostgres } from '../server/db/postgres.ts'
import { loadCodes } from '../server/shortlink/codes/store.ts'
import { createLookup } from '../server/shortlink/redirect/lookup-store.ts'
import { emptyStorage, type FreshStorage } from './support/engines.ts'
import { type FaultyProxy, openFaultyProxy } from './support/faulty-proxy.ts'
import { visit } from './support/new-connection.ts'
import { type PostgresServer, startPostgres } from './support/postgres.ts'
import { get, post, startService, type TestAccount, type TestService } from './support/service.ts'
import { until } from './support/until.ts'

const person = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
}

void describe('redirects while PostgreSQL is unreachable', { timeout: 120_000 }, () => {
  let server: PostgresServer
  let plain: FreshStorage
  let proxy: FaultyProxy
  let service: TestService
  let holder: TestAccount

  before(async () => {
    server = await startPostgres({ durable: true })
    plain = await emptyStorage('sqlite')
    proxy = await openFaultyProxy(server.url)
    service = await startService(
      'postgres',
      {},
      {
        environment: { ...plain.environment, DATABASE_URL: proxy.url },
        open: () => openPostgres(proxy.url),
        remove: plain.remove,
      },
    )
    holder = await service.account({ short_link: 100 })
  })

  after(async () => {
    await service[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await server.stop()
    await plain.remove()
  })

  const call = (values: Record<string, unknown>) =>
    post(`${service.url}${shortlink.path}`, { username: holder.username, api_key: holder.key, ...values })

  async function createLink(options: Record<string, unknown> = {}) {
    const reply = await call({
      action: 'generate',
      target_url: 'https://example.com/1',
      title: 't',
      ...options,
    })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.data as { link_id: number; short_code: string }
  }

  const visits = new Map<string, number>()

  async function open(code: string) {
    const reply = await visit(`${service.url}/${code}`, person)
    if (reply.status === 302) visits.set(code, (visits.get(code) ?? 0) + 1)
    return reply
  }

  async function metric(start: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.split(' ')
        .at(-1),
    )
  }

  const inCache = () => metric('tollgate_link_lookups_total{in="memory"')
  const remembered = () => metric('tollgate_link_lookups_total{in="outage"')
  const untilChannel = (up: 0 | 1) => until(async () => (await metric('tollgate_link_channel_up ')) === up)

  /** Until a visit is answered from the cache. */
  async function untilCached(code: string): Promise<void> {
    await untilChannel(1)
    await until(async () => {
      const hits = await inCache()
      await open(code)
      return (await inCache()) > hits
    })
  }

  async function untilReady(status: number): Promise<void> {
    await until(async () => (await get(`${service.url}/readyz`)).status === status)
  }

  it('lead where they led, count clicks, and use an update at once when it is back', async () => {
    const known = await createLink()
    const byRule = await createLink({
      rules: [{ when: { os: 'linux' }, target_url: 'https://example.com/linux' }],
    })
    const unvisited = await createLink()
    const withPassword = await createLink({ password: 'open sesame' })
    const limited = await createLink({ max_clicks: 50 })
    for (const { short_code } of [byRule, withPassword, limited, known]) await untilCached(short_code)
    assert.equal(await remembered(), 0)

    await server.kill()
    await untilChannel(0)
    for (let round = 0; round < 3; round += 1) {
      const reply = await open(known.short_code)
      assert.equal(reply.status, 302)
      assert.equal(reply.location, 'https://example.com/1')
    }
    assert.equal((await open(byRule.short_code)).location, 'https://example.com/linux')
    assert.equal(await remembered(), 4)
    for (const { short_code } of [unvisited, withPassword, limited]) {
      const reply = await open(short_code)
      assert.equal(reply.status, 503)
      assert.equal(reply.headers['retry-after'], '5')
    }
    const refused = await call({ action: 'generate', target_url: 'https://example.com/', title: 't' })
    assert.equal(refused.status, 500)
    assert.equal(await remembered(), 4)

    await server.restart()
    const update = { action: 'update', link_id: known.link_id, target_url: 'https://example.com/2' }
    await until(async () => (await call(update)).status === 200)
    assert.equal((await open(known.short_code)).location, 'https://example.com/2')
    // The visits meanwhile are counted once.
    await until(async () => {
      const { clicks } = (await call({ action: 'get', link_id: byRule.link_id })).body.data as {
        clicks: number
      }
      assert.ok(clicks <= visits.get(byRule.short_code)!)
      return clicks === visits.get(byRule.short_code)
    })
    assert.equal((await open(limited.short_code)).status, 302)
    assert.equal(await remembered(), 4)
  })

  it('are not remembered when the database answered after the changes of links were lost', async () => {
    await untilReady(200)
    const { link_id, short_code } = await createLink()
    await untilCached(short_code)
    proxy.dropTraffic('LISTEN')
    await untilChannel(0)
    assert.equal((await call({ action: 'update', link_id, target_url: 'https://example.com/2' })).status, 200)
    const other = await createLink()
    // Until the loss of the channel is old enough; each of these visits is answered by the database.
    const start = performance.now()
    await until(async () => {
      assert.equal((await open(other.short_code)).status, 302)
      return performance.now() - start > 3_000
    })
    await server.kill()
    await until(async () => (await open(short_code)).status === 503)
    proxy.restoreTraffic()
    await server.restart()
    await until(async () => (await open(short_code)).location === 'https://example.com/2')
  })

  it('are remembered for five minutes', async () => {
    await untilReady(200)
    const { short_code } = await createLink()
    const db = openPostgres(server.url)
    let passed = 0
    const lookup = createLookup(db, await loadCodes(db), () => performance.now() + passed)
    lookup.start()
    try {
      await until(async () => {
        await lookup.find(short_code)
        return lookup.stats.fromCache > 0
      })
      await server.kill()
      await until(() => !lookup.stats.isCaching())
      passed = 4 * 60_000
      assert.equal((await lookup.find(short_code))?.locationA, 'https://example.com/1')
      assert.ok(await lookup.pools())
      passed = 5 * 60_000
      await assert.rejects(async () => lookup.find(short_code))
      await assert.rejects(lookup.pools())
    } finally {
      lookup.stop()
      await db.close()
      await server.restart()
    }
  })
})
