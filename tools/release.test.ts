// The checks of `npm run release`.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import {
  findChangelogProblems,
  findRepositoryProblems,
  findTagProblems,
  findVersionProblems,
} from './release-checks.ts'

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
    const unreleased = (entries: string) =>
      `# Changelog\n\n## Unreleased\n${entries}\n## 1.2.3 (2026-01-02)\n\n- a\n`
    assert.deepEqual(findChangelogProblems(unreleased(''), '1.2.3'), [])
    assert.match(findChangelogProblems(unreleased('\n- b\n'), '1.2.3')[0]!, /move them to "1\.2\.3/)
    assert.equal(findChangelogProblems(unreleased(''), '1.2.4').length, 1)
  })

  test('the changelog has a dated section of the version', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    assert.ok(
      read('CHANGELOG.md')
        .split('\n')
        .some((line) => line.startsWith(`## ${version} (`) && /\(\d{4}-\d{2}-\d{2}\)$/.test(line)),
    )
  })

  test('all clients name the repository of package.json, or none', () => {
    assert.deepEqual(findRepositoryProblems(read), [])
    const invented = (path: string) =>
      read(path).replace('"license"', '"homepage": "https://code.example/tollgate",\n  "license"')
    assert.deepEqual(findRepositoryProblems(invented), [
      'sdk/php/composer.json names the repository https://code.example/tollgate, package.json none',
    ])
    const published = (path: string) =>
      path === 'package.json' ? JSON.stringify({ repository: 'https://code.example/tollgate' }) : read(path)
    assert.equal(findRepositoryProblems(published).length, 5, 'four packages and the Go module')
  })

  test('a tag of the checked-out commit names the version', (context) => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    assert.deepEqual(findTagProblems([`v${version}`, 'nightly', ''], version), [])
    assert.match(findTagProblems(['v9.9.9'], version)[0]!, /HEAD has the tag v9\.9\.9/)
    const { status, stdout } = spawnSync('git', ['tag', '--points-at', 'HEAD'], {
      cwd: root,
      encoding: 'utf8',
    })
    if (status !== 0) return context.skip('this is not a clone of the repository')
    assert.deepEqual(findTagProblems(stdout.split('\n'), version), [])
  })
})
