// The built console for browser tests: built again when it does not belong to its sources.
import { join } from 'node:path'
import { isConsoleCurrent } from '../../tools/console-build.ts'
import { onlyOne } from './only-one.ts'
import { root } from './root.ts'

export async function ensureConsole(): Promise<void> {
  if (isConsoleCurrent()) return
  await onlyOne(`console ${root}`, async () => {
    if (isConsoleCurrent()) return
    // Loaded here: most runs have nothing to build.
    const { build } = await import('vite')
    await build({ configFile: join(root, 'vite.config.ts'), root: join(root, 'web'), logLevel: 'error' })
  })
}
