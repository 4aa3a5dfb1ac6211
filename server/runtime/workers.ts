// Several processes on one port: the primary prepares the database, starts the workers, replaces those that exit, forwards
// signals and aggregates metrics. It serves no requests itself.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry } from 'prom-client'
import type { Config } from '../config.ts'
import { type Installation, openInstallation, StartProblem } from './installation.ts'
import {
  answerLimitRequest,
  createPrimaryStore,
  type LimitResponse,
  type LimitRequest,
} from '../limits/primary-process.ts'
import { createMemoryStore } from '../limits/memory.ts'
import { logConfigWarnings, onStopSignal, startProcess } from './process.ts'
import { openLog } from '../operations/log.ts'

/** Messages from a worker to the primary process. */
type WorkerMessage =
  | { readonly tollgate: 'listening'; readonly address: string }
  | { readonly tollgate: 'failed'; readonly problem: string }
  | { readonly tollgate: 'metrics-request'; readonly id: number }
  | LimitRequest

/** A message from the primary process to a worker. */
interface MetricsText {
  readonly tollgate: 'metrics-response'
  readonly id: number
  readonly text: string | undefined
}

/** A worker that exited sooner than this is replaced only after a pause, because it would probably exit again. */
const minUptimeMs = 5_000
const restartDelayMs = 1_000

/** How long a worker waits for the aggregated metrics before it returns its own. */
const metricsTimeoutMs = 3_000

type OnListening = (address: string, installation: Installation) => Promise<void>

export async function startWorkers(config: Config, onListening: OnListening): Promise<void> {
  const { log, end: endLog } = openLog(config.LOG_LEVEL, { shared: true })
  logConfigWarnings(log, config)
  const installation = await openInstallation(config)
  const aggregator = new AggregatorRegistry()
  const limits = createMemoryStore()
  let stopping = false

  function fork(): Worker {
    const worker = cluster.fork()
    worker.on('message', (message: WorkerMessage) => {
      if (message?.tollgate === 'metrics-request') void answerMetrics(worker, message.id)
      if (message?.tollgate === 'limit-request')
        void answerLimitRequest(limits, message).then((response) => send(worker, response))
    })
    return worker
  }

  async function answerMetrics(worker: Worker, id: number): Promise<void> {
    const text = await aggregator.clusterMetrics().catch(() => undefined)
    send(worker, { tollgate: 'metrics-response', id, text })
  }

  function send(worker: Worker, message: MetricsText | LimitResponse): void {
    if (worker.isConnected()) worker.send(message)
  }

  /** Replaces the worker whenever it exits, until the service stops. */
  async function keepRunning(first: Worker, firstStartedAt: number): Promise<void> {
    let worker = first
    let startedAt = firstStartedAt
    for (;;) {
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]
      if (stopping) return
      log.error({ worker: worker.process.pid, code, signal }, 'worker exited, starting a replacement')
      if (performance.now() - startedAt < minUptimeMs) await sleep(restartDelayMs)
      if (stopping) return
      worker = fork()
      startedAt = performance.now()
    }
  }

  const startedAt = performance.now()
  const workers = Array.from({ length: config.WORKERS }, fork)
  const addresses = await Promise.all(workers.map(awaitListening)).catch(async (error: unknown) => {
    for (const worker of workers) worker.process.kill('SIGKILL')
    await installation.close()
    throw error
  })
  for (const worker of workers) void keepRunning(worker, startedAt)
  onStopSignal((signal) => {
    stopping = true
    log.info({ signal }, 'stopping')
    void stopAll().then((code) => {
      endLog()
      process.exit(code)
    })
  })
  await onListening(addresses[0] ?? '', installation)
  await installation.close()
}

/** Sends SIGTERM to every worker and waits for all of them. Returns the highest exit code. */
async function stopAll(): Promise<number> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const codes = await Promise.all(
    workers.map(async (worker) => {
      if (worker.isDead()) return 0
      worker.process.kill('SIGTERM')
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]
      // A worker that was still starting has no signal handler yet.
      return code ?? (signal === 'SIGTERM' ? 0 : 1)
    }),
  )
  return Math.max(0, ...codes)
}

/** Resolves with the worker's address when it listens, or rejects with the reason why it does not. */
function awaitListening(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (message: WorkerMessage) => {
      if (message?.tollgate === 'listening') resolve(message.address)
      if (message?.tollgate === 'failed') reject(new WorkerProblem(message.problem))
    })
    worker.once('exit', (code) => reject(new WorkerProblem(`启动失败 / start failed: ${code}`)))
  })
}

/** A line that a worker has formatted already; it is printed as it is. */
class WorkerProblem extends StartProblem {
  constructor(line: string) {
    super(line, '')
    this.message = line
  }
}

/** Starts a worker. It prints nothing itself: the primary process prints for all. */
export async function startWorker(
  config: Config,
  describeProblem: (error: unknown) => string,
): Promise<void> {
  const send = (message: WorkerMessage) => process.send?.(message)
  try {
    const { address } = await startProcess(config, {
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
    send({ tollgate: 'listening', address })
  } catch (error) {
    process.send?.({ tollgate: 'failed', problem: describeProblem(error) } satisfies WorkerMessage, () =>
      process.exit(1),
    )
  }
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
