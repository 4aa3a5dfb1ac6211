// A reader of stdout that goes away: the service neither waits, crashes nor fails to stop.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { it } from 'node:test'
import { freshStorage } from './support/engines.ts'
import { root } from './support/root.ts'
import { freePort } from './support/service.ts'

/** Each call writes a line of about 150 bytes; a pipe holds 64 KiB. */
const calls = 1_500

for (const workers of ['1', '2']) {
  it(`serves and stops with WORKERS=${workers} when the reader of its log goes away`, async () => {
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
      child.stdout.destroy()
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
