// The page on security names a test for every check; this holds it to its word.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from '../support/root.ts'

const checks = 33

it('every check from 1 to 33 is on the page, with tests that exist', async () => {
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
      assert.ok(/\b(?:it|test)\($/.test(before(source, name)), `${number}: ${file} has no test '${name}'`)
    }
  }
})

/** What stands before the quoted name of a test. */
function before(source: string, name: string): string {
  const at = source.indexOf(`'${name}'`)
  return at === -1 ? '' : source.slice(0, at).trimEnd()
}
