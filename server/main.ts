// Entry point: reads the settings and starts one process, or the primary process of several workers.
import './runtime/keep-tick-object.ts'
import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig, readEnvironment } from './config.ts'
import { createFirstAccounts, formatWelcome, saveFirstLogins } from './runtime/first-start.ts'
import type { Installation } from './runtime/installation.ts'
import { PermanentProblem, StartProblem } from './runtime/installation.ts'
import { restrictNewFiles } from './runtime/private-files.ts'
import { startProcess } from './runtime/process.ts'
import { isStdoutJournal, isSystemdService, notifySystemd, wrongSettingsExitCode } from './runtime/systemd.ts'
import { failWorker, startWorker, startWorkers } from './runtime/workers.ts'

const help = `npm start -- [--workers N] [--help]

启动服务，默认监听 http://127.0.0.1:3000，使用内嵌 SQLite 与沙箱网关。按 Ctrl-C 停止，已收到的请求会处理完。
Starts the service. Defaults: http://127.0.0.1:3000, embedded SQLite, sandbox gateways. Ctrl-C stops it after the
requests in progress.

  --workers N   处理请求的进程数，1 至 256，同 WORKERS / number of worker processes, same as WORKERS

设置来自环境变量或 .env，完整列表见 docs/operations.md：
Settings come from the environment or .env. Full list: docs/operations.en.md
  PORT=8080 DATA_DIR=/var/lib/tollgate npm start

  npm run --silent admin -- --help    账户、额度、密钥、备份…… / accounts, credits, keys, backups …
  npm run --silent doctor             检查部署 / checks the deployment`

restrictNewFiles()
// Without a listener, a reader of stdout that goes away would end the service.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  const config = readConfig({ ...readEnvironment(), ...readFlags() })
  if (cluster.isWorker) await startWorker(config)
  else if (config.WORKERS > 1)
    await startWorkers(config, (address, installation) => onListening(address, installation, config))
  else {
    const { address, installation, log } = await startProcess(config)
    await onListening(address, installation, config)
    notifySystemd(log, 'READY=1')
  }
} catch (error) {
  const problem = describeProblem(error)
  if (cluster.isWorker) failWorker(problem)
  else {
    process.stderr.write(`${problem}\n`)
    process.exit(isSettingsProblem(error) && isSystemdService(process.env) ? wrongSettingsExitCode : 1)
  }
}

/** True if the same start would fail again until the operator changes something. */
function isSettingsProblem(error: unknown): boolean {
  return error instanceof ConfigError || (error instanceof StartProblem && error.isPermanent)
}

/** The first accounts are created after listening: a port in use must not waste the secrets that are shown once. */
async function onListening(address: string, installation: Installation, config: Config): Promise<void> {
  const created = await createFirstAccounts(installation, config)
  if (!created) process.stdout.write(`Tollgate 已启动 / is running: ${address}\n`)
  // The journal stores what is printed, and users who must not know the secrets can read it.
  else if (isStdoutJournal(process.env))
    process.stdout.write(`${saveFirstLogins(config.DATA_DIR, address, created)}\n`)
  else process.stdout.write(`${formatWelcome(address, created)}\n`)
}

/** `--workers N` overrides the setting WORKERS. */
function readFlags(): Record<string, string> {
  try {
    const { values } = parseArgs({ options: { workers: { type: 'string' }, help: { type: 'boolean' } } })
    if (values.help) {
      process.stdout.write(`${help}\n`)
      process.exit(0)
    }
    return values.workers === undefined ? {} : { WORKERS: values.workers }
  } catch {
    throw new PermanentProblem('仅支持 --workers N 与 --help', 'the only flags are --workers N and --help')
  }
}

/** One line, whatever the error is. */
function describeProblem(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartProblem) return error.message
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `启动失败 / start failed: ${reason.replaceAll('\n', ' ')}`
}
