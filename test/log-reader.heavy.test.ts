// A reader of stdout that goes away or does not read: the service neither waits, crashes nor fails to stop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { freshStorage } from './support/engines.ts'
import { root } from './support/root.ts'
import { freePort } from './support/service.ts'

/** Each call writes a line of about 150 bytes; a pipe holds 64 KiB. */
const calls = 1_500

const cases = [
  { workers: '1', reader: 'goes away' },
  { workers: '2', reader: 'goes away' },
  // A pipe of `spawn` is a Unix socket, and a worker that exits makes writes to it block in all processes.
  { workers: '2', reader: 'does not read' },
]

for (const { workers, reader } of cases) {
  it(`serves and stops with WORKERS=${workers} when the reader of its log ${reader}`, async () => {
    const storage = await freshStorage('sqlite')
    const port = await freePort()
    const child = spawn(process.execPath, ['start.js', '--workers', workers], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...storage.environment, PORT: String(port), RATE_LIMIT: 'off' },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      await new Promise<void>((resolve) => {
        let output = ''
        child.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString()
          if (output.includes('is running')) resolve()
        })
      })
      if (reader === 'goes away') child.stdout.destroy()
      else child.stdout.removeAllListeners('data').pause()
      for (let sent = 0; sent < calls; sent += 50) {
        const responses = await Promise.all(
          Array.from({ length: 50 }, () =>
            fetch(`http://127.0.0.1:${port}/api/sms_api.php?action=get_credits&username=nobody`),
          ),
        )
        for (const response of responses) {
          assert.ok(response.status < 500)
          await response.arrayBuffer()
        }
      }
      child.kill('SIGTERM')
      assert.deepEqual(await once(child, 'exit'), [0, null])
    } finally {
      child.kill('SIGKILL')
      await storage.remove()
    }
  })
}
