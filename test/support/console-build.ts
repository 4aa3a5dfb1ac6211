// Builds the console for browser tests when the build is older than its sources.
import { join } from 'node:path'
import { isConsoleCurrent } from '../../tools/console-build.ts'
import { withLock } from './with-lock.ts'
import { root } from './root.ts'

export async function ensureConsole(): Promise<void> {
  if (isConsoleCurrent()) return
  await withLock(`console ${root}`, async () => {
    if (isConsoleCurrent()) return
    // Imported only when needed, because builds are rare.
    const { build } = await import('vite')
    await build({ configFile: join(root, 'vite.config.ts'), root: join(root, 'web'), logLevel: 'error' })
  })
}
