// Checks that every test named in docs/security.md exists.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { root } from '../support/root.ts'

it('docs/security.md lists numbered checks with existing tests', async () => {
  const page = await readFile(join(root, 'docs', 'security.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \| .+? \| (.+) \|$/gm)]
  const numbers = rows.map(([, number]) => Number(number))
  assert.ok(numbers.length >= 33, 'the table has lost checks')
  assert.ok(
    numbers.every((number, index) => index === 0 || number > Number(numbers[index - 1])),
    'numbers ascend',
  )
  for (const [, number, cell = ''] of rows) {
    const named = cell.split('<br>')
    for (const one of named) {
      const [, file, name] = /^`([\w/.-]+\.test\.ts)` › (.+)$/.exec(one) ?? []
      assert.ok(file && name, `${number}: ${one}`)
      const source = await readFile(join(root, file), 'utf8')
      assert.ok(
        /\b(?:it|test|browserTest)\($/.test(sourceBefore(source, name)),
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
