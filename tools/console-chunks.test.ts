// The built console: the sign-in page loads little, and index.html has its texts.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'

const folder = resolve(import.meta.dirname, '../web/dist')
const page = readFileSync(join(folder, 'index.html'), 'utf8')

/** What 160 kB of brotli are in gzip, which is quicker to measure. */
const maxSignInBytes = 185_000

test('the sign-in page loads few files and few bytes', () => {
  const files = [...page.matchAll(/(?:src|href)="\/console\/([^"]+)"/g)].map(([, name]) => name!)
  const sizes = files.map((name) => gzipSync(readFileSync(join(folder, name))).length)
  const bytes = sizes.reduce((sum, size) => sum + size, gzipSync(page).length)
  assert.ok(files.length <= 8, files.join(' '))
  assert.ok(bytes <= maxSignInBytes, `${bytes} bytes`)
})

test('index.html names its files by absolute paths, because it is the page of every path', () => {
  const names = [...page.matchAll(/\s(?:src|href)="([^"]+)"/g)].map(([, name]) => name!)
  assert.deepEqual(
    names.filter((name) => !name.startsWith('/console/')),
    [],
  )
})

test('index.html has the texts of the first view and the files of every page', () => {
  assert.doesNotMatch(page, /\/\* (BOOT|PAGES) \*\//)
  assert.match(page, /"sandbox":"沙箱模式：\{names\}/)
  assert.match(page, /"\/shortlink":\["assets\//)
})
