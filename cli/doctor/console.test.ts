// The check of the built console.
import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from '../../test/support/root.ts'
import { checkConsole } from './console.ts'

describe('doctor: console files', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-console-'))
    await cp(join(root, 'web', 'dist'), join(folder, 'dist'), { recursive: true })
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('are complete in the repository', () => {
    assert.equal(checkConsole(join(folder, 'dist')).state, 'ok')
  })

  it('fail when a file or the whole folder is missing', async () => {
    const assets = join(folder, 'dist', 'assets')
    // Compressed copies are not part of the build.
    const file = (await readdir(assets)).find((name) => name.endsWith('.js'))
    await rm(join(assets, file!))
    assert.equal(checkConsole(join(folder, 'dist')).state, 'fail')
    await mkdir(join(folder, 'empty'))
    for (const missing of ['nowhere', 'empty']) {
      const { state, text } = checkConsole(join(folder, missing))
      assert.equal(state, 'fail')
      assert.match(text.en, /the console files are missing/)
    }
  })
})
