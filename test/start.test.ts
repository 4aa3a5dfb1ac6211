// `npm start`: its output and its shutdown. Startup errors: start-errors.heavy.test.ts.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { emptyStorage, type FreshStorage, onEachEngine } from './support/engines.ts'
import { root } from './support/root.ts'
import { until } from './support/until.ts'
import { get, runNode, type ServiceProcess, spawnService } from './support/service.ts'

const run = promisify(execFile)

const keyPattern = /tg_[0-9A-Za-z]{49}/
const secret = (letter: string) => ({ SECRET_KEY: letter.repeat(40) })

// The tests of an engine run in this order and share two processes, because every start takes more than a second.
onEachEngine('start', (engine) => {
  let storage: FreshStorage
  let environment: Readonly<Record<string, string>>
  let service: ServiceProcess
  let key: string
  before(async () => {
    storage = await emptyStorage(engine)
    environment = { ...storage.environment, ...secret('a') }
    service = await spawnService(environment)
  })
  after(async () => {
    await service.kill('SIGKILL')
    await storage.remove()
  })

  const getCredits = () =>
    get(`${service.url}/api/sms_api.php?action=get_credits&username=demo`, { api_key: key })

  it('prints the logins, the key and a working curl command', async () => {
    const output = service.output()
    key = keyPattern.exec(output)?.[0] ?? ''
    assert.ok(key)
    assert.match(output, /admin {2}\S{16}\n/)
    assert.match(output, /demo {2}\S{16}\n/)
    assert.ok(output.includes(`${service.url}/console/`))
    const line = /^ *(curl .*)$/m.exec(output)?.[1]
    assert.ok(line)
    const { stdout } = await run('bash', ['-c', line])
    assert.ok(stdout.includes('"code":0') || stdout.includes('"success":true'), stdout)
  })

  it('rejects a second process with another secret', async () => {
    const other = await runNode(['start.js'], { ...environment, ...secret('b'), PORT: '0' })
    assert.equal(other.code, 1)
    assert.match(other.stderr, /^[^\n]*SECRET_KEY[^\n]*\n$/)
  })

  it('finishes running calls after SIGTERM and exits with 0', async () => {
    let stopping = false
    let served = 0
    const unexpected: unknown[] = []
    const callers = Array.from({ length: 16 }, async () => {
      for (;;) {
        try {
          const response = await getCredits()
          if (response.status === 200) served += 1
          else if (response.status !== 503 || !response.headers.get('retry-after'))
            unexpected.push(response.status)
        } catch (error) {
          // After the signal a connection may also be closed or refused.
          if (!stopping) unexpected.push(error)
          return
        }
      }
    })
    while (served < 200) await new Promise((resolve) => setTimeout(resolve, 5))
    stopping = true
    assert.equal(await service.kill('SIGTERM'), 0)
    await Promise.all(callers)
    assert.deepEqual(unexpected, [])
  })

  it('prints no secret on the second start and keeps the accounts', async () => {
    service = await spawnService(environment)
    assert.match(service.output(), /is running: http/)
    assert.equal(/tg_|admin|demo|密码/.test(service.output()), false)
    assert.equal((await getCredits()).body.code, 0)
  })

  it('responds to health checks and shows metrics to local requests only', async () => {
    assert.deepEqual((await get(`${service.url}/livez`)).body, { status: 'ok' })
    // On a busy machine a check may reach its time limit.
    await until(async () => (await get(`${service.url}/readyz`)).body.status === 'ok')
    // Refused: a parameter is missing.
    await get(`${service.url}/api/sms_api.php`)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    for (const line of [
      'tollgate_requests_total{endpoint="sms",code="1001"} 1',
      'tollgate_request_seconds_count{endpoint="sms"} 2',
      'tollgate_operations_open 0',
      ...(engine === 'sqlite' ? ['tollgate_commit_jobs_count'] : []),
    ]) {
      assert.ok(metrics.includes(line), line)
    }
    const proxied = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    assert.equal(proxied.status, 404)
    const home = await fetch(`${service.url}/`)
    assert.equal(home.status, 200)
    assert.match(home.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  })

  // No database is involved, so one engine is enough.
  if (engine === 'postgres') return
  it('exits although its output is not read', async () => {
    service.child.stdout?.pause()
    // More lines than a pipe can buffer.
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, () => get(`${service.url}/api/sms_api.php`)))
    }
    assert.equal(await service.kill('SIGTERM'), 0)
  })
})

describe('npm start', () => {
  it('stops when the shell does not forward the signal, and creates no sample account with SAMPLE_ACCOUNT=off', async () => {
    const storage = await emptyStorage('sqlite')
    const shell = spawn('sh', ['-c', `"${process.execPath}" start.js; true`], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        SAMPLE_ACCOUNT: 'off',
        npm_lifecycle_event: 'start',
        ...storage.environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    for await (const chunk of shell.stdout.setEncoding('utf8')) {
      output += String(chunk)
      if (output.includes('shown only once') && !shell.killed) shell.kill('SIGTERM')
    }
    // The output ends when the last process that writes to it ends.
    assert.match(output, /"msg":"stopping"/)
    assert.match(output, /admin {2}\S{16}\n/)
    assert.equal(/demo|tg_/.test(output), false)
    await storage.remove()
  })
})
