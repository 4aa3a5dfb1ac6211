// Several processes on one port: the first one prepares the database, starts the others, replaces those that die, passes
// signals on, and adds up their metrics. It serves no request itself.
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
import { onSignal, startProcess } from './process.ts'
import { openLog } from '../operations/log.ts'

/** What a worker tells the first process. */
type Report =
  | { readonly tollgate: 'listening'; readonly address: string }
  | { readonly tollgate: 'failed'; readonly problem: string }
  | { readonly tollgate: 'metrics?'; readonly id: number }
  | LimitRequest

/** What it is told. */
interface MetricsText {
  readonly tollgate: 'metrics'
  readonly id: number
  readonly text: string | undefined
}

/** A worker that died this young would only die again. */
const youngMs = 5_000
const pauseMs = 1_000

/** How long a worker waits for the sum before it shows its own figures. */
const metricsMs = 3_000

type Greet = (address: string, installation: Installation) => Promise<void>

export async function startWorkers(config: Config, greet: Greet): Promise<void> {
  const { log, end: endLog } = openLog(config.LOG_LEVEL, { shared: true })
  const installation = await openInstallation(config)
  const aggregator = new AggregatorRegistry()
  const limits = createMemoryStore()
  let stopping = false

  function fork(): Worker {
    const worker = cluster.fork()
    worker.on('message', (report: Report) => {
      if (report?.tollgate === 'metrics?') void answerMetrics(worker, report.id)
      if (report?.tollgate === 'limit-request')
        void answerLimitRequest(limits, report).then((answer) => tell(worker, answer))
    })
    return worker
  }

  async function answerMetrics(worker: Worker, id: number): Promise<void> {
    const text = await aggregator.clusterMetrics().catch(() => undefined)
    tell(worker, { tollgate: 'metrics', id, text })
  }

  function tell(worker: Worker, answer: MetricsText | LimitResponse): void {
    if (worker.isConnected()) worker.send(answer)
  }

  /** The worker's place is filled again and again, until the service stops. */
  async function keepPlace(first: Worker, firstStartedAt: number): Promise<void> {
    let worker = first
    let startedAt = firstStartedAt
    for (;;) {
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]
      if (stopping) return
      log.error({ worker: worker.process.pid, code, signal }, 'a worker died and is replaced')
      if (performance.now() - startedAt < youngMs) await sleep(pauseMs)
      if (stopping) return
      worker = fork()
      startedAt = performance.now()
    }
  }

  const startedAt = performance.now()
  const workers = Array.from({ length: config.WORKERS }, fork)
  const addresses = await Promise.all(workers.map(listening)).catch(async (error: unknown) => {
    for (const worker of workers) worker.process.kill('SIGKILL')
    await installation.close()
    throw error
  })
  for (const worker of workers) void keepPlace(worker, startedAt)
  onSignal((signal) => {
    stopping = true
    log.info({ signal }, 'stopping')
    void endAll().then((code) => {
      endLog()
      process.exit(code)
    })
  })
  await greet(addresses[0] ?? '', installation)
  await installation.close()
}

/** Tells every worker to finish and waits for all of them; the worst exit code is ours. */
async function endAll(): Promise<number> {
  const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const codes = await Promise.all(
    workers.map(async (worker) => {
      if (worker.isDead()) return 0
      worker.process.kill('SIGTERM')
      const [code, signal] = (await once(worker, 'exit')) as [number | null, string | null]
      // One that was only just starting knows of no way to end but this.
      return code ?? (signal === 'SIGTERM' ? 0 : 1)
    }),
  )
  return Math.max(0, ...codes)
}

/** Its address once it listens, or the line that says why it does not. */
function listening(worker: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    worker.on('message', (report: Report) => {
      if (report?.tollgate === 'listening') resolve(report.address)
      if (report?.tollgate === 'failed') reject(new WorkerProblem(report.problem))
    })
    worker.once('exit', (code) => reject(new WorkerProblem(`启动失败 / start failed: ${code}`)))
  })
}

/** A line that a worker has written already; it is passed on as it is. */
class WorkerProblem extends StartProblem {
  constructor(line: string) {
    super(line, '')
    this.message = line
  }
}

/** One of the workers. It says nothing itself: the first process speaks for all. */
export async function startWorker(config: Config, problemOf: (error: unknown) => string): Promise<void> {
  const report = (one: Report) => process.send?.(one)
  try {
    const { address } = await startProcess(config, {
      app: {
        metricsText: (registry) => {
          AggregatorRegistry.setRegistries(registry)
          // Nobody keeps it: to be made is what lets a worker answer the first process.
          new AggregatorRegistry()
          return () => askForSum(report)
        },
        limitStore: createPrimaryStore(report, (hear) => process.on('message', hear)),
      },
      log: { shared: true },
    })
    report({ tollgate: 'listening', address })
  } catch (error) {
    process.send?.({ tollgate: 'failed', problem: problemOf(error) } satisfies Report, () => process.exit(1))
  }
}

let asked = 0

/** The sum over all workers; undefined when it does not come in time. */
function askForSum(report: (one: Report) => unknown): Promise<string | undefined> {
  const id = (asked += 1)
  return new Promise((resolve) => {
    const done = (text: string | undefined) => {
      clearTimeout(timer)
      process.off('message', hear)
      resolve(text)
    }
    const hear = (message: MetricsText) => {
      if (message?.tollgate === 'metrics' && message.id === id) done(message.text)
    }
    const timer = setTimeout(done, metricsMs, undefined)
    process.on('message', hear)
    report({ tollgate: 'metrics?', id })
  })
}
