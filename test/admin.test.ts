// The admin command line with a running service: changes take effect immediately.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { CommandResult } from '../cli/run-admin.ts'
import type { Engine } from '../server/db/database.ts'
import { emptyStorage, engines, freshStorage, onEachEngine } from './support/engines.ts'
import { admin, adminProcess, post, startService } from './support/service.ts'

type Environment = Readonly<Record<string, string>>

const json = (environment: Environment, ...args: string[]) =>
  parseResult(admin(environment, ...args, '--json'))

/** Runs the command as a separate process. */
const jsonFromProcess = (environment: Environment, ...args: string[]) =>
  parseResult(adminProcess(environment, ...args, '--json'))

async function parseResult(running: Promise<CommandResult>) {
  const result = await running
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.stdout.trimEnd().split('\n').length, 1)
  // oxlint-disable-next-line typescript/no-explicit-any -- commands print different shapes
  return JSON.parse(result.stdout) as any
}

async function errorOf(environment: Environment, ...args: string[]): Promise<string> {
  const result = await admin(environment, ...args)
  assert.notEqual(result.code, 0)
  assert.equal(result.stdout, '')
  assert.equal(result.stderr.trimEnd().split('\n').length, 1, result.stderr)
  return result.stderr
}

onEachEngine('admin', (engine) => {
  it('creates accounts, keys and credits that are valid immediately', async () => {
    await using service = await startService(engine)
    const environment = service.storage.environment
    const send = (username: string, key: string, action = 'get_credits') =>
      post(`${service.url}/api/sms_api.php`, { username, api_key: key, action })

    const created = await jsonFromProcess(
      environment,
      'account',
      'create',
      'acme',
      '--credits',
      'sms=10,short_link=3',
    )
    assert.deepEqual(Object.keys(created), ['username', 'password', 'api_key'])
    assert.equal((await send('acme', created.api_key)).body.data.remaining, 10)
    // A separate process hashes passwords with the full cost.
    const stored = await service.installation.db.one<{ password_hash: string }>(
      `SELECT password_hash FROM account WHERE username = 'acme'`,
    )
    assert.match(stored!.password_hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)

    const granted = await json(
      environment,
      'credits',
      'grant',
      'acme',
      'sms',
      '5',
      '--note',
      'paid by transfer',
    )
    assert.deepEqual(granted, { username: 'acme', api_type: 'sms', total: 15, used: 0, remaining: 15 })
    assert.equal((await send('acme', created.api_key)).body.data.remaining, 15)
    await json(environment, 'credits', 'take', 'acme', 'sms', '1')
    assert.equal((await send('acme', created.api_key)).body.data.remaining, 14)

    const reset = await json(environment, 'key', 'reset', 'acme')
    assert.equal((await send('acme', created.api_key)).status, 401)
    assert.equal((await send('acme', reset.api_key)).status, 200)
    await json(environment, 'account', 'set', 'acme', '--suspended', 'yes')
    assert.equal((await send('acme', reset.api_key)).status, 403)
    await json(
      environment,
      'account',
      'set',
      'acme',
      '--suspended',
      'no',
      '--sms',
      'no',
      '--sign-name',
      '某某科技',
    )
    assert.equal((await send('acme', reset.api_key)).status, 200)
    await json(environment, 'key', 'clear', 'acme')
    assert.equal((await send('acme', reset.api_key)).status, 401)

    const listed = JSON.stringify(await json(environment, 'account', 'list'))
    const shown = JSON.stringify(await json(environment, 'account', 'show', 'acme'))
    for (const secret of [created.password, created.api_key, reset.api_key, 'argon2']) {
      assert.equal(listed.includes(secret) || shown.includes(secret), false)
    }
    assert.deepEqual((await json(environment, 'migrate')).applied, [])
    const report = await json(environment, 'ledger', 'check')
    assert.equal(report.ok, true)
    assert.equal(report.entries, 4)
  })

  it('fails with one line and changes nothing', async () => {
    const storage = await freshStorage(engine)
    await json(storage.environment, 'account', 'create', 'acme')
    const wrong: readonly (readonly string[])[] = [
      ['account', 'create', 'acme'],
      ['account', 'create', 'x', '--role', 'king'],
      ['account', 'create', 'other', '--password', '12345678'],
      ['account', 'create', 'other', '--credits', 'gold=5'],
      ['account', 'create', 'other', '--credits', 'sms=0'],
      ['account', 'set', 'nobody', '--sms', 'no'],
      ['account', 'set', 'acme', '--sms', 'maybe'],
      ['account', 'set', 'acme', '--expires', 'tomorrow'],
      ['account', 'set', 'acme', '--colour', 'red'],
      ['account', 'set', 'acme'],
      ['credits', 'grant', 'acme', 'sms', '0'],
      ['credits', 'grant', 'acme', 'sms', '-5'],
      ['credits', 'grant', 'acme', 'sms', '1e309'],
      ['credits', 'grant', 'acme', 'sms', '9007199254740993'],
      ['credits', 'grant', 'acme', 'sms', '1.5'],
      ['credits', 'grant', 'acme', 'gold', '5'],
      ['credits', 'take', 'acme', 'sms', '1'],
      ['credits', 'grant', 'acme'],
      ['fly', 'away'],
      ['account'],
    ]
    for (const args of wrong) await errorOf(storage.environment, ...args)
    // A process prints the same. Which engine it is does not matter.
    if (engine === 'sqlite') {
      const { code, stdout, stderr } = await adminProcess(storage.environment, ...wrong[0]!)
      assert.deepEqual([code, stdout, stderr], [1, '', await errorOf(storage.environment, ...wrong[0]!)])
    }
    const missingPath = join(tmpdir(), 'no such folder', 'file')
    assert.match(
      await errorOf(storage.environment, 'restore', missingPath),
      /无法读取.*no such folder.*ENOENT/,
    )
    assert.match(
      await errorOf(storage.environment, 'backup', missingPath),
      /无法写入.*no such folder.*ENOENT/,
    )
    const report = await json(storage.environment, 'ledger', 'check')
    assert.deepEqual([report.accounts, report.entries], [1, 0])
    const early = await admin(storage.environment, '--json', 'account', 'list')
    assert.equal(JSON.parse(early.stdout).accounts.length, 1)
    const { stdout: help } = await admin(storage.environment, 'account', '--help')
    assert.ok(help.includes('account create') && help.includes('account show'))
    assert.equal(help.includes('ledger check'), false)
    await storage.remove()
  })

  it('reports a wrong ledger with its exit code', async () => {
    const storage = await freshStorage(engine)
    await json(storage.environment, 'account', 'create', 'acme', '--credits', 'sms=5')
    const db = storage.open()
    await db.write((tx) => tx.run(`UPDATE credit SET total = total + 1 WHERE api_type = 'sms'`))
    await db.close()
    const result = await adminProcess(storage.environment, 'ledger', 'check', '--json')
    assert.equal(result.code, 1)
    assert.equal(JSON.parse(result.stdout).ok, false)
    const { stdout, stderr } = await admin(storage.environment, 'ledger', 'check')
    assert.match(stdout, /^not ok: 1 accounts.*\naccount 1 sms: the balance differs/)
    assert.match(stderr, /^.*the ledger check failed \(1\)\n$/)
    await storage.remove()
  })
})

