// Rules for the source that the linter does not have: purpose lines, unique type names, SQL in stores only, engines distinguished in
// server/db only.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')

const sources = globSync('{contract,server,cli,web,bench,tools}/**/*.{ts,tsx}', {
  cwd: root,
  // The samples contain code of other languages.
  exclude: ['**/*.test.ts', 'web/dist/**', 'contract/webhook-samples.ts'],
}).map((file) => ({
  file: file.replaceAll('\\', '/'),
  text: readFileSync(join(root, file), 'utf8'),
}))

const serverSources = sources.filter(
  ({ file }) => file.startsWith('server/') && !file.startsWith('server/db/'),
)

test('the first line of every file says what it is for', () => {
  const files = globSync('{contract,server,cli,web,test,bench,tools}/**/*.{ts,tsx}', {
    cwd: root,
    exclude: ['web/dist/**', '**/node_modules/**'],
  })
  const found = files.filter((file) => !readFileSync(join(root, file), 'utf8').startsWith('// '))
  assert.deepEqual(found, [])
})

test('no two files declare a type of the same name', () => {
  assert.ok(sources.length > 500)
  const filesByName = new Map<string, string[]>()
  for (const { file, text } of sources) {
    for (const [, name] of text.matchAll(/^(?:export )?(?:declare )?(?:type|interface|class) (\w+)/gm)) {
      filesByName.set(name!, [...(filesByName.get(name!) ?? []), file])
    }
  }
  const repeated = [...filesByName].filter(([, declaring]) => declaring.length > 1)
  assert.deepEqual(Object.fromEntries(repeated), {})
})

test('only stores contain SQL', () => {
  const statement = /['`]\s*(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|WITH \w+ AS)\b/
  const isStore = (file: string) => /(?:^|[/-])store\.ts$/.test(file)
  assert.ok(serverSources.some(({ file, text }) => isStore(file) && statement.test(text)))
  const found = serverSources.filter(({ file, text }) => !isStore(file) && statement.test(text))
  assert.deepEqual(
    found.map(({ file }) => file),
    [],
  )
})

test('only server/db distinguishes the engines', () => {
  const found = serverSources.filter(({ text }) => /\bengine [!=]==|\[(?:\w+\.)*engine\]/.test(text))
  assert.deepEqual(
    found.map(({ file }) => file),
    [],
  )
})
