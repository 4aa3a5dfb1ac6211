// Short links end to end: two processes on one database, the command line, SIGTERM and kill -9.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freshStorage, onEachEngine, untilSeen } from './support/engines.ts'
import { admin, freePort, post, type ServiceProcess, spawnService } from './support/service.ts'

const browserAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

async function visit(url: string): Promise<{ status: number; location: string | null }> {
  const response = await fetch(url, { redirect: 'manual', headers: { 'user-agent': browserAgent } })
  await response.text()
  return { status: response.status, location: response.headers.get('location') }
}

/** Sends many pipelined requests through one connection and returns how many were redirected. */
function visitAll(service: string, paths: readonly string[]): Promise<number> {
  const { port } = new URL(service)
  return new Promise((resolve) => {
    const statusLine = 'HTTP/1.1 302'
    let redirected = 0
    let rest = ''
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('data', (data) => {
      const text = rest + data.toString('latin1')
      redirected += text.split(statusLine).length - 1
      rest = text.slice(1 - statusLine.length)
      if (redirected === paths.length) socket.destroy()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(redirected))
    for (const path of paths)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${browserAgent}\r\n\r\n`)
  })
}

async function json(environment: Readonly<Record<string, string>>, ...args: string[]) {
  const result = await admin(environment, ...args, '--json')
  assert.equal(result.code, 0, result.stderr)
  return JSON.parse(result.stdout)
}

function createHolder(environment: Readonly<Record<string, string>>, links: number) {
  return json(environment, 'account', 'create', 'holder', '--credits', `short_link=${links}`)
}

onEachEngine('short links end to end', (engine) => {
  test('creates, updates and refreshes a link on two processes, and counts its clicks', async () => {
    const storage = await freshStorage(engine)
    const environment = { ...storage.environment, SAMPLE_ACCOUNT: 'off', SECRET_KEY: 'k'.repeat(40) }
    const running: ServiceProcess[] = []
    try {
      const { username, api_key } = await createHolder(environment, 20)
      // Both use the URL of the first, as behind a load balancer.
      const first = await spawnService(environment)
      running.push(first)
      const port = await freePort()
      const second = await spawnService({ ...environment, PORT: String(port), PUBLIC_URL: first.url })
      running.push(second)
      const secondUrl = `http://127.0.0.1:${port}`
      const call = async (at: string, body: object) => {
        const reply = await post(`${at}/api/shortlink_api.php`, { username, api_key, ...body })
        assert.equal(reply.status, 200, JSON.stringify(reply.body))
        return reply.body.data
      }
      const onSecond = (url: string) => url.replace(first.url, secondUrl)

      const created = await call(first.url, {
        action: 'generate',
        target_url: 'https://example.com/1',
        title: 'e2e',
      })
      assert.deepEqual(await visit(created.a_url), { status: 302, location: 'https://example.com/1' })
      assert.deepEqual(await visit(onSecond(created.b_url)), {
        status: 302,
        location: 'https://example.com/1',
      })
      await call(secondUrl, {
        action: 'update',
        link_id: created.link_id,
        target_url: 'https://example.com/2',
      })
      await untilSeen(engine)
      for (const url of [created.a_url, onSecond(created.a_url)])
        assert.deepEqual(await visit(url), { status: 302, location: 'https://example.com/2' })

      const renewed = await call(first.url, { action: 'execute_update', link_id: created.link_id })
      await untilSeen(engine)
      for (const url of [created.a_url, created.b_url, onSecond(created.a_url), onSecond(created.b_url)])
        assert.equal((await visit(url)).status, 410)
      for (const url of [renewed.new_a_url, onSecond(renewed.new_b_url)])
        assert.deepEqual(await visit(url), { status: 302, location: 'https://example.com/2' })

      // Every process uses a domain that was added on the command line.
      assert.deepEqual(await json(environment, 'domain', 'add', 'a', 'S.Example.Net'), {
        pool: 'a',
        host: 's.example.net',
        state: 'active',
      })
      await untilSeen(engine)
      const pooled = await call(secondUrl, {
        action: 'generate',
        target_url: 'https://example.com/3',
        title: 'e2e',
      })
      assert.equal(pooled.a_url, `http://s.example.net/${pooled.short_code}`)
      await json(environment, 'domain', 'remove', 'a', 's.example.net')
      const { domains } = await json(environment, 'domain', 'list')
      assert.deepEqual([domains[0].host, domains[0].state], ['s.example.net', 'removed'])
      assert.notEqual((await admin(environment, 'domain', 'remove', 'a', 's.example.net')).code, 0)
      assert.notEqual((await admin(environment, 'domain', 'add', 'c', 'x.test')).code, 0)
      assert.notEqual((await admin(environment, 'domain', 'add', 'a', 'https://x.test/')).code, 0)
      const plain = await call(first.url, {
        action: 'generate',
        target_url: 'https://example.com/4',
        title: 'e2e',
      })
      assert.equal(plain.a_url, `${first.url}/${plain.short_code}`)

      // The second process writes its clicks when it stops, so the first one returns all six.
      assert.equal(await second.kill('SIGTERM'), 0)
      const record = await call(first.url, { action: 'get', link_id: created.link_id })
      assert.equal(record.clicks, 6)
      assert.equal(record.short_code, new URL(renewed.new_a_url).pathname.slice(1))
      assert.equal((await json(environment, 'ledger', 'check')).ok, true)
    } finally {
      for (const service of running) await service.kill('SIGKILL')
      await storage.remove()
    }
  })

  test('keeps every acknowledged link after kill -9 and charges only for stored links', async () => {
    const storage = await freshStorage(engine)
    const environment = { ...storage.environment, SAMPLE_ACCOUNT: 'off', SECRET_KEY: 'k'.repeat(40) }
    let service: ServiceProcess | undefined
    try {
      const { username, api_key } = await createHolder(environment, 5000)
      service = await spawnService(environment)
      const body = { username, api_key, action: 'generate', target_url: 'https://example.com/', title: 't' }
      const acknowledged: string[] = []
      const clients = Array.from({ length: 16 }, async () => {
        for (;;) {
          const reply = await post(`${service?.url}/api/shortlink_api.php`, body).catch(() => undefined)
          if (!reply) return
          acknowledged.push(reply.body.data.short_code)
        }
      })
      while (acknowledged.length < 150) await new Promise((resolve) => setTimeout(resolve, 5))
      await service.kill('SIGKILL')
      await Promise.all(clients)

      service = await spawnService(environment)
      for (const code of acknowledged) assert.equal((await visit(`${service.url}/${code}`)).status, 302, code)
      assert.equal((await json(environment, 'ledger', 'check')).ok, true)
      const db = storage.open()
      const [links] = await db.all<{ count: number }>('SELECT COUNT(*) AS count FROM link')
      const [codes] = await db.all<{ count: number }>('SELECT COUNT(*) AS count FROM link_code')
      const [used] = await db.all<{ used: number }>(
        `SELECT used FROM credit WHERE api_type = 'short_link' AND used > 0`,
      )
      await db.close()
      assert.ok((links?.count ?? 0) >= acknowledged.length)
      assert.deepEqual([codes?.count, used?.used], [links?.count, links?.count])
    } finally {
      await service?.kill('SIGKILL')
      await storage.remove()
    }
  })

  test('loses only unflushed clicks on kill -9, and none on SIGTERM', async () => {
    const storage = await freshStorage(engine)
    const environment = { ...storage.environment, SAMPLE_ACCOUNT: 'off', SECRET_KEY: 'k'.repeat(40) }
    let service: ServiceProcess | undefined
    try {
      const { username, api_key } = await createHolder(environment, 20)
      service = await spawnService(environment)
      const call = async (body: object) =>
        (await post(`${service?.url}/api/shortlink_api.php`, { username, api_key, ...body })).body.data
      const links: { link_id: number; short_code: string }[] = []
      for (let n = 0; n < 20; n += 1) {
        links.push(await call({ action: 'generate', target_url: 'https://example.com/', title: `${n}` }))
      }
      const visits = Array.from({ length: 1_000 }, (_, n) => `/${links[n % 20]!.short_code}`)
      const countClicks = async () => {
        const all = links.map(({ link_id }) => call({ action: 'get', link_id }))
        return (await Promise.all(all)).reduce((total, { clicks }) => total + clicks, 0)
      }

      // These clicks are flushed before the kill; others are counted during it.
      for (let round = 0; round < 4; round += 1) assert.equal(await visitAll(service.url, visits), 1_000)
      await sleep(2_000)
      const killed = service
      let concurrentVisits = 0
      const clients = [1, 2].map(async () => {
        while (killed.child.signalCode === null) {
          concurrentVisits += 1_000
          if ((await visitAll(killed.url, visits)) < 1_000) return
        }
      })
      while (concurrentVisits < 8_000) await sleep(1)
      await killed.kill('SIGKILL')
      await Promise.all(clients)

      service = await spawnService(environment)
      const storedClicks = await countClicks()
      assert.ok(
        storedClicks >= 4_000 && storedClicks <= 4_000 + concurrentVisits,
        `${storedClicks} of 4000 and ${concurrentVisits}`,
      )
      assert.equal(await visitAll(service.url, visits), 1_000)
      assert.equal(await countClicks(), storedClicks + 1_000)
      // SIGTERM flushes all clicks.
      assert.equal(await visitAll(service.url, visits), 1_000)
      assert.equal(await service.kill('SIGTERM'), 0)
      service = await spawnService(environment)
      assert.equal(await countClicks(), storedClicks + 2_000)
    } finally {
      await service?.kill('SIGKILL')
      await storage.remove()
    }
  })
})