onEachEngine('restore on a new machine', (engine) => {
  it('succeeds with the right secret after failed attempts', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-restore-'))
    const file = join(directory, 'backup.gz')
    const source = await freshStorage('sqlite')
    const right = { SECRET_KEY: 'the secret of the old machine, long enough' }
    await json({ ...source.environment, ...right }, 'account', 'create', 'acme', '--credits', 'sms=5')
    await json({ ...source.environment, ...right }, 'backup', file)

    const target = await emptyStorage(engine)
    const wrong = { ...target.environment, SECRET_KEY: 'the secret of the new machine, long enough' }
    const targetEnvironment = { ...target.environment, ...right }
    assert.match(await errorOf(wrong, 'restore', file), /SECRET_KEY/)
    await json(targetEnvironment, 'restore', file)
    assert.equal((await json(targetEnvironment, 'ledger', 'check')).entries, 1)
    assert.match(await errorOf(wrong, 'ledger', 'check'), /SECRET_KEY/)
    await target.remove()

    const used = await freshStorage(engine)
    await json({ ...wrong, ...used.environment }, 'account', 'create', 'newcomer')
    assert.match(await errorOf({ ...used.environment, ...right }, 'restore', file), /--force/)
    await json({ ...used.environment, ...right }, 'restore', file, '--force')
    const { accounts } = await json({ ...used.environment, ...right }, 'account', 'list')
    assert.deepEqual(
      accounts.map(({ username }: { username: string }) => username),
      ['acme'],
    )
    await used.remove()
    await source.remove()
    await rm(directory, { recursive: true, force: true })
  })
})

