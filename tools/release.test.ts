import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { findChangelogProblems, findVersionProblems } from './release-checks.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('release check', () => {
  test('every file of the repository has the version of package.json', () => {
    assert.deepEqual(findVersionProblems(read), [])
  })

  test('a client with another version and another Node in the image are found', () => {
    const changed = (path: string) =>
      read(path)
        .replace('const Version = "', 'const Version = "9')
        .replace(/^FROM node:/m, 'FROM node:1')
    const problems = findVersionProblems(changed)
    assert.equal(problems.length, 2)
    assert.match(problems[0]!, /^sdk\/go\/client\.go has version 9/)
    assert.match(problems[1]!, /^deploy\/Dockerfile uses Node 1/)
  })

  test('the newest section of the changelog is the version with a date', () => {
    assert.deepEqual(findChangelogProblems('# Changelog\n\n## 1.2.3 (2026-01-02)\n\n## 1.2.2\n', '1.2.3'), [])
    assert.equal(findChangelogProblems('# Changelog\n\n## 1.2.3\n', '1.2.3').length, 1)
    assert.equal(findChangelogProblems('# Changelog\n\n## 1.2.4 (2026-01-02)\n', '1.2.3').length, 1)
  })
})
