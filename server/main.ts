// The start: reads the settings and becomes the service, or the first of several processes that are.
import cluster from 'node:cluster'
import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig, readEnvironment } from './config.ts'
import { firstStart, welcome } from './runtime/first-start.ts'
import type { Installation } from './runtime/installation.ts'
import { StartProblem } from './runtime/installation.ts'
import { startProcess } from './runtime/process.ts'
import { startWorker, startWorkers } from './runtime/workers.ts'

const help = `npm start -- [--workers N] [--help]

启动服务，默认 http://127.0.0.1:3000，内嵌 SQLite，沙箱网关；Ctrl-C 停止，先做完手上的调用。
Starts the service: http://127.0.0.1:3000, embedded SQLite and sandbox gateways unless set otherwise. Ctrl-C stops it
after the calls at hand.

  --workers N   处理请求的进程数，1 到 256，同 WORKERS / processes that serve, the same as WORKERS

设置来自环境变量或 .env，全部列在 docs/operations.md：
Settings come from the environment or .env, all are listed in docs/operations.en.md:
  PORT=8080 DATA_DIR=/var/lib/tollgate npm start

  npm run --silent admin -- --help    账户、额度、密钥、备份…… / accounts, credits, keys, backups …
  npm run --silent doctor             检查部署 / looks at the deployment`

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
    const { values } = parseArgs({ options: { workers: { type: 'string' }, help: { type: 'boolean' } } })
    if (values.help) {
      process.stdout.write(`${help}\n`)
      process.exit(0)
    }
    return values.workers === undefined ? {} : { WORKERS: values.workers }
  } catch {
    throw new StartProblem('只认识 --workers N 与 --help', 'the only flags are --workers N and --help')
  }
}

/** One line, whatever happened. */
function problemOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartProblem) return error.message
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `启动失败 / start failed: ${reason.replaceAll('\n', ' ')}`
}