for (const [from, to] of engines.flatMap((source) =>
  engines.map((target): [Engine, Engine] => [source, target]),
)) {
  it(`restores a backup created under load (${from} to ${to})`, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-backup-'))
    const secret = { SECRET_KEY: 'the same secret on both sides, long enough' }
    const file = join(directory, 'backup.gz')
    const source = await startService(from, secret)
    const holder = await source.account({ sms: 1_000 })
    const charge = { accountId: holder.id, apiType: 'sms', action: 'test', cost: 1, requestId: 'r' } as const
    let charging = true
    const load = Array.from({ length: 8 }, async () => {
      while (charging) {
        await source.app.services.credits.charge({ ...charge, leaseMs: 60_000 })
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    })
    const sourceEnvironment = { ...source.storage.environment, ...secret }
    await json(sourceEnvironment, 'backup', file)
    charging = false
    await Promise.all(load)
    const text = gunzipSync(await readFile(file)).toString()
    assert.equal(text.includes(holder.key) || text.includes(holder.password), false)
    assert.match(await errorOf(sourceEnvironment, 'restore', file), /--force/)
    // Not under a running service, which would go on with what it has in memory.
    assert.match(await errorOf(sourceEnvironment, 'restore', file, '--force'), /stop them first/)
    assert.equal((await json(sourceEnvironment, 'ledger', 'check')).ok, true)
    await source[Symbol.asyncDispose]()

    const target = await emptyStorage(to)
    const targetEnvironment = { ...target.environment, ...secret }
    await json(targetEnvironment, 'restore', file)
    const report = await json(targetEnvironment, 'ledger', 'check')
    assert.deepEqual([report.ok, report.problems], [true, []])
    const restored = await startService(to, secret, target)
    const response = await post(`${restored.url}/api/sms_api.php`, {
      username: holder.username,
      api_key: holder.key,
      action: 'get_credits',
    })
    assert.equal(response.body.code, 0)
    const next = await restored.app.services.credits.charge(charge)
    assert.ok(next.kind === 'charged' || next.kind === 'insufficient')
    await restored[Symbol.asyncDispose]()

    await json(targetEnvironment, 'restore', file, '--force')
    const other = { ...target.environment, SECRET_KEY: 'x'.repeat(40) }
    assert.match(await errorOf(other, 'restore', file, '--force'), /SECRET_KEY/)
    assert.equal((await json(targetEnvironment, 'ledger', 'check')).ok, true)
    await writeFile(file, (await readFile(file)).subarray(0, 300))
    assert.match(await errorOf(targetEnvironment, 'restore', file, '--force'), /备份/)
    await target.remove()
    await rm(directory, { recursive: true, force: true })
  })
}
