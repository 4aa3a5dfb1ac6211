// The build of the service, in a small project: it runs instead of the sources as long as they have not changed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from '../test/support/root.ts'

const run = promisify(execFile)

const sources: Readonly<Record<string, string>> = {
  'package.json': '{"type":"module"}',
  'contract/word.ts': `export const word: string = 'one'\n`,
  'server/main.ts': `import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { Type } from 'typebox'
import { word } from '../contract/word.ts'

new Worker(new URL('./thread.ts', import.meta.url)).once('message', (fromThread: string) => {
  const text = readFileSync(new URL('text.txt', import.meta.url), 'utf8')
  const { file } = JSON.parse(fromThread) as { file: string }
  const stack = new Error('here').stack ?? ''
  console.log(JSON.stringify({ word, text, type: Type.Number().type, folder: import.meta.dirname, file, stack }))
})
`,
  'server/thread.ts': `import { parentPort } from 'node:worker_threads'
import { word } from '../contract/word.ts'
parentPort!.postMessage(JSON.stringify({ word, file: new Error('here').stack }))
`,
  'server/text.txt': 'text',
  'cli/admin.ts': `console.log('admin')\n`,
  'cli/doctor.ts': `console.log('doctor')\n`,
}

interface Output {
  readonly word: string
  readonly text: string
  readonly type: string
  readonly folder: string
  readonly file: string
  readonly stack: string
}

describe('the build of the service', () => {
  let directory: string
  let builds: string

  before(async () => {
    // With a space, which is encoded in URLs.
    directory = await mkdtemp(join(tmpdir(), 'tollgate build-'))
    builds = join(directory, '.cache/server')
    for (const folder of ['contract', 'server', 'cli']) await mkdir(join(directory, folder))
    for (const [name, text] of Object.entries(sources)) await writeFile(join(directory, name), text)
    for (const name of ['start.js', 'server/build.js'])
      await copyFile(join(root, name), join(directory, name))
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  })
  after(() => rm(directory, { recursive: true, force: true, maxRetries: 10 }))

  async function build(): Promise<void> {
    const module = pathToFileURL(join(directory, 'server/build.js')).href
    await run(process.execPath, ['-e', `import('${module}').then((module) => module.buildServer())`])
  }

  async function start(...args: readonly string[]): Promise<string> {
    return (await run(process.execPath, ['start.js', ...args], { cwd: directory })).stdout
  }

  async function startService(): Promise<Output> {
    return JSON.parse(await start()) as Output
  }

  const isBuilt = ({ stack, file }: Output) => [stack, file].map((text) => text.includes('.cache/server'))
  const change = (name: string, text: string) => writeFile(join(directory, name), text)

  it('runs from the sources as long as there is none', async () => {
    const output = await startService()
    assert.deepEqual(isBuilt(output), [false, false])
    assert.equal(await start('cli/admin.ts'), 'admin\n')
  })

  it('does the same as the sources, with its threads and packages', async () => {
    const fromSources = await startService()
    await build()
    const output = await startService()
    assert.deepEqual(isBuilt(output), [true, true])
    for (const name of ['word', 'text', 'type'] as const) assert.equal(output[name], fromSources[name])
    assert.equal(join(output.folder, '.'), fromSources.folder)
    for (const name of ['admin', 'doctor']) assert.equal(await start(`cli/${name}.ts`), `${name}\n`)
    // Typebox is part of it.
    await rename(join(directory, 'node_modules'), join(directory, 'moved'))
    assert.equal((await startService()).type, 'number')
    await rename(join(directory, 'moved'), join(directory, 'node_modules'))
  })

  it('is not used after a change of a source or of a package version', async () => {
    for (const [name, text] of [
      ['contract/word.ts', `export const word = 'two'\n`],
      ['server/another.ts', 'export const other = 1\n'],
      ['package.json', '{"type":"module","dependencies":{"typebox":"2.0.0"}}'],
    ] as const) {
      await change(name, text)
      const output = await startService()
      assert.deepEqual(isBuilt(output), [false, false], name)
      assert.equal(output.word, name === 'contract/word.ts' ? 'two' : 'one')
      const original = sources[name]
      await (original === undefined ? rm(join(directory, name)) : change(name, original))
    }
    await change('server/main.test.ts', 'export const test = 1\n')
    assert.deepEqual(isBuilt(await startService()), [true, true])
  })

  it('refuses what it would replace wrongly', async () => {
    await change('contract/word.ts', 'export const word = import.meta.filename\n')
    await assert.rejects(build(), /word\.ts uses import\.meta\.filename/)
    await change('contract/word.ts', sources['contract/word.ts']!)
  })

  it('is written once, and those of the two versions before it are kept', async () => {
    await rm(builds, { recursive: true })
    const names: string[] = []
    for (let version = 1; version <= 4; version += 1) {
      await change('contract/word.ts', `export const word = 'version ${version}'\n`)
      await build()
      assert.equal((await startService()).word, `version ${version}`)
      const created = (await readdir(builds)).filter((name) => !names.includes(name))
      assert.equal(created.length, 1)
      names.push(...created)
      const { mtimeMs } = await stat(join(builds, created[0]!))
      await build()
      assert.equal((await stat(join(builds, created[0]!))).mtimeMs, mtimeMs)
    }
    assert.deepEqual((await readdir(builds)).toSorted(), names.slice(-3).toSorted())
  })
})
