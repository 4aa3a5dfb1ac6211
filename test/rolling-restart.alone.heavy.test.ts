// Two processes behind HAProxy and behind nginx are restarted one after the other under load: no request fails, and every paid call
// is charged once.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import { emptyStorage } from './support/engines.ts'
import { nginxSample } from './support/nginx.ts'
import { root } from './support/root.ts'
import { keyOf, startUntilEnd, until, untilLogged } from './support/running-service.ts'
import { admin, freePort, get, post, type ServiceProcess } from './support/service.ts'
import { startSteadyLoad } from './support/steady-load.ts'

const run = promisify(execFile)

const isInstalled = (command: string) =>
  run(command, ['-v']).then(
    () => true,
    () => false,
  )

interface Proxy {
  readonly url: string
  /** Resolves when the proxy sends the process no more requests. `stop` sends it SIGTERM. */
  takeOut(index: number, stop: () => void): Promise<void>
  /** Resolves when it does again. */
  putBack(index: number): Promise<void>
}

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-rolling-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Ends with the test. */
function startProgram(t: TestContext, command: string, args: readonly string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  t.after(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  return child
}

const isServing = (url: string) =>
  get(`${url}/openapi.json`).then(
    ({ status }) => status === 200,
    () => false,
  )

async function startHaproxy(t: TestContext, ports: readonly number[]): Promise<Proxy> {
  const folder = await temporaryFolder(t)
  const [port, plainPort] = [await freePort(), await freePort()]
  const socket = join(folder, 'admin.sock')
  const sample = await readFile(join(root, 'deploy', 'haproxy.cfg'), 'utf8')
  const config = sample
    .replace('log /dev/log local0', 'log 127.0.0.1:9 local0')
    .replace(/bind :443 .*/, `bind 127.0.0.1:${port}`)
    .replace('bind :80', `bind 127.0.0.1:${plainPort}`)
    .replaceAll('/run/haproxy/admin.sock', socket)
    .replace('10.0.0.11:3000', `127.0.0.1:${ports[0]}`)
    .replace('10.0.0.12:3000', `127.0.0.1:${ports[1]}`)
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, config)
  await run('haproxy', ['-c', '-f', file])
  startProgram(t, 'haproxy', ['-db', '-f', file])
  const stateOf = async (index: number): Promise<string> => {
    const client = connect(socket, () => client.end('show stat\n'))
    let text = ''
    client.on('data', (data) => (text += data.toString()))
    await once(client, 'close')
    const [header = '', ...rows] = text.split('\n').map((line) => line.split(','))
    const row = rows.find(([proxy, server]) => proxy === 'tollgate' && server === 'ab'[index])
    return row?.[header.indexOf('status')] ?? ''
  }
  const url = `http://127.0.0.1:${port}`
  await until(() => isServing(url))
  return {
    url,
    async takeOut(index, stop) {
      stop()
      await until(async () => (await stateOf(index)) === 'DOWN')
    },
    putBack: (index) => until(async () => (await stateOf(index)) === 'UP'),
  }
}

/** Open-source nginx has no health checks: the process is marked as `down` before it gets the signal. */
async function startNginx(t: TestContext, ports: readonly number[]): Promise<Proxy> {
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'log'))
  const [port, plainPort] = [await freePort(), await freePort()]
  const file = join(folder, 'nginx.conf')
  const configure = (down?: number) => {
    const servers = ports.map((one, index) => `server 127.0.0.1:${one}${index === down ? ' down' : ''};`)
    const config = nginxSample
      .replaceAll(/^ *listen \[::\].*\n/gm, '')
      .replaceAll(/^ *ssl_.*\n/gm, '')
      .replaceAll('listen 80;', `listen 127.0.0.1:${plainPort};`)
      .replaceAll('listen 443 ssl;', `listen 127.0.0.1:${port};`)
      .replace('server 127.0.0.1:3000;', servers.join('\n  '))
      .replaceAll('/var/log/nginx/', `${folder}/log/`)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    )
    return writeFile(
      file,
      `pid ${folder}/nginx.pid;\nerror_log ${folder}/error.log info;\ndaemon off;\nworker_processes 1;\n` +
        `events {}\nhttp {\n${paths.join('\n')}\n${config}\n}\n`,
    )
  }
  await configure()
  const nginx = startProgram(t, 'nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')])
  const url = `http://127.0.0.1:${port}`
  await until(() => isServing(url))
  const workers = async () =>
    (await readFile(`/proc/${nginx.pid}/task/${nginx.pid}/children`, 'utf8')).trim().split(/\s+/)
  const reload = async (down?: number) => {
    const old = await workers()
    await configure(down)
    nginx.kill('SIGHUP')
    // The old worker exits after the requests in progress.
    await until(async () => (await workers()).every((pid) => !old.includes(pid)) && isServing(url))
  }
  return {
    url,
    async takeOut(index, stop) {
      await reload(index)
      stop()
    },
    putBack: () => reload(),
  }
}

