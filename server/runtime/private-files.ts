// Files that only their owner may read: database, secret key, backups.
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

export const databaseName = 'tollgate.db'
export const secretName = 'secret.key'
export const firstLoginsName = 'first-logins.txt'

/** SQLite gives the other three the mode of the first. */
const privateNames = [
  secretName,
  firstLoginsName,
  databaseName,
  `${databaseName}-wal`,
  `${databaseName}-shm`,
  `${databaseName}-journal`,
]

export const privateMode = 0o600
const modeOfOthers = 0o077

/** For flags of `open`: the file must not exist, not even as a link. Windows has no O_NOFOLLOW. */
export const newFileFlags =
  constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/** At the start of every process that writes files: others get no access to any of them. */
export function restrictNewFiles(): void {
  process.umask(modeOfOthers)
}

/** Fails with EEXIST if the file exists. */
export function createPrivateFile(file: string, content: string): void {
  const descriptor = openSync(file, newFileFlags, privateMode)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  syncFolderOf(file)
}

/** Makes a new name in the folder durable. Windows cannot open folders. */
export function syncFolderOf(file: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(dirname(file), constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Takes the access of others to our files away. It uses their names: to open and close a database file would release the
 * locks that SQLite holds on it in this process.
 */
export function restrictExistingFiles(folder: string): void {
  for (const { file, stats } of listPrivateFiles(folder)) {
    const isOurs = stats.isFile() && stats.uid === process.geteuid?.()
    if (isOurs && isOpenToOthers(stats)) restrict(file)
  }
}

function restrict(file: string): void {
  try {
    chmodSync(file, privateMode)
  } catch {
    // Some network file systems have no modes. `doctor` reports files that stay open to others.
  }
}

interface PrivateFile {
  readonly file: string
  /** Of the file itself, or of the link. */
  readonly stats: Stats
}

export function listPrivateFiles(folder: string): PrivateFile[] {
  return privateNames
    .map((name) => join(folder, name))
    .flatMap((file) => {
      const stats = lstatSync(file, { throwIfNoEntry: false })
      return stats ? [{ file, stats }] : []
    })
}

export function isOpenToOthers({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & modeOfOthers) !== 0
}

/** SQLite would create its file with the mode 0644, less the umask. */
export function createDatabaseFile(file: string): void {
  if (existsSync(file)) return
  try {
    createPrivateFile(file, '')
  } catch (error) {
    // Another process may have created it at the same time.
    if (!existsSync(file)) throw error
  }
}
