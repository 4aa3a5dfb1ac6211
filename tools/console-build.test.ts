// The committed console fits its sources, and the digests that say so are the same on every machine.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { checkConsole } from '../cli/doctor/console.ts'
import {
  type BuildRecord,
  consoleFolder,
  digestOf,
  readRecord,
  stateOfConsole,
} from '../server/console/built.ts'
import { compressConsole, digestOfSources } from './console-build.ts'

const root = resolve(import.meta.dirname, '..')
const wanted = 'run npm run build:web and commit web/dist'

describe('the committed console', () => {
  test('was built from the sources beside it', () => {
    assert.equal(committedRecord()?.sources, digestOfSources(), wanted)
  })

  test('is complete', () => {
    assert.equal(stateOfConsole(), 'complete', wanted)
  })
})

/**
 * `prepare` may have built a stale console again: what counts is the last commit, unless the sources have changed since.
 * Without git (an archive of the sources) there is only the folder.
 */
function committedRecord(): BuildRecord | undefined {
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  if (!existsSync(join(root, '.git'))) return readRecord()
  const sources = ['web', 'contract', 'vite.config.ts', 'package-lock.json', ':!web/dist']
  if (git('status', '--porcelain', '--', ...sources) !== '') return readRecord()
  return JSON.parse(git('show', 'HEAD:web/dist/build.json')) as BuildRecord
}

describe('digests', () => {
  const content = (text: string) => Buffer.from(text)

  test('do not depend on the order of names or on line endings', () => {
    const one = digestOf([
      ['a', content('x\ny\n')],
      ['b', content('z')],
    ])
    const other = digestOf([
      ['b', content('z')],
      ['a', content('x\r\ny\r\n')],
    ])
    assert.equal(one, other)
  })

  test('change with a name, a content, and where one file ends', () => {
    const all = [
      [['a', content('xy')] as const],
      [['b', content('xy')] as const],
      [['a', content('xz')] as const],
      [['a', content('x')] as const, ['b', content('y')] as const],
    ].map((files) => digestOf(files))
    assert.equal(new Set(all).size, all.length)
  })
})

describe('a copy of the console', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-console-'))
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('that lost a script, or has one of another build, is found by the doctor', () => {
    const place = join(folder, 'damaged')
    cpSync(consoleFolder, place, { recursive: true })
    assert.equal(checkConsole(place).state, 'ok')
    writeFileSync(join(place, 'assets', 'page-of-another-build.js'), '')
    assert.equal(checkConsole(place).state, 'fail')
    rmSync(join(place, 'assets', 'page-of-another-build.js'))
    rmSync(join(place, 'index.html'))
    const finding = checkConsole(place)
    assert.equal(finding.state, 'fail')
    assert.match(finding.fix?.en ?? '', /npm run build:web/)
    assert.equal(checkConsole(join(folder, 'nowhere')).state, 'fail')
  })

  test('gets its compressed files back, and loses those of scripts that are gone', () => {
    const assets = join(folder, 'compressed', 'assets')
    mkdirSync(assets, { recursive: true })
    writeFileSync(join(assets, 'page-1.js'), 'const text = 1\n'.repeat(200))
    writeFileSync(join(assets, 'small-2.js'), 'export {}\n')
    writeFileSync(join(assets, 'gone-3.js.br'), '')
    compressConsole(join(folder, 'compressed'))
    assert.deepEqual(readdirSync(assets).toSorted(), [
      'page-1.js',
      'page-1.js.br',
      'page-1.js.gz',
      'small-2.js',
    ])
  })
})
