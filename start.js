// The door: plain JavaScript that any Node can read, so that an old one is told what to run instead.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const [major] = process.versions.node.split('.')

if (Number(major) < 24) {
  console.error(
    `Tollgate 需要 Node 24 或更高版本（当前 ${process.version}），请在项目目录运行：npm ci && npm start` +
      ` / Tollgate needs Node 24 or later, run: npm ci && npm start`,
  )
  process.exit(1)
}

// Half of a start is reading and compiling some two thousand files. What that gives is kept beside the packages, where only
// those can write who could change the packages too; where nobody can, it is done again at every start.
module.enableCompileCache(fileURLToPath(new URL('node_modules/.cache/tollgate', import.meta.url)))

// `npm run admin` and `npm run bench` come through the same door with the file they want first.
const target = process.argv[2]?.endsWith('.ts') ? process.argv.splice(2, 1)[0] : 'server/main.ts'
await import(new URL(target, import.meta.url).href)
