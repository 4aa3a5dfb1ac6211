// Checks that every test named in docs/security.md exists.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from '../support/root.ts'

const checks = 33

it('docs/security.md lists checks 1 to 33 with existing tests', async () => {
  const page = await readFile(join(root, 'docs', 'security.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \| .+? \| (.+) \|$/gm)]
  assert.deepEqual(
    rows.map(([, number]) => Number(number)),
    Array.from({ length: checks }, (_, index) => index + 1),
  )
  for (const [, number, cell = ''] of rows) {
    const named = cell.split('<br>')
    for (const one of named) {
      const [, file, name] = /^`([\w/.-]+\.test\.ts)` › (.+)$/.exec(one) ?? []
      assert.ok(file && name, `${number}: ${one}`)
      const source = await readFile(join(root, file), 'utf8')
      assert.ok(
        /\b(?:it|test)\($/.test(sourceBefore(source, name)),
        `${number}: ${file} has no test '${name}'`,
      )
    }
  }
})

/** Returns the source before the quoted title of a test. */
function sourceBefore(source: string, name: string): string {
  const at = source.indexOf(`'${name}'`)
  return at === -1 ? '' : source.slice(0, at).trimEnd()
}
