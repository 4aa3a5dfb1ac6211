// Secrets that could be seen or kept elsewhere: passwords on the command line, and the first logins in the journal of systemd.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { createBrowser } from '../support/console.ts'
import { emptyStorage } from '../support/engines.ts'
import { json, startFakeUpstream } from '../support/fake-upstream.ts'
import { root } from '../support/root.ts'
import { spawnService, startService } from '../support/service.ts'

function run(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  stdout: 'pipe' | number = 'pipe',
) {
  return spawn(process.execPath, ['start.js', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['pipe', stdout, 'inherit'],
  })
}

describe('secrets', () => {
  it('38 admin reads a password from stdin, so that ps does not show it', async () => {
    await using service = await startService('sqlite')
    const password = 'from stdin 4711'
    const child = run(
      ['cli/admin.ts', 'account', 'create', 'piped', '--password', '-', '--json'],
      service.storage.environment,
    )
    child.stdin?.end(`${password}\nanother line\n`)
    let output = ''
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()))
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal((JSON.parse(output) as { password: string }).password, password)
    assert.equal((await createBrowser(service).signIn('piped', password)).status, 200)
  })

  it('38 admin reads the URL and the secret of a robot from stdin', async () => {
    await using service = await startService('sqlite', { WEBHOOK_ALLOW_PRIVATE: 'on' })
    const robot = await startFakeUpstream(() => json(200, { errcode: 0 }))
    await using stack = new AsyncDisposableStack()
    stack.defer(() => robot.close())
    const { username } = await service.account()
    const child = run(
      ['cli/admin.ts', 'notify', 'add', username, 'dingtalk', '-', '--secret', '-', '--json'],
      { ...service.storage.environment, WEBHOOK_ALLOW_PRIVATE: 'on' },
    )
    child.stdin?.end(`${robot.url}robot?access_token=t4711\nSECshhh\n`)
    let output = ''
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()))
    assert.deepEqual(await once(child, 'close'), [0, null])
    assert.equal((JSON.parse(output) as { sent: boolean }).sent, true)
    const [request] = robot.requests
    assert.equal(request?.query.get('access_token'), 't4711')
    assert.ok(request?.query.get('sign'), 'signed with the secret')
  })

  it('39 the first logins are written to a private file if stdout is the journal', async () => {
    const storage = await emptyStorage('sqlite')
    const folder = storage.environment['DATA_DIR']!
    // A file in place of the journal: systemd names the device and inode of its stream.
    const journal = join(folder, 'journal')
    const descriptor = openSync(journal, 'a')
    const { dev, ino } = fstatSync(descriptor)
    const child = run([], { ...storage.environment, PORT: '0', JOURNAL_STREAM: `${dev}:${ino}` }, descriptor)
    closeSync(descriptor)
    try {
      const file = join(folder, 'first-logins.txt')
      while (!(await readFile(journal, 'utf8')).includes(`rm ${file}\n`)) {
        assert.equal(child.exitCode, null)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const logins = await readFile(file, 'utf8')
      const password = /admin {2}(\S{16})\n/.exec(logins)?.[1]
      const key = /tg_[0-9A-Za-z]{49}/.exec(logins)?.[0]
      assert.ok(password && key)
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const printed = await readFile(journal, 'utf8')
      assert.match(printed, /is running: http/)
      assert.equal(printed.includes(password) || printed.includes(key), false)
      const url = /is running: (\S+)/.exec(printed)![1]!
      assert.equal((await createBrowser({ url }).signIn('admin', password)).status, 200)
    } finally {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
      await storage.remove()
    }
  })

  it('39 the first logins are printed if a variable of systemd is inherited but stdout is a pipe', async () => {
    const storage = await emptyStorage('sqlite')
    const service = await spawnService({
      ...storage.environment,
      JOURNAL_STREAM: '8:1234',
      INVOCATION_ID: 'x',
    })
    try {
      assert.match(service.output(), /admin {2}\S{16}\n/)
      await assert.rejects(stat(join(storage.environment['DATA_DIR']!, 'first-logins.txt')))
    } finally {
      await service.kill('SIGTERM')
      await storage.remove()
    }
  })
})
