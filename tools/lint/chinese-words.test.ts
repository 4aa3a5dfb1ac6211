// One Chinese word per meaning in the service, the command line and the documents. `web/texts.test.ts` checks the console.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { chineseWords } from './chinese-words.ts'

const root = join(import.meta.dirname, '..', '..')

test('messages, settings and documents use the words of the project', () => {
  const files = globSync(['{contract,server,cli}/**/*.ts', '*.md', 'docs/*.md', 'server/**/*.md'], {
    cwd: root,
    exclude: ['**/*.test.ts', 'CHANGELOG.md'],
  })
  assert.ok(files.length > 500)
  const problems = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return chineseWords
      .filter(({ forbidden }) => forbidden.test(text))
      .map(({ instead }) => `${file}: use ${instead}`)
  })
  assert.deepEqual(problems, [])
})
