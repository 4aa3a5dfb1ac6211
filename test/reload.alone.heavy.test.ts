// Signals: a reload replaces the workers without a failed request, and others do not end the service immediately.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { emptyStorage, onEachEngine } from './support/engines.ts'
import { callOnNewConnection } from './support/new-connection.ts'
import { root } from './support/root.ts'
import {
  keyOf,
  skipWithoutProcFs,
  startUntilEnd,
  until,
  untilLogged,
  workersOf,
} from './support/running-service.ts'
import { get, post } from './support/service.ts'
import { startSteadyLoad } from './support/steady-load.ts'

onEachEngine('a reload', (engine) => {
  it(
    'replaces all workers without a failed request',
    { timeout: 180_000, skip: skipWithoutProcFs },
    async (t) => {
      const storage = await emptyStorage(engine)
      const service = await startUntilEnd(t, { WORKERS: '2', ...storage.environment })
      const key = keyOf(service)
      const call = { username: 'demo', api_key: key }
      const generate = { ...call, action: 'generate', target_url: 'https://example.com/', title: 't' }
      const created = await post(`${service.url}${shortlink.path}`, generate)
      const path = `${sms.path}?action=get_credits&username=demo&api_key=${key}`
      const load = startSteadyLoad(service.url, [
        { path },
        { path: new URL(created.body.data.a_url).pathname },
      ])
      await load.responses(50)
      for (let round = 1; round <= 2; round += 1) {
        const old = await workersOf(service)
        service.child.kill('SIGHUP')
        await untilLogged(service, '"reloaded"', round)
        const current = await workersOf(service)
        assert.equal(current.filter((pid) => !old.includes(pid)).length, 2, 'two new workers')
        await load.responses(50)
      }
      const { total, failures } = await load.end()
      assert.deepEqual(failures, [], `${failures.length} of ${total} failed`)
      assert.equal(await service.kill('SIGTERM'), 0)
      await storage.remove()
    },
  )
})

/** Sends a request on the connection that the agent keeps. */
async function sendOn(
  agent: Agent,
  url: string,
): Promise<{ readonly reused: boolean; readonly closes: boolean }> {
  const sent = request(url, { agent }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 200)
  await once(response.resume(), 'end')
  return { reused: sent.reusedSocket, closes: response.headers.connection === 'close' }
}

