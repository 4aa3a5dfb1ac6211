// Starts the service, says where it is, and stops it when asked to.
import { openApp } from './app.ts'
import { ConfigError, readConfig, readEnvironment } from './config.ts'
import { firstStart, welcome } from './first-start.ts'
import { openInstallation, StartProblem } from './installation.ts'
import { openLog } from './operations/log.ts'

try {
  await run()
} catch (error) {
  process.stderr.write(`${problemOf(error)}\n`)
  process.exit(1)
}

async function run(): Promise<void> {
  const config = readConfig(readEnvironment())
  const { log, end: endLog } = openLog(config.LOG_LEVEL)
  const installation = await openInstallation(config, {
    onDatabaseError: (error) => log.warn({ err: error }, 'database connection lost'),
  })
  const app = openApp(config, installation, log)
  const address = await app.start().catch(async (error: unknown) => {
    await installation.close()
    throw listenProblem(error, config.HOST, config.PORT)
  })
  const made = await firstStart(installation, config)
  process.stdout.write(made ? `${welcome(address, made)}\n` : `Tollgate 已启动 / is running: ${address}\n`)

  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    const end = (code: number) => {
      endLog()
      process.exit(code)
    }
    void app
      .stop()
      .then(() => installation.close())
      .then(
        () => end(0),
        (error: unknown) => {
          log.error({ err: error }, 'stopping failed')
          end(1)
        },
      )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

function listenProblem(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const where = `${host}:${port}`
  if (code === 'EADDRINUSE') {
    return new StartProblem(
      `端口已被占用：${where}，请换 PORT`,
      `the port is taken, choose another PORT`,
      error,
    )
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartProblem(`无法监听 ${where}`, `cannot listen there (${code})`, error)
  }
  return error
}

/** One line, whatever happened. */
function problemOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof StartProblem) return error.message
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return `启动失败 / start failed: ${reason.replaceAll('\n', ' ')}`
}
