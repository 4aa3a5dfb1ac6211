// Type names are unique in the code base, so that a name has one meaning.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const declaration = /^(?:export )?(?:declare )?(?:type|interface|class) (\w+)/gm

test('no two files declare a type of the same name', () => {
  const filesByName = new Map<string, string[]>()
  const files = globSync('{contract,server,cli,web,bench,tools}/**/*.{ts,tsx}', {
    cwd: root,
    // The samples contain code of other languages.
    exclude: ['**/*.test.ts', 'web/dist/**', 'contract/webhook-samples.ts'],
  })
  assert.ok(files.length > 500)
  for (const file of files) {
    for (const [, name] of readFileSync(join(root, file), 'utf8').matchAll(declaration)) {
      filesByName.set(name!, [...(filesByName.get(name!) ?? []), file])
    }
  }
  const repeated = [...filesByName].filter(([, declaring]) => declaring.length > 1)
  assert.deepEqual(Object.fromEntries(repeated), {})
})
