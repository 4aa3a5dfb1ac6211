// The start: reads the settings and becomes the service, or the first of several processes that are.
import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig, readEnvironment } from './config.ts'
import { firstStart, welcome } from './first-start.ts'
import type { Installation } from './installation.ts'
import { StartProblem } from './installation.ts'
import { startProcess } from './one-process.ts'
import { startWorker, startWorkers } from './workers.ts'

try {
  const config = readConfig({ ...readEnvironment(), ...readFlags() })
  if (cluster.isWorker) await startWorker(config, problemOf)
  else if (config.WORKERS > 1) await startWorkers(config, (address, one) => greet(address, one, config))
  else {
    const { address, installation } = await startProcess(config)
    await greet(address, installation, config)
  }
} catch (error) {
  process.stderr.write(`${problemOf(error)}\n`)
  process.exit(1)
}

/** The first start comes after listening: a taken port must not eat the secrets that are shown once. */
async function greet(address: string, installation: Installation, config: Config): Promise<void> {
  const made = await firstStart(installation, config)
  process.stdout.write(made ? `${welcome(address, made)}\n` : `Tollgate 已启动 / is running: ${address}\n`)
}

/** `--workers N` is the setting WORKERS, said at the start. */
function readFlags(): Record<string, string> {
  try {
    const { values } = parseArgs({ options: { workers: { type: 'string' } } })
    return values.workers === undefined ? {} : { WORKERS: values.workers }
  } catch {
    throw new StartProblem('只认识 --workers N', 'the only flag is --workers N')
  }
}

/** One line, whatever happened. */
function problemOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartProblem) return error.message
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `启动失败 / start failed: ${reason.replaceAll('\n', ' ')}`
}
