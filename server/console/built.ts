// The built console in web/dist, which is committed: its path, and whether it is complete.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const consoleFolder = resolve(import.meta.dirname, '..', '..', 'web', 'dist')

/** Written by the build into its folder. */
export interface BuildRecord {
  /** Digest of the sources. */
  readonly sources: string
  /** Digest of the built files. */
  readonly files: string
}

const recordName = 'build.json'

export function recordFile(folder: string = consoleFolder): string {
  return join(folder, recordName)
}

export function readRecord(folder: string = consoleFolder): BuildRecord | undefined {
  const file = recordFile(folder)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BuildRecord) : undefined
}

/** `damaged`: files are missing or changed, for example after a merge that mixed two builds. */
export function stateOfConsole(folder: string = consoleFolder): 'complete' | 'missing' | 'damaged' {
  if (!existsSync(join(folder, 'index.html'))) return 'missing'
  return readRecord(folder)?.files === digestOfBuild(folder) ? 'complete' : 'damaged'
}

/** Compressed copies are left out because they are not committed. */
export function digestOfBuild(folder: string): string {
  const names = filesIn(folder).filter((name) => name !== recordName && !/\.(br|gz)$/.test(name))
  return digestOf(names.map((name) => [name, readFileSync(join(folder, name))]))
}

/** Names relative to the folder, with forward slashes on every system. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
}

/** The same on every machine: sorted by name, with CRLF read as LF. */
export function digestOf(files: readonly (readonly [name: string, content: Buffer])[]): string {
  const hash = createHash('sha256')
  for (const [name, content] of files.toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const text = content.toString('latin1').replaceAll('\r\n', '\n')
    hash.update(`${name}\0${text.length}\0`).update(text, 'latin1')
  }
  return hash.digest('hex')
}