describe('a rolling restart', () => {
  for (const [name, startProxy, newConnections] of [
    ['haproxy', startHaproxy, false],
    // A reload of nginx closes idle connections of clients.
    ['nginx', startNginx, true],
  ] as const) {
    test(`of two processes behind ${name} fails no request`, { timeout: 300_000 }, async (t) => {
      if (!(await isInstalled(name))) return t.skip(`${name} is not installed`)
      if (name === 'nginx' && process.platform !== 'linux') return t.skip('needs /proc')
      const storage = await emptyStorage('postgres')
      t.after(() => storage.remove())
      const ports = [await freePort(), await freePort()]
      const start = (port: number) =>
        startUntilEnd(t, {
          ...storage.environment,
          PORT: String(port),
          TRUSTED_PROXIES: '127.0.0.1',
          // Far longer than needed: the test ends it with a second signal.
          DRAIN_S: '600',
        })
      const services: ServiceProcess[] = [await start(ports[0]!)]
      services.push(await start(ports[1]!))
      const key = keyOf(services[0]!)
      // More than a quick machine uses.
      await admin(storage.environment, 'credits', 'grant', 'demo', 'short_link', '1000000')
      const proxy = await startProxy(t, ports)
      const call = { username: 'demo', api_key: key }
      const generate = { ...call, action: 'generate', target_url: 'https://example.com/', title: 't' }
      const created = await post(`${proxy.url}${shortlink.path}`, generate)
      assert.equal(created.status, 200)
      const before: number = created.body.data.remaining_balance
      const redirects = startSteadyLoad(
        proxy.url,
        [
          { path: `${sms.path}?action=get_credits&username=demo&api_key=${key}` },
          { path: new URL(created.body.data.a_url).pathname },
        ],
        { newConnections },
      )
      const paid = startSteadyLoad(proxy.url, [{ path: shortlink.path, body: generate }], { newConnections })
      await redirects.responses(30)
      for (const [index, port] of ports.entries()) {
        const service = services[index]!
        await proxy.takeOut(index, () => service.child.kill('SIGTERM'))
        await untilLogged(service, '"draining"')
        assert.equal((await get(`${service.url}/readyz`)).status, 503)
        assert.ok(await isServing(service.url), 'it goes on serving')
        await redirects.responses(30)
        await paid.responses(10)
        assert.equal(await endDrain(service), 0)
        services[index] = await start(port)
        await proxy.putBack(index)
        await redirects.responses(30)
      }
      const results = [await redirects.end(), await paid.end()]
      assert.deepEqual(
        results.flatMap(({ failures }) => failures),
        [],
      )
      const after = await post(`${proxy.url}${shortlink.path}`, generate)
      assert.equal(before - after.body.data.remaining_balance, results[1]!.total + 1)
      assert.equal((await admin(storage.environment, 'ledger', 'check')).code, 0)
    })
  }
})

/** A second signal ends the drain; one that comes too soon after the first one is taken for the same. */
async function endDrain({ child }: ServiceProcess): Promise<number | null> {
  await until(() => {
    child.kill('SIGTERM')
    return child.exitCode !== null
  })
  return child.exitCode
}
