// `npm start`: its output and its shutdown. Startup errors: start-errors.test.ts.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { emptyStorage, onEachEngine } from './support/engines.ts'
import { root } from './support/root.ts'
import { get, runNode, spawnService } from './support/service.ts'

const run = promisify(execFile)

onEachEngine('first start', (engine) => {
  it('prints the logins, the key and a working curl command once', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage(engine)
    const first = await spawnService(storage.environment)
    const output = first.output()
    const key = /tg_[0-9A-Za-z]{49}/.exec(output)?.[0]
    assert.ok(key)
    assert.match(output, /admin {2}\S{16}\n/)
    assert.match(output, /demo {2}\S{16}\n/)
    assert.ok(output.includes(`${first.url}/console/`))
    const line = /^ *(curl .*)$/m.exec(output)?.[1]
    assert.ok(line)
    const { stdout } = await run('bash', ['-c', line])
    assert.ok(stdout.includes('"code":0') || stdout.includes('"success":true'), stdout)
    assert.equal(await first.kill('SIGTERM'), 0)

    const second = await spawnService(storage.environment)
    assert.match(second.output(), /is running: http/)
    assert.equal(/tg_|admin|demo|密码/.test(second.output()), false)
    const response = await get(`${second.url}/api/sms_api.php?action=get_credits&username=demo`, {
      api_key: key,
    })
    assert.equal(response.body.code, 0)
    assert.equal(await second.kill('SIGTERM'), 0)
    await storage.remove()
  })

  it('creates no sample account with SAMPLE_ACCOUNT=off', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage(engine)
    const service = await spawnService({ ...storage.environment, SAMPLE_ACCOUNT: 'off' })
    assert.match(service.output(), /admin {2}\S{16}\n/)
    assert.equal(/demo|tg_/.test(service.output()), false)
    await service.kill('SIGTERM')
    await storage.remove()
  })

  it('rejects a second process with another secret', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage(engine)
    const secret = (letter: string) => ({ SECRET_KEY: letter.repeat(40) })
    const service = await spawnService({ ...storage.environment, ...secret('a') })
    const other = await runNode(['start.js'], { ...storage.environment, ...secret('b'), PORT: '0' })
    assert.equal(other.code, 1)
    assert.match(other.stderr, /^[^\n]*SECRET_KEY[^\n]*\n$/)
    await service.kill('SIGTERM')
    await storage.remove()
  })
})

describe('running service', () => {
  it('responds to health checks and shows metrics to local requests only', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('sqlite')
    const service = await spawnService(storage.environment)
    assert.deepEqual((await get(`${service.url}/livez`)).body, { status: 'ok' })
    assert.deepEqual((await get(`${service.url}/readyz`)).body, { status: 'ok' })
    await get(`${service.url}/api/sms_api.php`)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    for (const line of [
      'tollgate_requests_total{endpoint="sms",code="1001"} 1',
      'tollgate_request_seconds_count{endpoint="sms"} 1',
      'tollgate_operations_open 0',
      'tollgate_commit_jobs_count',
    ]) {
      assert.ok(metrics.includes(line), line)
    }
    const proxied = await fetch(`${service.url}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    assert.equal(proxied.status, 404)
    const home = await fetch(`${service.url}/`)
    assert.equal(home.status, 200)
    assert.match(home.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
    assert.equal(await service.kill('SIGTERM'), 0)
    await storage.remove()
  })

  it('stops with npm start when the shell does not forward the signal', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('sqlite')
    const shell = spawn('sh', ['-c', `"${process.execPath}" start.js; true`], {
      cwd: root,
      env: { PATH: process.env['PATH'], PORT: '0', npm_lifecycle_event: 'start', ...storage.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    for await (const chunk of shell.stdout.setEncoding('utf8')) {
      output += String(chunk)
      if (output.includes('shown only once') && !shell.killed) shell.kill('SIGTERM')
    }
    // The output ends when the last process that writes to it ends.
    assert.match(output, /"msg":"stopping"/)
    await storage.remove()
  })

  it('finishes running calls after SIGTERM and exits with 0', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('sqlite')
    const service = await spawnService({ ...storage.environment, LOG_LEVEL: 'silent' })
    const key = /tg_[0-9A-Za-z]{49}/.exec(service.output())![0]
    let stopping = false
    let served = 0
    const unexpected: unknown[] = []
    const callers = Array.from({ length: 16 }, async () => {
      for (;;) {
        try {
          const response = await get(`${service.url}/api/sms_api.php?action=get_credits&username=demo`, {
            api_key: key,
          })
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
    await storage.remove()
  })

  it('exits although its output is not read', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('sqlite')
    const service = await spawnService(storage.environment)
    service.child.stdout?.pause()
    // More lines than a pipe can buffer.
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 100 }, () => get(`${service.url}/api/sms_api.php`)))
    }
    assert.equal(await service.kill('SIGTERM'), 0)
    await storage.remove()
  })
})
