// One process of the service, from start to exit: the only one, or one of several workers.
import cluster from 'node:cluster'
import type { Logger } from 'pino'
import type { App, AppOptions } from '../app.ts'
import { type Config, listConfigWarnings } from '../config.ts'
import { compactHeap } from '../compact-heap.ts'
import { endsWithin } from './ends-within.ts'
import { exitProcess } from './exit.ts'
import { type Installation, openInstallation, StartProblem } from './installation.ts'
import { type LogOptions, openLog } from '../operations/log.ts'
import { growHeapFurther } from './heap-growth.ts'
import { inlineMore } from './inlining.ts'
import { onReloadSignal, onStopSignal } from './signals.ts'
import { notifySystemd } from './systemd.ts'

export interface StartedProcess {
  /** The public address of the service. */
  readonly address: string
  readonly installation: Installation
  readonly log: Logger
  /** Accepts no new connections, and stops when the existing ones are closed. */
  drain(): void
}

export interface ProcessOptions {
  readonly app?: AppOptions
  readonly log?: LogOptions
}

/** Resolves when the process is listening. A signal then stops it with exit code 0. */
export async function startProcess(config: Config, options: ProcessOptions = {}): Promise<StartedProcess> {
  const { log, callLog, dropped, end: endLog } = openLog(config.LOG_LEVEL, options.log)
  // The primary process logs them for its workers.
  if (!options.log?.shared) logConfigWarnings(log, config)
  const installation = await openInstallation(config, {
    onDatabaseError: (error, message) => log.warn({ err: error }, message),
  })
  if (!installation.isListening) {
    log.warn('the connection pooler delivers no notifications: links are not cached, see DATABASE_DIRECT_URL')
  }
  // Loading the service takes most of a start: a wrong setting or database is reported before, and the primary process of
  // several workers never needs it.
  const { createApp } = await import('../app.ts')
  const app = await createApp(config, installation, log, {
    callLog,
    droppedLogLines: dropped,
    ...options.app,
  })
  compactHeap()
  const address = await app.start().catch(async (error: unknown) => {
    await installation.close()
    throw toStartProblem(error, config)
  })
  inlineMore()
  growHeapFurther()
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    const end = (code: number) => void endLog().then((isWritten) => exitProcess(code, !isWritten))
    void stopAndClose(app, installation, log).then(
      () => end(0),
      (error: unknown) => {
        log.error({ err: error }, 'failed to stop cleanly')
        end(1)
      },
    )
  }
  onStopSignal((signal) => {
    log.info({ signal }, 'stopping')
    if (!cluster.isWorker) notifySystemd(log, 'STOPPING=1')
    if (config.DRAIN_S === 0) stop()
    else {
      log.info({ seconds: config.DRAIN_S }, 'draining')
      app.announceStop()
      setTimeout(stop, config.DRAIN_S * 1000)
    }
  }, stop)
  // A terminal that closes sends SIGHUP to the workers too, but the primary process decides about them.
  if (!cluster.isWorker)
    onReloadSignal(() => log.warn('ignored SIGHUP: only several workers can reload, restart the service'))
  return {
    address,
    installation,
    log,
    drain() {
      log.info('draining')
      void app.drain().then(stop)
    },
  }
}

export function logConfigWarnings(log: Logger, config: Config): void {
  for (const { en } of listConfigWarnings(config)) log.warn(en)
}

/** How long statements in progress may take after everything else has stopped. */
const closeTimeoutMs = 3_000

async function stopAndClose(app: App, installation: Installation, log: Logger): Promise<void> {
  await app.stop()
  if (!(await endsWithin(closeTimeoutMs, installation.close()))) log.warn('the database does not respond')
}

function toStartProblem(error: unknown, config: Config): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const isMetricsPort = error instanceof Error && 'port' in error && error.port === config.METRICS_PORT
  const name = isMetricsPort ? 'METRICS_PORT' : 'PORT'
  const address = `${config.HOST}:${config[name]}`
  if (code === 'EADDRINUSE') {
    return new StartProblem(
      `端口已被占用：${address}，请修改 ${name}`,
      `the port is in use, choose another ${name}`,
      error,
    )
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new StartProblem(`无法监听 ${address}`, `cannot listen on this address (${code})`, error)
  }
  return error
}
