// Helpers for the console build: the digest of its sources, compressed copies, and the build record.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import {
  consoleFolder,
  digestOf,
  digestOfBuild,
  filesIn,
  readRecord,
  recordFile,
  stateOfConsole,
} from '../server/console/built.ts'

const root = resolve(import.meta.dirname, '..')

/** Compressing smaller files saves too little. */
const minCompressBytes = 1_024

interface LockedPackage {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Digest of everything that affects the built files: our sources and the packages they import. */
export function digestOfSources(): string {
  const names = ['web', 'contract'].flatMap((folder) =>
    filesIn(join(root, folder)).map((name) => `${folder}/${name}`),
  )
  const sources = [...names.filter(isSource), 'vite.config.ts'].map(
    (name) => [name, readFileSync(join(root, name))] as const,
  )
  const packages = importedPackages(sources.map(([, content]) => content.toString('utf8')))
  return digestOf([...sources, ['packages', Buffer.from(packages.join('\n'))]])
}

function isSource(name: string): boolean {
  // Desktops and editors create hidden files.
  return !name.startsWith('web/dist/') && !/\.test\.tsx?$|\.md$|\/\./.test(name)
}

/** Every package that the sources import, with its dependencies, as `path@version` from the lock file. */
function importedPackages(sources: readonly string[]): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  const pathsByName = Map.groupBy(Object.keys(lock.packages), (path) => path.split('node_modules/').at(-1)!)
  const imported = sources.flatMap((text) =>
    [...text.matchAll(/(?:from|import) '((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?'/g)].map(
      ([, name]) => name!,
    ),
  )
  const found = new Set<string>()
  const pending = [...imported]
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    for (const path of pathsByName.get(name) ?? []) {
      const { version, dependencies, peerDependencies } = lock.packages[path]!
      const entry = `${path}@${version}`
      if (found.has(entry)) continue
      found.add(entry)
      pending.push(...Object.keys({ ...dependencies, ...peerDependencies }))
    }
  }
  return [...found].toSorted()
}

export function isConsoleCurrent(): boolean {
  // The container image contains only the built files.
  if (!existsSync(join(root, 'vite.config.ts'))) return true
  return stateOfConsole() === 'complete' && readRecord()?.sources === digestOfSources()
}

export function recordBuild(folder: string = consoleFolder): void {
  const record = { sources: digestOfSources(), files: digestOfBuild(folder) }
  writeFileSync(recordFile(folder), `${JSON.stringify(record, undefined, 2)}\n`)
}

/** Writes a `.br` and a `.gz` copy of each script and style sheet, so that the server need not compress them. */
export function compressConsole(folder: string = consoleFolder): void {
  const assets = join(folder, 'assets')
  if (!existsSync(assets)) return
  const names = new Set(filesIn(assets))
  for (const name of names) {
    const file = join(assets, name)
    if (/\.(br|gz)$/.test(name)) {
      // Left over from an earlier build.
      if (!names.has(name.slice(0, name.lastIndexOf('.')))) rmSync(file)
      continue
    }
    // The name contains a hash of the content, so an existing copy is current.
    if (!/\.(js|css)$/.test(name) || (names.has(`${name}.br`) && names.has(`${name}.gz`))) continue
    const content = readFileSync(file)
    if (content.length < minCompressBytes) continue
    writeFileSync(`${file}.br`, brotliCompressSync(content))
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
}
