// A real Redis or Valkey for the tests, where the machine has one.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tmpdir } from 'node:os'
import { freePort } from './postgres.ts'

function find(name: string): string | undefined {
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

const program = find('valkey-server') ?? find('redis-server')

/** What a test says when it cannot run; false when it can. */
export const noRedis: string | false = program === undefined && 'needs valkey-server or redis-server'

export interface RedisServer extends AsyncDisposable {
  readonly url: string
  readonly child: ChildProcess
}

/** With a password, as it should be. `port` brings one back where it was. */
export async function startRedis(port?: number): Promise<RedisServer & { readonly port: number }> {
  const chosen = port ?? (await freePort())
  const words = ['--port', String(chosen), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(program!, [...words, '--requirepass', 'a pass/word', '--dir', tmpdir()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise<void>((ready, failed) => {
    child.stdout.on('data', (data: Buffer) => {
      if (/Ready to accept connections/.test(data.toString())) ready()
    })
    child.once('exit', (code) => failed(new Error(`Redis ended with ${code}`)))
  })
  return {
    url: `redis://:${encodeURIComponent('a pass/word')}@127.0.0.1:${chosen}/3`,
    port: chosen,
    child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}
