// `npm start`: its output, its startup errors, and its shutdown.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
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

describe('start', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-start-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const assertStartFails = async (environment: Record<string, string>, ...patterns: RegExp[]) => {
    const result = await runNode(['start.js'], {
      PORT: '0',
      DATA_DIR: join(directory, 'data'),
      ...environment,
    })
    assert.equal(result.code, 1)
    assert.equal(result.stdout, '')
    assert.equal(result.stderr.trimEnd().split('\n').length, 1, result.stderr)
    for (const pattern of patterns) assert.match(result.stderr, pattern)
  }

  it('names all invalid settings', async () => {
    await assertStartFails(
      {
        PORT: '99999',
        RATE_LIMIT: 'fast',
        DATABASE_URL: 'mysql://x',
        SMS_GATEWAYS: 'aliyun,pigeon',
        LOG_LEVEL: 'loud',
      },
      /PORT/,
      /RATE_LIMIT/,
      /DATABASE_URL/,
      /pigeon/,
      /LOG_LEVEL/,
    )
    await assertStartFails(
      { SMS_GATEWAYS: 'tencent', IDENTITY_GATEWAYS: 'market' },
      /TENCENT_SECRET_ID.*TENCENT_SECRET_KEY.*TENCENT_SMS_APP_ID/,
      /IDENTITY_MARKET_PRESET/,
    )
  })

  it('reports a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await assertStartFails({ PORT: String(port) }, /端口已被占用/)
    await assertStartFails(
      { METRICS_PORT: String(port) },
      new RegExp(`端口已被占用：127.0.0.1:${port}.*METRICS_PORT`),
    )
    await assertStartFails(
      { METRICS_PORT: String(port), WORKERS: '2' },
      new RegExp(`端口已被占用：127.0.0.1:${port}.*METRICS_PORT`),
    )
    server.close()
  })

  it('reports a folder that is not writable', async () => {
    await writeFile(join(directory, 'file'), '')
    await assertStartFails({ DATA_DIR: join(directory, 'file', 'below') }, /DATA_DIR/)
    // In /proc the recursive mkdir would retry indefinitely.
    if (process.platform === 'linux') await assertStartFails({ DATA_DIR: '/proc/tollgate/data' }, /DATA_DIR/)
  })

  it('reports an unreachable database without its password', async () => {
    const url = 'postgres://user:hidden-word@127.0.0.1:1/none'
    const result = await runNode(['start.js'], {
      PORT: '0',
      DATA_DIR: join(directory, 'data'),
      DATABASE_URL: url,
    })
    assert.equal(result.code, 1)
    assert.equal(result.stderr.trimEnd().split('\n').length, 1)
    assert.match(result.stderr, /DATABASE_URL/)
    assert.equal(result.stderr.includes('hidden-word'), false)
  })

  it('reports a missing database and wrong credentials', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('postgres')
    const url = new URL(storage.environment['DATABASE_URL']!)
    url.pathname = '/no_such_database'
    await assertStartFails({ DATABASE_URL: url.href }, /没有这个数据库.*does not exist/)
    url.username = 'nobody_at_all'
    await assertStartFails({ DATABASE_URL: url.href }, /用户名或密码.*user or password/)
    await storage.remove()
  })

  it('rejects a truncated secret', async () => {
    const folder = join(directory, 'cut')
    await run('mkdir', [folder])
    await writeFile(join(folder, 'secret.key'), '\n')
    await assertStartFails({ DATA_DIR: folder }, /secret\.key/)
  })

  it('reports a file that is not a SQLite database', async () => {
    const broken = join(directory, 'broken')
    await run('mkdir', [broken])
    await writeFile(
      join(broken, 'tollgate.db'),
      'this is no database, and long enough to be looked at'.repeat(50),
    )
    await assertStartFails({ DATA_DIR: broken }, /SQLite/)
  })

  it('reads .env of the working directory, with lower precedence than the environment', async () => {
    const folder = join(directory, 'env')
    await run('mkdir', [folder])
    await writeFile(join(folder, '.env'), `PORT=wrong\nSWEEP_S=wrong too\nDATA_DIR=${join(folder, 'data')}\n`)
    const script = `import('${join(root, 'start.js')}')`
    const { stderr } = await run(process.execPath, ['-e', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'], PORT: '0' },
    }).catch((error: { stderr: string }) => error)
    assert.match(stderr, /SWEEP_S/)
    assert.equal(/\bPORT\b/.test(stderr), false)
  })

  it('prints the required command on an old Node.js', async () => {
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.1.0'}})`
    const result = await runNode(['--import', old, 'start.js'], {})
    assert.equal(result.code, 1)
    assert.match(result.stderr, /^[^\n]*npm ci && npm start\n$/)
  })

  it('creates a secret file that only its owner can read', async () => {
    const folder = join(directory, 'private')
    const service = await spawnService({ DATA_DIR: folder })
    await service.kill('SIGTERM')
    assert.ok((await readdir(folder)).includes('secret.key'))
    assert.equal((await stat(join(folder, 'secret.key'))).mode & 0o077, 0)
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
