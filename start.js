// Plain JavaScript that any Node.js can read: an old version prints which command to run instead.
import module from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [major] = process.versions.node.split('.')

if (Number(major) < 24) {
  console.error(
    `Tollgate 需要 Node 24 或更高版本（当前 ${process.version}），请在项目目录运行：npm ci && npm start` +
      ` / Tollgate needs Node 24 or later, run: npm ci && npm start`,
  )
  process.exit(1)
}

// Compiling takes a tenth of a start. The cache is in the project folder, so that only those can write to it who can change the
// program. It is not in node_modules: `npm ci` fails when a process writes there meanwhile. If the folder is not writable, every start
// compiles again. The variable is for threads, which would compile again without it.
const cache = fileURLToPath(new URL('.cache/tollgate', import.meta.url))
module.enableCompileCache(cache)
process.env.NODE_COMPILE_CACHE ??= cache

// `npm run admin` and `npm run bench` pass the file to run as the first argument.
const target = process.argv[2]?.endsWith('.ts') ? process.argv.splice(2, 1)[0] : 'server/main.ts'
// By default these signals end a process at once, even while it loads.
if (target === 'server/main.ts') for (const signal of ['SIGHUP', 'SIGUSR2']) process.on(signal, () => {})
const { builtFile } = await import('./server/build.js')
await import(pathToFileURL(builtFile(target)).href)
