// Production dependencies: exact versions, integrity hashes, no install scripts, no known advisories.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from '../support/root.ts'

interface LockedPackage {
  readonly resolved?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

const readJson = async (name: string) =>
  JSON.parse(await readFile(join(root, name), 'utf8')) as Record<string, unknown>

it('32 every package is pinned, has an integrity hash and runs no install script', async () => {
  const { packages } = (await readJson('package-lock.json')) as { packages: Record<string, LockedPackage> }
  const { dependencies } = (await readJson('package.json')) as { dependencies: Record<string, string> }
  for (const [name, version] of Object.entries(dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name)
  const production = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  assert.ok(production.length > 20)
  for (const [path, locked] of production) {
    assert.match(locked.integrity ?? '', /^sha512-/, path)
    if (locked.resolved !== undefined) assert.match(locked.resolved, /^https:\/\//, path)
    assert.notEqual(locked.hasInstallScript, true, path)
  }
})

// Needs the package registry, and the advisories change daily: runs only with NPM_AUDIT=on.
it(
  '32 npm audit --omit=dev is clean',
  { skip: process.env['NPM_AUDIT'] !== 'on' && 'set NPM_AUDIT=on' },
  async () => {
    const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
      execFile('npm', ['audit', '--omit=dev'], { cwd: root }, (error, stdout, stderr) =>
        resolve({ code: error ? 1 : 0, output: stdout + stderr }),
      )
    })
    assert.equal(code, 0, output)
  },
)
