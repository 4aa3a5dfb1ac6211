// The built console for browser tests: built when it is missing or older than its source.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { onlyOne } from './only-one.ts'
import { root } from './root.ts'

export async function ensureConsole(): Promise<void> {
  await onlyOne(`console ${root}`, async () => {
    if (isFresh()) return
    await build({ configFile: join(root, 'vite.config.ts'), root: join(root, 'web'), logLevel: 'error' })
  })
}

function isFresh(): boolean {
  const index = join(root, 'web/dist/index.html')
  if (!existsSync(index)) return false
  const builtAt = statSync(index).mtimeMs
  return newest(join(root, 'web')) <= builtAt && newest(join(root, 'contract')) <= builtAt
}

function newest(folder: string): number {
  let latest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || entry.parentPath.includes('dist') || entry.name.endsWith('.test.ts')) continue
    latest = Math.max(latest, statSync(join(entry.parentPath, entry.name)).mtimeMs)
  }
  return latest
}
