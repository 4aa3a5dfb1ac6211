// Which programs the benchmarks believe to be installed.
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { isInstalled } from '../bench/machine.ts'

it('believes a program only when it prints a version', { skip: process.platform === 'win32' }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-programs-'))
  const write = async (name: string, script: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
    return join(folder, name)
  }
  assert.equal(isInstalled(await write('real', 'echo "pgbench (PostgreSQL) 15.13"')), true)
  assert.equal(isInstalled(await write('failing', 'echo "wrk 4.1.0" >&2; exit 1')), true)
  // Debian's scripts exist without the programs that they start.
  const wrapper = await write('wrapper', 'echo "Error: PostgreSQL version 15 is not installed" >&2; exit 1')
  assert.equal(isInstalled(wrapper), false)
  assert.equal(isInstalled(join(folder, 'missing')), false)
  await rm(folder, { recursive: true })
})
