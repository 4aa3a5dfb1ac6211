// The `prepare` script of npm, which runs after every install. JavaScript, because npm may use a Node without TypeScript support.
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(fileURLToPath(import.meta.url), '..', '..')
const packages = join(root, 'node_modules')
const pinned = linkPinnedNode()

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await prepareConsole()
  const { buildServer } = await import('../server/build.js')
  await buildServer()
  // Fills the compile cache for the first start (see start.js).
  spawnSync(process.execPath, ['start.js', '--help'], { cwd: root, stdio: 'ignore' })
} else if (pinned !== undefined) {
  process.exitCode = spawnSync(pinned, [fileURLToPath(import.meta.url)], { stdio: 'inherit' }).status ?? 1
} else {
  console.log(`需要 Node 24 或更高版本（当前 ${process.version}）/ Node 24 or later is required`)
}

/**
 * npm 10 links the Node binary of this platform, then removes the link together with the packages of other platforms, which use
 * the same name (npm/cli#4362). Restores the link and returns the path of the binary, if it is installed.
 */
function linkPinnedNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = Object.keys(optionalDependencies).find((one) =>
    existsSync(join(packages, one, 'package.json')),
  )
  if (name === undefined) return undefined
  const { bin } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'))
  const program = join(packages, name, bin.node)
  const links = join(packages, '.bin')
  const isWindows = process.platform === 'win32'
  const link = join(links, isWindows ? 'node.cmd' : 'node')
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) {
    mkdirSync(links, { recursive: true })
    if (isWindows) writeFileSync(link, `@"%~dp0\\${relative(links, program)}" %*\r\n`)
    else symlinkSync(relative(links, program), link)
  }
  return program
}

/** The built console is part of the repository. It is rebuilt only if its sources have changed and Vite is installed. */
async function prepareConsole() {
  const { compressConsole, isConsoleCurrent } = await import('./console-build.ts')
  const vite = await import('vite').catch(() => undefined)
  if (vite === undefined || isConsoleCurrent()) compressConsole()
  else await vite.build({ logLevel: 'warn' })
}
