// Several processes on one port: the primary prepares the database, keeps the workers running, forwards signals and aggregates
// metrics. It serves no requests itself.
import type { Worker } from 'node:cluster'
import { AggregatorRegistry } from 'prom-client'
import type { Config } from '../config.ts'
import { createMemoryStore } from '../limits/memory.ts'
import {
  answerLimitRequest,
  createPrimaryStore,
  type LimitResponse,
  type LimitRequest,
} from '../limits/primary-process.ts'
import { openLog } from '../operations/log.ts'
import { exitProcess } from './exit.ts'
import { type Installation, openInstallation } from './installation.ts'
import { logConfigWarnings, startProcess } from './process.ts'
import { onReloadSignal, onStopSignal } from './signals.ts'
import { notifySystemd } from './systemd.ts'
import { createWorkerPool, type DrainMessage, type StartMessage } from './worker-pool.ts'

/** Messages from a worker to the primary process. */
type WorkerMessage =
  | StartMessage
  | { readonly tollgate: 'metrics-request'; readonly id: number }
  | LimitRequest

/** A message from the primary process to a worker. */
interface MetricsText {
  readonly tollgate: 'metrics-response'
  readonly id: number
  readonly text: string | undefined
}

/** How long a worker waits for the aggregated metrics before it returns its own. */
const metricsTimeoutMs = 3_000

type OnListening = (address: string, installation: Installation) => Promise<void>

export async function startWorkers(config: Config, onListening: OnListening): Promise<void> {
  const { log, end: endLog } = openLog(config.LOG_LEVEL, { shared: true })
  logConfigWarnings(log, config)
  const installation = await openInstallation(config)
  const aggregator = new AggregatorRegistry()
  const limits = createMemoryStore()

  function answerRequests(worker: Worker): void {
    worker.on('message', (message: WorkerMessage) => {
      if (message?.tollgate === 'metrics-request') void answerMetrics(worker, message.id)
      if (message?.tollgate === 'limit-request')
        void answerLimitRequest(limits, message).then((response) => send(worker, response))
    })
  }

  async function answerMetrics(worker: Worker, id: number): Promise<void> {
    const text = await aggregator.clusterMetrics().catch(() => undefined)
    send(worker, { tollgate: 'metrics-response', id, text })
  }

  function send(worker: Worker, message: MetricsText | LimitResponse): void {
    if (worker.isConnected()) worker.send(message)
  }

  const pool = createWorkerPool({ size: config.WORKERS, log, onFork: answerRequests })
  const address = await pool.start().catch(async (error: unknown) => {
    await installation.close()
    throw error
  })
  let stopping = false
  onStopSignal(
    (signal) => {
      stopping = true
      log.info({ signal }, 'stopping')
      notifySystemd(log, 'STOPPING=1')
      void pool.stop().then((code) => endLog().then((isWritten) => exitProcess(code, !isWritten)))
    },
    () => void pool.stop(),
  )
  /** A signal during a reload starts another one after it. */
  let reloads = 0
  onReloadSignal(() => {
    log.info('reloading')
    const startedAt = process.hrtime.bigint() / 1_000n
    notifySystemd(log, 'RELOADING=1', `MONOTONIC_USEC=${startedAt}`)
    reloads += 1
    void pool.reload().then((done) => {
      if (done) log.info('reloaded')
      reloads -= 1
      // Also when the reload has failed: the service continues with the workers that it has.
      if (reloads === 0 && !stopping) notifySystemd(log, 'READY=1')
    })
  })
  await onListening(address, installation)
  await installation.close()
  notifySystemd(log, 'READY=1')
}

/** Starts a worker. It prints nothing itself: the primary process prints for all. */
export async function startWorker(config: Config): Promise<void> {
  const send = (message: WorkerMessage) => process.send?.(message)
  const { address, drain } = await startProcess(config, {
    app: {
      aggregateMetrics: (registry) => {
        AggregatorRegistry.setRegistries(registry)
        // Its constructor registers the listener that answers the primary process.
        new AggregatorRegistry()
        return () => requestAggregate(send)
      },
      limitStore: createPrimaryStore(send, (listener) => process.on('message', listener)),
    },
    log: { shared: true },
  })
  process.on('message', (message: DrainMessage) => {
    if (message?.tollgate === 'drain') drain()
  })
  send({ tollgate: 'listening', address })
}

/** Reports why the worker cannot start, and ends it. */
export function failWorker(problem: string): void {
  process.send?.({ tollgate: 'failed', problem } satisfies WorkerMessage, () => process.exit(1))
}

let lastRequestId = 0

/** The metrics of all workers together, or undefined on a timeout. */
function requestAggregate(send: (message: WorkerMessage) => unknown): Promise<string | undefined> {
  const id = (lastRequestId += 1)
  return new Promise((resolve) => {
    const done = (text: string | undefined) => {
      clearTimeout(timer)
      process.off('message', onMessage)
      resolve(text)
    }
    const onMessage = (message: MetricsText) => {
      if (message?.tollgate === 'metrics-response' && message.id === id) done(message.text)
    }
    const timer = setTimeout(done, metricsTimeoutMs, undefined)
    process.on('message', onMessage)
    send({ tollgate: 'metrics-request', id })
  })
}
