// What the service reports to systemd: ready, reloading, stopping. A program in Python receives the datagrams, as systemd would.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { emptyStorage } from './support/engines.ts'
import { spawnService } from './support/service.ts'

const run = promisify(execFile)

const receiver = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    print(s.recv(4096).decode().replace('\\n', ' '), flush=True)
`

interface Receiver {
  readonly socket: string
  /** Resolves when a message matches. */
  received(pattern: RegExp): Promise<void>
  messages(): readonly string[]
}

async function startReceiver(t: TestContext): Promise<Receiver> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-notify-'))
  const socket = join(directory, 'notify')
  const child = spawn('python3', ['-c', receiver, socket])
  t.after(async () => {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true, force: true })
  })
  let output = ''
  child.stdout.on('data', (part: Buffer) => (output += part.toString()))
  const messages = () => output.split('\n')
  const received = async (pattern: RegExp) => {
    while (!messages().some((line) => pattern.test(line))) await sleep(20)
  }
  await received(/^bound$/)
  return { socket, received, messages }
}

async function isMissing(command: string): Promise<string | undefined> {
  return run(command, ['--version']).then(
    () => undefined,
    () => `${command} is not installed`,
  )
}

const skip = (await isMissing('systemd-notify')) ?? (await isMissing('python3')) ?? false

describe('systemd', { skip }, () => {
  it('is told when one process is ready and stops', { timeout: 60_000 }, async (t) => {
    const notify = await startReceiver(t)
    const storage = await emptyStorage('sqlite')
    const service = await spawnService({ ...storage.environment, NOTIFY_SOCKET: notify.socket })
    t.after(() => service.kill('SIGKILL'))
    await notify.received(/^READY=1/)
    assert.equal((await fetch(`${service.url}/readyz`)).status, 200)
    const exited = service.kill('SIGTERM')
    await notify.received(/^STOPPING=1/)
    assert.equal(await exited, 0)
    await storage.remove()
  })

  it('is told when several workers are ready, reload and stop', { timeout: 120_000 }, async (t) => {
    const notify = await startReceiver(t)
    const storage = await emptyStorage('sqlite')
    const environment = { ...storage.environment, WORKERS: '2', NOTIFY_SOCKET: notify.socket }
    const service = await spawnService(environment)
    t.after(() => service.kill('SIGKILL'))
    await notify.received(/^READY=1/)
    service.child.kill('SIGHUP')
    await notify.received(/^RELOADING=1 MONOTONIC_USEC=\d+/)
    while (notify.messages().filter((line) => line.startsWith('READY=1')).length < 2) await sleep(20)
    const exited = service.kill('SIGTERM')
    await notify.received(/^STOPPING=1/)
    assert.equal(await exited, 0)
    await storage.remove()
  })

  it(
    'is told of the end of reloads once, after the last one, and not after a stop',
    { timeout: 240_000 },
    async (t) => {
      const notify = await startReceiver(t)
      const storage = await emptyStorage('sqlite')
      const environment = { ...storage.environment, WORKERS: '2', NOTIFY_SOCKET: notify.socket }
      const service = await spawnService(environment)
      t.after(() => service.kill('SIGKILL'))
      const states = () =>
        notify.messages().flatMap((line) => /^(READY|RELOADING|STOPPING)=1/.exec(line)?.[1] ?? [])
      const untilStates = async (...expected: string[]) => {
        while (states().length < expected.length) await sleep(20)
        assert.deepEqual(states(), expected)
      }
      const expected = ['READY']
      await untilStates(...expected)
      for (const state of ['RELOADING', 'RELOADING', 'READY', 'RELOADING', 'STOPPING']) {
        if (state === 'RELOADING') service.child.kill('SIGHUP')
        if (state === 'STOPPING') void service.kill('SIGTERM')
        expected.push(state)
        await untilStates(...expected)
      }
      while (service.child.exitCode === null) await sleep(20)
      await untilStates(...expected)
      await storage.remove()
    },
  )
})
