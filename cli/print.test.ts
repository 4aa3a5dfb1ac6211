// Output that nobody reads, or that cannot be written.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { root } from '../test/support/root.ts'

async function run(program: string) {
  const child = spawn(process.execPath, ['start.js', program, '--help'], { cwd: root, stdio: 'pipe' })
  // As `| head` does.
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (data: Buffer) => (stderr += data.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stderr }
}

test('a closed pipe is no error', async () => {
  assert.deepEqual(await run('cli/admin.ts'), { code: 0, stderr: '' })
})
