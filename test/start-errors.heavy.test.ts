// `npm start`: startup errors, `.env` and the secret file.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile, readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ConfigError, readConfig } from '../server/config.ts'
import { openInstallation, StartProblem } from '../server/runtime/installation.ts'
import { startProcess } from '../server/runtime/process.ts'
import { emptyStorage } from './support/engines.ts'
import { root } from './support/root.ts'
import { runNode } from './support/service.ts'

const run = promisify(execFile)

describe('start', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollgate-start-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const withDefaults = (environment: Record<string, string>) => ({
    PORT: '0',
    DATA_DIR: join(directory, 'data'),
    ...environment,
  })

  const assertProcessFails = async (environment: Record<string, string>, ...patterns: RegExp[]) => {
    const result = await runNode(['start.js'], withDefaults(environment))
    assert.equal(result.code, 1)
    assert.equal(result.stdout, '')
    assert.equal(result.stderr.trimEnd().split('\n').length, 1, result.stderr)
    for (const pattern of patterns) assert.match(result.stderr, pattern)
    return result.stderr
  }

  /** The same in this process, for errors before it listens: a process prints their message. */
  const assertStartFails = async (environment: Record<string, string>, ...patterns: RegExp[]) => {
    const start = async () => startProcess(readConfig(withDefaults(environment)))
    await assert.rejects(start, (error) => {
      assert.ok(error instanceof ConfigError || error instanceof StartProblem, String(error))
      assert.equal(error.message.split('\n').length, 1, error.message)
      for (const pattern of patterns) assert.match(error.message, pattern)
      return true
    })
  }

  it('names all invalid settings', async () => {
    await assertProcessFails(
      {
        PORT: '99999',
        RATE_LIMIT: 'fast',
        DATABASE_URL: 'mysql://x',
        SMS_GATEWAYS: 'aliyun,pigeon',
        LOG_LEVEL: 'loud',
        PUBLIC_URL: 'https://example.com/sub',
        SWEEP_S: '',
        SECRET_KEY_FILE: '/no/such/file',
      },
      /PORT/,
      /RATE_LIMIT/,
      /DATABASE_URL/,
      /pigeon/,
      /LOG_LEVEL/,
      /PUBLIC_URL [^;]*\/sub[^;]*must have no path/,
      /SWEEP_S [^;]*is empty/,
      /SECRET_KEY_FILE [^;]*ENOENT/,
    )
    await assertStartFails(
      { SMS_GATEWAYS: 'tencent', IDENTITY_GATEWAYS: 'market' },
      /TENCENT_SECRET_ID.*TENCENT_SECRET_KEY.*TENCENT_SMS_APP_ID/,
      /IDENTITY_MARKET_PRESET/,
    )
  })

  it('ends with 78 for a wrong setting only as a service of systemd', async () => {
    const exitCode = async (environment: Record<string, string>) => {
      const data = { PORT: '0', DATA_DIR: join(directory, 'data') }
      const { code, stderr } = await runNode(['start.js'], { ...data, ...environment })
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr)
      return code
    }
    const wrong = { LOG_LEVEL: 'loud' }
    const unreachable = { DATABASE_URL: 'postgres://user@127.0.0.1:1/none' }
    // RestartPreventExitStatus=78 in the unit: a restart would fail again.
    assert.equal(await exitCode({ ...wrong, NOTIFY_SOCKET: '/no/such/socket' }), 78)
    assert.equal(await exitCode({ ...wrong, WORKERS: '2', NOTIFY_SOCKET: '/no/such/socket' }), 78)
    assert.equal(await exitCode({ ...wrong, INVOCATION_ID: '0123456789abcdef' }), 78)
    // A cron job or a CI runner passes on the variables of its own service.
    assert.equal(await exitCode({ ...wrong, INVOCATION_ID: '0123456789abcdef', SYSTEMD_EXEC_PID: '1' }), 1)
    // The database may be back at the next start.
    assert.equal(await exitCode({ ...unreachable, NOTIFY_SOCKET: '/no/such/socket' }), 1)
  })

  it('reports a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await assertProcessFails({ PORT: String(port) }, /端口已被占用/)
    await assertProcessFails(
      { METRICS_PORT: String(port) },
      new RegExp(`端口已被占用：127.0.0.1:${port}.*METRICS_PORT`),
    )
    await assertProcessFails(
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
    const printed = await assertProcessFails({ DATABASE_URL: url }, /DATABASE_URL/)
    assert.equal(printed.includes('hidden-word'), false)
  })

  it('reports a missing database and wrong credentials', { timeout: 60_000 }, async () => {
    const storage = await emptyStorage('postgres')
    const url = new URL(storage.environment['DATABASE_URL']!)
    url.pathname = '/no_such_database'
    await assertStartFails({ DATABASE_URL: url.href }, /数据库不存在.*does not exist/)
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

  it('reports a secret that cannot be read', async () => {
    const folder = join(directory, 'unreadable')
    await mkdir(join(folder, 'secret.key'), { recursive: true })
    await assertStartFails({ DATA_DIR: folder }, /无法读取 .*secret\.key .*cannot be read.*EISDIR/)
  })

  const skip = process.getuid?.() === 0 && 'root may write to every file'
  it('reports a database file that cannot be written', { skip }, async () => {
    const folder = join(directory, 'read-only')
    await mkdir(folder)
    await writeFile(join(folder, 'tollgate.db'), '', { mode: 0o400 })
    await assertStartFails({ DATA_DIR: folder }, /SQLite.*EACCES.*tollgate\.db/)
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

  it('names a .env that cannot be read or leads nowhere, and ignores a byte order mark', async () => {
    const folder = join(directory, 'env-file')
    const file = join(folder, '.env')
    await mkdir(folder)
    const runIn = async (script: string, ...args: string[]) => {
      const environment = { PATH: process.env['PATH'], PORT: '0', DATA_DIR: join(folder, 'data') }
      const running = run(process.execPath, [join(root, 'start.js'), script, ...args], {
        cwd: folder,
        env: environment,
      })
      return running.catch((error: { code: number; stdout: string; stderr: string }) => error)
    }
    await symlink(join(folder, 'missing'), file)
    for (const script of ['server/main.ts', 'cli/admin.ts']) {
      const result = await runIn(script, ...(script === 'cli/admin.ts' ? ['account', 'list'] : []))
      assert.match(result.stderr, /^设置有误 .*\.env .*\(ENOENT\)\n$/)
    }
    const { stdout } = await runIn('cli/doctor.ts', '--json')
    assert.match(stdout, /\.env .*\(ENOENT\)/)
    await writeFile(file, '\uFEFFSWEEP_S=wrong\n')
    assert.match((await runIn('server/main.ts')).stderr, /SWEEP_S/)
  })

  it('writes nothing into node_modules, which npm ci may remove meanwhile', async () => {
    const folder = join(directory, 'cache')
    await mkdir(join(folder, 'server'), { recursive: true })
    await copyFile(join(root, 'start.js'), join(folder, 'start.js'))
    await copyFile(join(root, 'server/build.js'), join(folder, 'server/build.js'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'server/main.ts'), `import './other.ts'\n`)
    await writeFile(join(folder, 'server/other.ts'), 'export const one: number = 1\n')
    await run(process.execPath, ['start.js'], { cwd: folder, env: { PATH: process.env['PATH'] } })
    assert.deepEqual((await readdir(folder)).toSorted(), ['.cache', 'package.json', 'server', 'start.js'])
  })

  it('prints the required command on an old Node.js', async () => {
    const old = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.1.0'}})`
    const result = await runNode(['--import', old, 'start.js'], {})
    assert.equal(result.code, 1)
    assert.match(result.stderr, /^[^\n]*npm ci && npm start\n$/)
  })

  it('creates a secret file that only its owner can read', async () => {
    const folder = join(directory, 'private')
    const installation = await openInstallation(readConfig({ DATA_DIR: folder }))
    await installation.close()
    assert.ok((await readdir(folder)).includes('secret.key'))
    assert.equal((await stat(join(folder, 'secret.key'))).mode & 0o077, 0)
  })
})
