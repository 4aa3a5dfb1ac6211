// Starts a Redis or Valkey server for tests on machines that have one installed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tmpdir } from 'node:os'
import { freePort } from './postgres.ts'

function findExecutable(name: string): string | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

const program = findExecutable('valkey-server') ?? findExecutable('redis-server')

/** Why Redis tests are skipped on this machine; false when there is a server. */
export const noRedis: string | false = program === undefined && 'needs valkey-server or redis-server'

export interface RedisServer extends AsyncDisposable {
  readonly url: string
  readonly child: ChildProcess
}

/** Starts a server with a password. Pass the `port` of a stopped server to restart it. */
export async function startRedis(port?: number): Promise<RedisServer & { readonly port: number }> {
  const listenPort = port ?? (await freePort())
  const options = ['--port', String(listenPort), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(program!, [...options, '--requirepass', 'a pass/word', '--dir', tmpdir()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      if (/Ready to accept connections/.test(data.toString())) resolve()
    })
    child.once('exit', (code) => reject(new Error(`Redis exited with code ${code}`)))
  })
  return {
    url: `redis://:${encodeURIComponent('a pass/word')}@127.0.0.1:${listenPort}/3`,
    port: listenPort,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
