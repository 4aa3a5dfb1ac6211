// What surrounds the build of the console: which sources it is made from, the compressed copies, and the record that says both.
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

/** Below this the headers of an answer outweigh what compressing saves. */
const worthCompressing = 1_024

interface LockedPackage {
  readonly version?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Digest of all that can change the built files: our sources, and the packages they bring with them. */
export function digestOfSources(): string {
  const names = ['web', 'contract'].flatMap((folder) =>
    filesIn(join(root, folder)).map((name) => `${folder}/${name}`),
  )
  const sources = [...names.filter(isSource), 'vite.config.ts'].map(
    (name) => [name, readFileSync(join(root, name))] as const,
  )
  const packages = packagesBehind(sources.map(([, content]) => content.toString('utf8')))
  return digestOf([...sources, ['packages', Buffer.from(packages.join('\n'))]])
}

function isSource(name: string): boolean {
  // Hidden files are what desktops and editors leave behind.
  return !name.startsWith('web/dist/') && !/\.test\.tsx?$|\.md$|\/\./.test(name)
}

/** Every package that the sources import, with what those need in turn, as `place@version` from the lock file. */
function packagesBehind(sources: readonly string[]): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  const places = Map.groupBy(Object.keys(lock.packages), (place) => place.split('node_modules/').at(-1)!)
  const imported = sources.flatMap((text) =>
    [...text.matchAll(/(?:from|import) '((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?'/g)].map(
      ([, name]) => name!,
    ),
  )
  const found = new Set<string>()
  const waiting = [...imported]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const place of places.get(name) ?? []) {
      const { version, dependencies, peerDependencies } = lock.packages[place]!
      const entry = `${place}@${version}`
      if (found.has(entry)) continue
      found.add(entry)
      waiting.push(...Object.keys({ ...dependencies, ...peerDependencies }))
    }
  }
  return [...found].toSorted()
}

export function isConsoleCurrent(): boolean {
  // The container image has the built files only.
  if (!existsSync(join(root, 'vite.config.ts'))) return true
  return stateOfConsole() === 'complete' && readRecord()?.sources === digestOfSources()
}

export function recordBuild(folder: string = consoleFolder): void {
  const record = { sources: digestOfSources(), files: digestOfBuild(folder) }
  writeFileSync(recordFile(folder), `${JSON.stringify(record, undefined, 2)}\n`)
}

/** Lays `.br` and `.gz` beside each script and style sheet, so that the server sends them as they are. */
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
    // The name carries a hash of the content: a copy that is there is the right one.
    if (!/\.(js|css)$/.test(name) || (names.has(`${name}.br`) && names.has(`${name}.gz`))) continue
    const content = readFileSync(file)
    if (content.length < worthCompressing) continue
    writeFileSync(`${file}.br`, brotliCompressSync(content))
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
  }
}