describe('a reload', () => {
  it(
    'waits for the workers of the last one, whose connections stay open until a request has been answered',
    { timeout: 120_000, skip: skipWithoutProcFs },
    async (t) => {
      const storage = await emptyStorage('sqlite')
      const service = await startUntilEnd(t, { WORKERS: '2', ...storage.environment })
      const agents = Array.from({ length: 6 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
      const livez = `${service.url}/livez`
      for (const agent of agents) await sendOn(agent, livez)
      service.child.kill('SIGHUP')
      await untilLogged(service, '"reloaded"')
      service.child.kill('SIGHUP')
      await until(() => /the reload waits|"reloaded".*"reloaded"/s.test(service.output()))
      assert.equal((await workersOf(service)).length, 4)
      for (const agent of agents) assert.deepEqual(await sendOn(agent, livez), { reused: true, closes: true })
      await untilLogged(service, '"reloaded"', 2)
      await until(async () => (await workersOf(service)).length === 2)
      assert.equal(await service.kill('SIGTERM'), 0)
      await storage.remove()
    },
  )

  it(
    'that waits for workers that drain ends when the service stops',
    { timeout: 120_000, skip: skipWithoutProcFs },
    async (t) => {
      const storage = await emptyStorage('sqlite')
      const service = await startUntilEnd(t, { WORKERS: '2', ...storage.environment })
      const agents = Array.from({ length: 4 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
      for (const agent of agents) await sendOn(agent, `${service.url}/livez`)
      service.child.kill('SIGHUP')
      await untilLogged(service, '"reloaded"')
      service.child.kill('SIGHUP')
      await untilLogged(service, 'the reload waits')
      assert.equal(await service.kill('SIGTERM'), 0)
      assert.equal(service.output().split('"reloaded"').length, 2)
      for (const agent of agents) agent.destroy()
      await storage.remove()
    },
  )

  let directory: string
  before(async () => void (directory = await mkdtemp(join(tmpdir(), 'tollgate-reload-'))))
  after(() => rm(directory, { recursive: true, force: true }))

  it(
    'applies changed settings, and keeps the workers if a setting is wrong',
    { timeout: 120_000, skip: skipWithoutProcFs },
    async (t) => {
      const folder = join(directory, 'settings')
      await mkdir(folder)
      const write = (text: string) => writeFile(join(folder, '.env'), `DATA_DIR=${folder}/data\n${text}`)
      await write('')
      const service = await startUntilEnd(
        t,
        { WORKERS: '2' },
        { directory: folder, script: join(root, 'start.js') },
      )
      const old = await workersOf(service)
      await write('LOG_LEVEL=loud\n')
      service.child.kill('SIGHUP')
      await untilLogged(service, 'the reload has ended')
      assert.match(service.output(), /"problem":"[^"]*LOG_LEVEL/)
      await until(async () => (await workersOf(service)).length === 2)
      assert.deepEqual(await workersOf(service), old)
      assert.equal((await callOnNewConnection(`${service.url}/readyz`)).status, 200)
      await write('METRICS_TOKEN=metrics-token-0123456789\n')
      service.child.kill('SIGHUP')
      await untilLogged(service, '"reloaded"')
      assert.equal((await callOnNewConnection(`${service.url}/metrics`)).status, 401)
      assert.equal(await service.kill('SIGTERM'), 0)
    },
  )

  it(
    'and a crash of a worker are possible after the program was missing for a while',
    { timeout: 120_000, skip: skipWithoutProcFs },
    async (t) => {
      const storage = await emptyStorage('sqlite')
      const program = join(directory, 'node')
      await copyFile(process.execPath, program)
      const service = await startUntilEnd(t, { WORKERS: '2', ...storage.environment }, { program })
      await rename(program, `${program}.away`)
      const [first, second] = await workersOf(service)
      process.kill(first!, 'SIGKILL')
      await untilLogged(service, 'failed to start a worker')
      for (let count = 0; count < 20; count += 1)
        assert.equal((await callOnNewConnection(`${service.url}/livez`)).status, 200)
      service.child.kill('SIGHUP')
      await untilLogged(service, 'the reload has ended')
      assert.deepEqual(await workersOf(service), [second])
      await rename(`${program}.away`, program)
      await until(async () => (await workersOf(service)).length === 2)
      assert.equal((await callOnNewConnection(`${service.url}/readyz`)).status, 200)
      assert.equal(await service.kill('SIGTERM'), 0)
      await storage.remove()
    },
  )
})

describe('signals', () => {
  it('SIGHUP and SIGUSR2 do not end a single process, SIGQUIT stops it', { timeout: 60_000 }, async (t) => {
    const storage = await emptyStorage('sqlite')
    const service = await startUntilEnd(t, storage.environment)
    service.child.kill('SIGHUP')
    service.child.kill('SIGUSR2')
    await untilLogged(service, 'ignored SIGHUP')
    assert.equal((await get(`${service.url}/readyz`)).status, 200)
    assert.equal(await service.kill('SIGQUIT'), 0)
    assert.match(service.output(), /"signal":"SIGQUIT","msg":"stopping"/)
    await storage.remove()
  })

  it(
    'SIGHUP to the workers and SIGUSR2 do nothing, SIGQUIT stops all of them',
    { timeout: 60_000, skip: skipWithoutProcFs },
    async (t) => {
      const storage = await emptyStorage('sqlite')
      const service = await startUntilEnd(t, { WORKERS: '2', ...storage.environment })
      const workers = await workersOf(service)
      for (const pid of workers) process.kill(pid, 'SIGHUP')
      for (const pid of workers) process.kill(pid, 'SIGUSR2')
      service.child.kill('SIGUSR2')
      for (let count = 0; count < 10; count += 1)
        assert.equal((await callOnNewConnection(`${service.url}/readyz`)).status, 200)
      assert.deepEqual(await workersOf(service), workers)
      assert.equal(await service.kill('SIGQUIT'), 0)
      await storage.remove()
    },
  )
})
