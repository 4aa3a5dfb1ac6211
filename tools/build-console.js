// npm's `prepare`. The built console is part of the repository; it is built again only where its sources have changed and Vite is
// installed. Plain JavaScript, because npm may run it with a Node that cannot read TypeScript.
import { spawnSync } from 'node:child_process'

if (Number(process.versions.node.split('.')[0]) < 24) {
  console.log(`需要 Node 24 或更高版本（当前 ${process.version}）/ Node 24 or later is needed`)
} else {
  const { compressConsole, isConsoleCurrent } = await import('./console-build.ts')
  const vite = await import('vite').catch(() => undefined)
  if (vite === undefined || isConsoleCurrent()) compressConsole()
  else await vite.build({ logLevel: 'warn' })

  // One start that ends at once, so that the first real one finds everything compiled (see start.js).
  spawnSync(process.execPath, ['start.js', '--help'], { stdio: 'ignore' })
}
