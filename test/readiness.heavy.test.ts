// `/readyz`, `/metrics` and `/status` while the disk is full, the connections are busy, or the database is away.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { shortlink } from '../contract/shortlink.ts'
import { openPostgres } from '../server/db/postgres.ts'
import { mountSmallDisk, smallDiskProblem } from './faults/tmpfs.ts'
import { emptyStorage, engines, type FreshStorage } from './support/engines.ts'
import { startPostgres } from './support/postgres.ts'
import { get, post, startService, type TestService } from './support/service.ts'
import { until } from './support/until.ts'

async function untilReady(service: TestService, status: number): Promise<void> {
  for (let tries = 0; (await get(`${service.url}/readyz`)).status !== status; tries += 1) {
    assert.ok(tries < 200, `/readyz does not become ${status}`)
    await sleep(50)
  }
}

const problem = smallDiskProblem()

for (const engine of engines) {
  it(`is 503 while the disk is full and paid calls fail, and 200 afterwards (${engine})`, async (context) => {
    if (problem !== undefined) return context.skip(problem)
    using disk = mountSmallDisk(engine === 'postgres' ? 160 : 16)
    const server =
      engine === 'postgres' ? await startPostgres({ durable: true, folder: disk.folder }) : undefined
    const plain = await emptyStorage('sqlite')
    const storage: FreshStorage = server
      ? {
          environment: { ...plain.environment, DATABASE_URL: server.url },
          open: () => openPostgres(server.url),
          remove: plain.remove,
        }
      : { ...plain, environment: { DATA_DIR: disk.folder } }
    const service = await startService(engine, {}, storage)
    try {
      const holder = await service.account({ short_link: 10_000 })
      const generate = async () =>
        (
          await post(`${service.url}${shortlink.path}`, {
            username: holder.username,
            api_key: holder.key,
            action: 'generate',
            target_url: 'https://example.com/',
            title: 't'.repeat(60),
          })
        ).status
      assert.equal(await generate(), 200)
      await untilReady(service, 200)
      disk.fill()
      for (let tries = 0; (await generate()) === 200; tries += 1)
        assert.ok(tries < 5_000, 'calls still succeed')
      await untilReady(service, 503)
      // The service of a full disk stays not ready, although there is room for one small update.
      for (let checks = 0; checks < 3; checks += 1) {
        await sleep(1_100)
        assert.equal((await get(`${service.url}/readyz`)).status, 503)
      }
      disk.freeSpace()
      await untilReady(service, 200)
      assert.equal(await generate(), 200)
    } finally {
      await service[Symbol.asyncDispose]()
      await server?.stop()
      await plain.remove()
    }
  })
}

it('is 200 while paid calls use every connection, and takes none of them', { timeout: 60_000 }, async () => {
  await using service = await startService('postgres')
  const { db } = service.installation
  const busy = Array.from({ length: 12 }, () =>
    db.write((tx) => tx.all('SELECT pg_sleep(4)').then(() => undefined)),
  )
  await sleep(200)
  const responses = await Promise.all(Array.from({ length: 300 }, () => get(`${service.url}/readyz`)))
  assert.deepEqual([...new Set(responses.map(({ status }) => status))], [200])
  await Promise.all(busy)
})

it('/metrics and /status respond while PostgreSQL is down, and say so', { timeout: 120_000 }, async () => {
  const server = await startPostgres({ durable: true })
  const plain = await emptyStorage('sqlite')
  const environment = { ...plain.environment, DATABASE_URL: server.url }
  const service = await startService(
    'postgres',
    {},
    { environment, open: () => openPostgres(server.url), remove: plain.remove },
  )
  const metrics = async () => {
    const response = await fetch(`${service.url}/metrics`)
    assert.equal(response.status, 200)
    return response.text()
  }
  const statusPage = async (language: string, accept: string) => {
    const headers = { 'accept-language': language, accept }
    const response = await fetch(`${service.url}/status`, { headers })
    return { status: response.status, text: await response.text() }
  }
  try {
    assert.match(await metrics(), /^tollgate_database_up 1$/m)
    await until(async () => (await statusPage('en', 'text/html')).status === 200, 60_000)
    await server.kill()
    await untilReady(service, 503)
    const english = await statusPage('en', 'text/html')
    assert.equal(english.status, 503)
    assert.match(english.text, /Some systems are disrupted[^]*The database is unavailable: paid calls fail/)
    assert.match((await statusPage('zh-CN', 'text/html')).text, /部分异常[^]*数据库不可用/)
    const json = await statusPage('en', 'application/json')
    const report = JSON.parse(json.text) as {
      ok: boolean
      problem?: string
      parts: { name: string; ok: boolean; uptime_90d: number | null }[]
    }
    assert.deepEqual(
      [json.status, report.ok, report.problem, report.parts.map(({ name, ok }) => [name, ok])],
      [
        503,
        false,
        'database unavailable',
        [
          ['service', false],
          ['sms', true],
          ['identity', true],
          ['domain_check', true],
        ],
      ],
    )
    assert.ok(report.parts.every(({ uptime_90d }) => uptime_90d === null))
    const shared = await get(`${service.url}/share/${'A'.repeat(43)}`)
    assert.deepEqual([shared.status, shared.headers.get('retry-after')], [503, '5'])
    const text = await metrics()
    assert.match(text, /^tollgate_database_up 0$/m)
    assert.match(text, /^process_cpu_seconds_total /m)
    assert.match(text, /^tollgate_operations_open 0$/m)
    await server.restart()
    await untilReady(service, 200)
    assert.match(await metrics(), /^tollgate_database_up 1$/m)
    await until(async () => (await statusPage('en', 'text/html')).status === 200, 60_000)
  } finally {
    await service[Symbol.asyncDispose]()
    await server.stop()
    await plain.remove()
  }
})
