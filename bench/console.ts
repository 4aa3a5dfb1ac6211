// How much script a browser loads: for the sign-in page, for each page after it, and what only charts need.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const root = resolve(import.meta.dirname, '..')
const limit = 250 * 1000

interface Entry {
  readonly file: string
  readonly name?: string
  readonly src?: string
  readonly isEntry?: boolean
  readonly imports?: readonly string[]
  readonly dynamicImports?: readonly string[]
}

type Manifest = Readonly<Record<string, Entry>>

interface Sizes {
  readonly files: number
  readonly plain: number
  readonly gzip: number
  readonly brotli: number
}

export async function consoleBench(): Promise<Sizes> {
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

  process.stdout.write(`script in kB${''.padEnd(32)}files   plain    gzip  brotli\n`)
  const signIn = sizesOf(outDir, manifest, first)
  printSizes('sign-in page', signIn)
  const frame = closure(manifest, [entry, 'frame/frame.tsx'])
  printSizes('… and the frame', sizesOf(outDir, manifest, minus(frame, first)))
  for (const key of Object.keys(manifest).toSorted()) {
    const { src } = manifest[key]!
    if (
      src === undefined ||
      key === entry ||
      key === 'frame/frame.tsx' ||
      !manifest[key]!.file.endsWith('.js')
    )
      continue
    printSizes(`… and ${src}`, sizesOf(outDir, manifest, minus(closure(manifest, [key]), frame)))
  }
  const verdict = signIn.gzip < limit ? 'under' : 'OVER'
  process.stdout.write(
    `\nsign-in page: ${(signIn.gzip / 1000).toFixed(0)} kB gzip, ${verdict} the limit of ${limit / 1000} kB\n`,
  )
  return signIn
}

/** The chunks that come with these ones, without what they load later. */
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
    const content = readFileSync(file)
    sizes.files += 1
    sizes.plain += content.length
    sizes.gzip += gzipSync(content, { level: 9 }).length
    sizes.brotli += brotliCompressSync(content).length
  }
  return sizes
}

function printSizes(name: string, { files, plain, gzip, brotli }: Sizes): void {
  const kB = (bytes: number) => (bytes / 1000).toFixed(0).padStart(8)
  process.stdout.write(`${name.padEnd(44)}${String(files).padStart(5)}${kB(plain)}${kB(gzip)}${kB(brotli)}\n`)
}
