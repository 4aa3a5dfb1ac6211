// npm's `prepare`: builds the console. Without the development dependencies there is nothing to build with, and that is fine.
import { spawnSync } from 'node:child_process'

const vite = await import('vite').catch(() => undefined)

if (vite === undefined) {
  console.log('控制台未构建：缺少开发依赖 / console not built: no development dependencies')
} else {
  await vite.build({ logLevel: 'warn' })
}

// One start that ends at once, so that the first real one finds everything compiled (see start.js).
spawnSync(process.execPath, ['start.js', '--help'], { stdio: 'ignore' })
