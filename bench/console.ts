// Size of the scripts that a browser loads for the sign-in page and for each further page.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'
import { firstLoadBench } from './first-load.ts'
import type { Expectation, Part } from './report.ts'

const root = resolve(import.meta.dirname, '..')
/** Gzip; browsers load the smaller brotli copies. */
const limit = 190 * 1000

interface ManifestEntry {
  readonly file: string
  readonly name?: string
  readonly src?: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

type Manifest = Readonly<Record<string, ManifestEntry>>

interface Sizes {
  readonly files: number
  readonly plain: number
  readonly gzip: number
  readonly brotli: number
}

export async function consoleBench(part: Part): Promise<void> {
  await firstLoadBench(part)
  const outDir = resolve(root, 'bench/results/console')
  await build({
    root: resolve(root, 'web'),
    configFile: resolve(root, 'vite.config.ts'),
    logLevel: 'error',
    build: { outDir, manifest: true },
  })
  const manifest = JSON.parse(readFileSync(join(outDir, '.vite/manifest.json'), 'utf8')) as Manifest
  const entry = Object.keys(manifest).find((key) => manifest[key]!.isEntry)!
  const first = closure(manifest, [entry])

  const row = (name: string, { files, plain, brotli, gzip }: Sizes, expected?: Expectation) =>
    part.row({
      name,
      value: gzip / 1000,
      unit: 'kB gzip',
      note: `files: ${files}, plain ${kB(plain)} kB, brotli ${kB(brotli)} kB`,
      expected: expected && [expected],
    })
  const signIn = sizesOf(outDir, manifest, first)
  row('sign-in page', signIn, { text: `< ${limit / 1000} kB gzip`, met: signIn.gzip < limit })
  // Grouped modules have no entry of their own in the manifest.
  const frameKey = Object.keys(manifest).find((key) => manifest[key]!.name === 'frame') ?? entry
  const frame = closure(manifest, [entry, frameKey])
  row('… and the frame', sizesOf(outDir, manifest, minus(frame, first)))
  for (const key of Object.keys(manifest).toSorted()) {
    const { src } = manifest[key]!
    if (src === undefined || key === entry || key === frameKey || !manifest[key]!.file.endsWith('.js'))
      continue
    row(`… and ${src}`, sizesOf(outDir, manifest, minus(closure(manifest, [key]), frame)))
  }
}

/** These chunks and all their static imports. */
function closure(manifest: Manifest, keys: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (key: string) => {
    if (found.has(key)) return
    found.add(key)
    for (const next of manifest[key]!.imports ?? []) visit(next)
  }
  for (const key of keys) visit(key)
  return found
}

function minus(all: ReadonlySet<string>, known: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...all].filter((key) => !known.has(key)))
}

function sizesOf(outDir: string, manifest: Manifest, keys: ReadonlySet<string>): Sizes {
  const sizes = { files: 0, plain: 0, gzip: 0, brotli: 0 }
  for (const key of keys) {
    const file = join(outDir, manifest[key]!.file)
    if (!file.endsWith('.js') || !existsSync(file)) continue
    const { plain, gzip, brotli } = sizeOf(file)
    sizes.files += 1
    sizes.plain += plain
    sizes.gzip += gzip
    sizes.brotli += brotli
  }
  return sizes
}

/** Most pages load the same files, and compressing takes long. */
const knownSizes = new Map<string, Omit<Sizes, 'files'>>()

function sizeOf(file: string): Omit<Sizes, 'files'> {
  const known = knownSizes.get(file)
  if (known) return known
  const content = readFileSync(file)
  const sizes = {
    plain: content.length,
    gzip: gzipSync(content, { level: 9 }).length,
    brotli: brotliCompressSync(content).length,
  }
  knownSizes.set(file, sizes)
  return sizes
}

function kB(bytes: number): string {
  return (bytes / 1000).toFixed(0)
}
