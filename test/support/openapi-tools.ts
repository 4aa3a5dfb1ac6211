// Installs and runs the programs of test/openapi-tools, which are too large for the packages of the project.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { root } from './root.ts'

const run = promisify(execFile)

const folder = join(root, 'test/openapi-tools')

/** Errors of npm when the package registry is unreachable. */
export const registryUnreachable =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E50\d/

/** Returns why the programs cannot be installed, or undefined. */
export async function installOpenApiTools(): Promise<string | undefined> {
  const digest = createHash('sha256')
    .update(await readFile(join(folder, 'package-lock.json')))
    .digest('hex')
  const mark = join(folder, 'node_modules/.installed')
  if ((await readFile(mark, 'utf8').catch(() => '')) === digest) return undefined
  try {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: folder,
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    if (!registryUnreachable.test(stdout + stderr)) throw error
    return 'the package registry is unreachable'
  }
  await writeFile(mark, digest)
  return undefined
}

/** Imports a file of an installed package. */
export async function toolModule(path: string): Promise<unknown> {
  return import(pathToFileURL(join(folder, 'node_modules', path)).href)
}

export function toolPath(name: string): string {
  return join(folder, 'node_modules/.bin', name)
}

/** Runs a program and returns what it printed, whatever its exit code. */
export async function runTool(
  name: string,
  args: readonly string[],
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    execFile(toolPath(name), args, { cwd: folder, env, maxBuffer: 50_000_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? 1 : 0, stdout, stderr }),
    )
  })
}
