// One process of the service from its start to its end: the only one, or one of several workers.
import { type App, type AppOptions, openApp } from '../app.ts'
import type { Config } from '../config.ts'
import { type Installation, openInstallation, StartProblem } from './installation.ts'
import { type LogOptions, openLog } from '../operations/log.ts'

export interface Started {
  /** Where people reach it. */
  readonly address: string
  readonly installation: Installation
}

export interface ProcessOptions {
  readonly app?: AppOptions
  readonly log?: LogOptions
}

/** Listens, and from then on ends with 0 when told to by a signal. */
export async function startProcess(config: Config, options: ProcessOptions = {}): Promise<Started> {
  const { log, end: endLog } = openLog(config.LOG_LEVEL, options.log)
  const installation = await openInstallation(config, {
    onDatabaseError: (error, message) => log.warn({ err: error }, message),
  })
  const app = await openApp(config, installation, log, options.app)
  const address = await app.start().catch(async (error: unknown) => {
    await installation.close()
    throw listenProblem(error, config)
  })
  onSignal((signal) => {
    log.info({ signal }, 'stopping')
    const end = (code: number) => {
      endLog()
      process.exit(code)
    }
    void finish(app, installation).then(
      () => end(0),
      (error: unknown) => {
        log.error({ err: error }, 'stopping failed')
        end(1)
      },
    )
  })
  return { address, installation }
}

/** Calls back once, whichever of the two comes first. */
export function onSignal(stop: (signal: NodeJS.Signals) => void): void {
  let stopping = false
  const once = (signal: NodeJS.Signals) => {
    if (stopping) return
    stopping = true
    stop(signal)
  }
  process.on('SIGTERM', once)
  process.on('SIGINT', once)
  if (process.env['npm_lifecycle_event'] === 'start') onOrphaned(() => once('SIGTERM'))
}

const orphanCheckMs = 250

/** npm passes a SIGTERM to the shell between us, and a plain `sh` dies of it without telling us. */
function onOrphaned(stop: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, orphanCheckMs)
  timer.unref()
}

async function finish(app: App, installation: Installation): Promise<void> {
  await app.stop()
  await installation.close()
}

function listenProblem(error: unknown, config: Config): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const ofMetrics = error instanceof Error && 'port' in error && error.port === config.METRICS_PORT
  const name = ofMetrics ? 'METRICS_PORT' : 'PORT'
  const where = `${config.HOST}:${config[name]}`
  if (code === 'EADDRINUSE') {
    return new StartProblem(
      `端口已被占用：${where}，请换 ${name}`,
      `the port is taken, choose another ${name}`,
      error,
    )
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartProblem(`无法监听 ${where}`, `cannot listen there (${code})`, error)
  }
  return error
}
