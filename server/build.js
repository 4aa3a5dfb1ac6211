// The build of the service: its sources and the packages with hundreds of files, in a few files. A start from it takes half the time
// and 20 MB less memory. `npm ci` writes it (tools/prepare.js), start.js runs it. JavaScript, because loading the part of Node that
// reads TypeScript takes 16 MB.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const builds = join(root, '.cache', 'server')
const entries = ['server/main.ts', 'cli/admin.ts', 'cli/doctor.ts']

/** All other packages are loaded from node_modules. */
const bundledPackages = /^(typebox|kysely|lru-cache|isbot|@oxc-project\/runtime)(\/|$)/

/** Processes that still run may load files of the build they started from. */
const maxOldBuilds = 2

/** @returns {string} the file to run instead of an entry point; the entry point itself if it was not built or has changed since */
export function builtFile(/** @type {string} */ entry) {
  const source = join(root, entry)
  if (!entries.includes(entry) || !existsSync(builds)) return source
  const file = join(builds, digestOfSources(), `${basename(entry, '.ts')}.js`)
  return existsSync(file) ? file : source
}

/** Does nothing if the sources were built before, or if Rolldown is not installed: the service then runs from its sources. */
export async function buildServer() {
  const folder = join(builds, digestOfSources())
  const rolldown = existsSync(folder) ? undefined : await import('rolldown').catch(() => undefined)
  if (rolldown === undefined) return
  const unfinished = `${folder}.${process.pid}`
  const bundle = await rolldown.rolldown({
    input: entries.map((entry) => join(root, entry)),
    platform: 'node',
    external: (name) => !isAbsolute(name) && /^[\w@]/.test(name) && !bundledPackages.test(name),
    transform: { target: 'esnext' },
    plugins: [keepLocations],
    logLevel: 'warn',
  })
  await bundle.write({
    dir: unfinished,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  renameSync(unfinished, folder)
  removeOldBuilds(folder)
}

function digestOfSources() {
  const hash = createHash('sha256')
  const names = ['cli', 'contract', 'server'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  for (const name of [...names.filter(isSource).sort(), 'package.json']) {
    const content = readFileSync(join(root, name))
    hash.update(`${name}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

function isSource(/** @type {string} */ name) {
  return /\.(ts|js)$/.test(name) && !name.endsWith('.test.ts')
}

/** Makes `import.meta` mean the source file. Threads are built too. */
const keepLocations = {
  name: 'keep-locations',
  transform(/** @type {string} */ code, /** @type {string} */ file) {
    if (!file.startsWith(root) || file.includes('node_modules') || !code.includes('import.meta.'))
      return undefined
    const unknown = /import\.meta\.(?!url\b|dirname\b)\w+/.exec(code)
    if (unknown) throw new Error(`${file} uses ${unknown[0]}, which the build cannot replace`)
    const source = relative(join(builds, 'build'), file).replaceAll('\\', '/')
    return code
      .replaceAll(/new URL\('(\.\/[\w-]+\.ts)', import\.meta\.url\)/g, (_, name) => {
        const id = this.emitFile({ type: 'chunk', id: join(dirname(file), name) })
        return `new URL(import.meta.ROLLUP_FILE_URL_${id})`
      })
      .replaceAll(/import\.meta\.url\b/g, `new URL('${source}', import.meta.url).href`)
      .replaceAll(/import\.meta\.dirname\b/g, `(import.meta.dirname + '/${source}/..')`)
  },
}

function removeOldBuilds(/** @type {string} */ current) {
  const old = readdirSync(builds)
    .map((name) => join(builds, name))
    .filter((folder) => folder !== current)
    .map((folder) => ({ folder, at: statSync(folder).mtimeMs }))
    .sort((one, other) => other.at - one.at)
  for (const { folder } of old.slice(maxOldBuilds)) rmSync(folder, { recursive: true, force: true })
}
