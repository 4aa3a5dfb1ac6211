// Modes and owners of the files that the service and the commands write.
import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freshStorage, type FreshStorage } from '../support/engines.ts'
import { admin, adminProcess, runNode, spawnService } from '../support/service.ts'

const isWindows = process.platform === 'win32'
const noModes = isWindows && 'Windows has no file modes'
const notRoot = process.geteuid?.() !== 0 && 'only root can give files to other users'
const stranger = 65_534

async function modesIn(folder: string): Promise<Record<string, string>> {
  const modes: Record<string, string> = {}
  for (const name of (await readdir(folder)).toSorted()) {
    modes[name] = ((await lstat(join(folder, name))).mode & 0o777).toString(8)
  }
  return modes
}

/** A folder that already exists and that everyone can read. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-files-'))
  await chmod(folder, 0o755)
  return folder
}

interface DoctorReport {
  readonly checks: readonly {
    readonly check: string
    readonly state: string
    readonly text: { zh: string }
  }[]
}

async function checkFiles(environment: Readonly<Record<string, string>>): Promise<DoctorReport['checks']> {
  const { stdout } = await runNode(['start.js', 'cli/doctor.ts', '--json'], {
    PUBLIC_URL: 'http://127.0.0.1:9',
    ...environment,
  })
  return (JSON.parse(stdout) as DoctorReport).checks.filter(({ check }) => check === 'files')
}

describe('files in a folder that others can read', { skip: noModes }, () => {
  const closing: (() => Promise<unknown>)[] = []
  after(async () => {
    for (const close of closing.toReversed()) await close()
  })
  async function folderForTest(): Promise<string> {
    const folder = await openFolder()
    closing.push(() => rm(folder, { recursive: true, force: true }))
    return folder
  }

  it('67 the service writes its database and its secret for its owner only', async () => {
    const folder = await folderForTest()
    const service = await spawnService({ DATA_DIR: folder, WORKERS: '2' })
    const modes = await modesIn(folder)
    await service.kill('SIGTERM')
    assert.deepEqual(Object.keys(modes), ['secret.key', 'tollgate.db', 'tollgate.db-shm', 'tollgate.db-wal'])
    for (const [name, mode] of Object.entries(modes)) assert.equal(mode, '600', name)
  })

  it('67 the commands write for their owner only, and restrict the files of an older version', async () => {
    const folder = await folderForTest()
    await adminProcess({ DATA_DIR: folder }, 'account', 'list')
    for (const [name, mode] of Object.entries(await modesIn(folder))) assert.equal(mode, '600', name)

    const storage = await freshStorage('sqlite')
    closing.push(() => storage.remove())
    await copyFile(join(storage.environment['DATA_DIR']!, 'tollgate.db'), join(folder, 'tollgate.db'))
    for (const name of ['tollgate.db-wal', 'tollgate.db-shm']) await writeFile(join(folder, name), '')
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o644)
    const reported = await checkFiles({ DATA_DIR: folder })
    assert.deepEqual(
      reported.map(({ state }) => state),
      ['fail'],
    )
    assert.match(reported[0]!.text.zh, /tollgate\.db/)

    const opened = await admin({ DATA_DIR: folder }, 'account', 'list')
    assert.equal(opened.code, 0, opened.stderr)
    for (const [name, mode] of Object.entries(await modesIn(folder))) assert.equal(mode, '600', name)
    assert.deepEqual(
      (await checkFiles({ DATA_DIR: folder })).map(({ state }) => state),
      ['ok'],
    )
  })

  it('67 the start does not change the mode of what a link leads to', async () => {
    const folder = await folderForTest()
    const other = join(folder, 'other')
    await writeFile(other, '', { mode: 0o644 })
    await symlink(other, join(folder, 'tollgate.db-journal'))
    await adminProcess({ DATA_DIR: folder }, 'account', 'list')
    assert.equal((await modesIn(folder))['other'], '644')
  })

  it('67 doctor reports files of another user and a folder that everyone can write', async (context) => {
    const folder = await folderForTest()
    await admin({ DATA_DIR: folder }, 'account', 'list')
    await chmod(folder, 0o777)
    assert.deepEqual(
      (await checkFiles({ DATA_DIR: folder })).map(({ state }) => state),
      ['fail'],
    )
    await chmod(folder, 0o755)
    if (notRoot) return context.skip(notRoot)
    await chown(join(folder, 'secret.key'), stranger, stranger)
    const [reported] = await checkFiles({ DATA_DIR: folder })
    assert.equal(reported?.state, 'fail')
    assert.match(reported?.text.zh ?? '', /secret\.key/)
  })
})

describe('backup beside files of others', { skip: noModes }, () => {
  let storage: FreshStorage
  let folder: string
  before(async () => {
    storage = await freshStorage('sqlite')
    folder = await openFolder()
  })
  after(async () => {
    await storage?.remove()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function assertBackedUp(file: string): Promise<void> {
    const { code, stderr } = await admin(storage.environment, 'backup', file)
    assert.equal(code, 0, stderr)
    const { mode, uid, nlink } = await lstat(file)
    assert.deepEqual([mode & 0o777, uid, nlink], [0o600, process.geteuid?.(), 1])
    await assert.rejects(lstat(`${file}.part`), { code: 'ENOENT' })
  }

  it('68 a backup does not keep the mode and owner of a file that was there', async () => {
    const file = join(folder, 'there.backup')
    for (const name of [file, `${file}.part`]) {
      await writeFile(name, 'prepared')
      await chmod(name, 0o666)
      if (!notRoot) await chown(name, stranger, stranger)
    }
    await assertBackedUp(file)
  })

  it('68 a backup follows no link', async () => {
    const file = join(folder, 'linked.backup')
    const victim = join(folder, 'victim')
    await writeFile(victim, 'untouched', { mode: 0o644 })
    for (const name of [file, `${file}.part`]) await symlink(victim, name)
    await assertBackedUp(file)
    assert.equal(await readFile(victim, 'utf8'), 'untouched')
  })

  it('68 a backup fails with one line if the partial file cannot be removed', async () => {
    const file = join(folder, 'folder.backup')
    await mkdir(join(`${file}.part`, 'inside'), { recursive: true })
    const { code, stdout, stderr } = await admin(storage.environment, 'backup', file)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^[^\n]*folder\.backup[^\n]*\n$/)
    await assert.rejects(lstat(file), { code: 'ENOENT' })
  })

  it('68 of two backups to one file at the same time, the file is one complete backup', async () => {
    const file = join(folder, 'twice.backup')
    const results = await Promise.all(
      Array.from({ length: 4 }, () => admin(storage.environment, 'backup', file)),
    )
    assert.ok(results.some(({ code }) => code === 0))
    const target = await freshStorage('sqlite')
    try {
      await copyFile(
        join(storage.environment['DATA_DIR']!, 'secret.key'),
        join(target.environment['DATA_DIR']!, 'secret.key'),
      )
      const restored = await admin(target.environment, 'restore', file)
      assert.equal(restored.code, 0, restored.stderr)
    } finally {
      await target.remove()
    }
  })
})
