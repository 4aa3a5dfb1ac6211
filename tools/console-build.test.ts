// Tests that the committed console was built from its sources, and that the digests do not depend on the machine.
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
const fix = 'run npm run build:web and commit web/dist'

describe('the committed console', () => {
  test('was built from the committed sources', () => {
    assert.equal(committedRecord()?.sources, digestOfSources(), fix)
  })

  test('is complete', () => {
    assert.equal(stateOfConsole(), 'complete', fix)
  })
})

/**
 * `prepare` may have rebuilt an outdated console, so this reads the last commit unless the sources have uncommitted changes.
 * Without git (an archive of the sources) it reads the folder.
 */
function committedRecord(): BuildRecord | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
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

  test('change with a name, a content and the end of a file', () => {
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

  test('fails the doctor check if a file is missing or from another build', () => {
    const copy = join(folder, 'damaged')
    cpSync(consoleFolder, copy, { recursive: true })
    assert.equal(checkConsole(copy).state, 'ok')
    writeFileSync(join(copy, 'assets', 'page-of-another-build.js'), '')
    assert.equal(checkConsole(copy).state, 'fail')
    rmSync(join(copy, 'assets', 'page-of-another-build.js'))
    rmSync(join(copy, 'index.html'))
    const finding = checkConsole(copy)
    assert.equal(finding.state, 'fail')
    assert.match(finding.fix?.en ?? '', /npm run build:web/)
    assert.equal(checkConsole(join(folder, 'missing')).state, 'fail')
  })

  test('gets missing compressed files, and loses those of deleted scripts', () => {
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
