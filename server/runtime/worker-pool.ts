// Keeps a number of worker processes running: replaces those that exit, retries starts that fail, and replaces all of them
// one by one on a reload.
import cluster, { type Worker } from 'node:cluster'
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { StartProblem } from './installation.ts'
import { passOnUnacceptedConnections } from './unaccepted-connections.ts'

/** What a worker reports about its start. */
export type StartMessage =
  | { readonly tollgate: 'listening'; readonly address: string }
  | { readonly tollgate: 'failed'; readonly problem: string }

/** Asks a worker to accept no new connections and to exit when the existing ones are closed. */
export interface DrainMessage {
  readonly tollgate: 'drain'
}

/** A worker that exited sooner than this is replaced only after a pause, because it would probably exit again. */
const minUptimeMs = 5_000
const minDelayMs = 1_000
const maxDelayMs = 15_000

/** A worker that drains ends itself sooner than this, see `drain` and `stop` of the app. Until then a reload may wait for it. */
const maxDrainMs = 120_000

export interface WorkerPool {
  /** Resolves with the address of the service when all workers listen, or rejects with the reason why one does not. */
  start(): Promise<string>
  /**
   * Starts a new worker for each one and drains the old one when the new one listens. The new ones read the settings and the code
   * again. Returns false if a new worker could not start: the workers that were not replaced yet keep running. At most `size`
   * workers drain at a time; a reload waits for those of the last one.
   */
  reload(): Promise<boolean>
  /** Sends SIGTERM to every worker and waits for all of them. Returns the highest exit code. */
  stop(): Promise<number>
}

export interface WorkerPoolOptions {
  readonly size: number
  readonly log: Logger
  /** Called for every new worker, before it starts. */
  readonly onFork: (worker: Worker) => void
}

interface WorkerExit {
  readonly code: number | null
  readonly signal: string | null
}

interface RunningWorker {
  readonly worker: Worker
  readonly startedAt: number
  /** Its address, as soon as it listens. */
  readonly listening: Promise<string>
  readonly exited: Promise<WorkerExit>
}

/** One of the workers that should be running. `running` is undefined while a replacement is being started. */
interface WorkerSlot {
  running: RunningWorker | undefined
}

export function createWorkerPool({ size, log, onFork }: WorkerPoolOptions): WorkerPool {
  const all = new Set<RunningWorker>()
  const draining = new Set<RunningWorker>()
  const slots: readonly WorkerSlot[] = Array.from({ length: size }, () => ({ running: undefined }))
  let stopping = false

  function launch(): RunningWorker {
    const worker = cluster.fork()
    const exited = new Promise<WorkerExit>((resolve) => {
      worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }))
      worker.on('error', (error: Error) => {
        log.error({ err: error, worker: worker.process.pid }, 'error of a worker process')
        // The program could not be executed, for example because it is being replaced. There is no `exit` event then.
        if (worker.process.pid === undefined) resolve({ code: 1, signal: null })
      })
    })
    const listening = new Promise<string>((resolve, reject) => {
      worker.on('message', (message: StartMessage) => {
        if (message?.tollgate === 'listening') resolve(message.address)
        if (message?.tollgate === 'failed') reject(new WorkerProblem(message.problem))
      })
      void exited.then(({ code, signal }) =>
        reject(new WorkerProblem(`启动失败 / start failed: ${code ?? signal}`)),
      )
    })
    // Its rejection may come before anything awaits it.
    listening.catch(() => undefined)
    onFork(worker)
    passOnUnacceptedConnections(worker, () => slots.some((slot) => slot.running?.worker.isConnected()))
    const running = { worker, startedAt: performance.now(), listening, exited }
    all.add(running)
    void exited.then(() => all.delete(running))
    return running
  }

  function use(slot: WorkerSlot, running: RunningWorker): void {
    slot.running = running
    void running.exited.then(async ({ code, signal }) => {
      if (stopping || slot.running !== running) return
      slot.running = undefined
      log.error({ worker: running.worker.process.pid, code, signal }, 'worker exited, starting a replacement')
      await fill(slot, performance.now() - running.startedAt < minUptimeMs ? minDelayMs : 0)
    })
  }

  /** Starts a worker for the slot, and tries again until one listens. */
  async function fill(slot: WorkerSlot, firstDelayMs: number): Promise<void> {
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(Math.max(delayMs * 2, minDelayMs), maxDelayMs)) {
      await sleep(delayMs)
      // A reload may have filled the slot meanwhile.
      if (stopping || slot.running) return
      let started: RunningWorker | undefined
      try {
        started = launch()
        await started.listening
        if (stopping || slot.running) kill(started)
        else use(slot, started)
        return
      } catch (error) {
        if (stopping) return
        log.error(
          { problem: describe(error), worker: started?.worker.process.pid },
          'failed to start a worker',
        )
        if (started) kill(started)
      }
    }
  }

  function kill({ worker }: RunningWorker): void {
    if (!worker.isDead()) worker.process.kill('SIGTERM')
  }

  function drain(running: RunningWorker): void {
    draining.add(running)
    const { process: child } = running.worker
    const timer = setTimeout(() => {
      log.error({ worker: child.pid }, 'the worker does not end, killing it')
      child.kill('SIGKILL')
    }, maxDrainMs)
    void running.exited.then(() => {
      clearTimeout(timer)
      draining.delete(running)
    })
    if (running.worker.isConnected()) running.worker.send({ tollgate: 'drain' } satisfies DrainMessage)
  }

  /**
   * Repeated reloads must not accumulate processes. Ending one that drains would close its idle connections, and a request may be
   * on its way there.
   */
  async function waitForDrained(): Promise<void> {
    if (draining.size < size) return
    log.info({ workers: draining.size }, 'the reload waits for workers that drain')
    while (draining.size >= size) await Promise.race(Array.from(draining, ({ exited }) => exited))
  }

  async function replaceAll(): Promise<boolean> {
    let restoreRelease: (() => void) | undefined
    for (const slot of slots) {
      await waitForDrained()
      if (stopping) return false
      let next: RunningWorker | undefined
      try {
        restoreRelease ??= useCurrentRelease()
        next = launch()
        await next.listening
      } catch (error) {
        if (stopping) return false
        log.error({ problem: describe(error) }, 'failed to start a worker, the reload has ended')
        if (next) kill(next)
        restoreRelease?.()
        return false
      }
      if (stopping) return false
      const old = slot.running
      use(slot, next)
      if (old) drain(old)
    }
    return true
  }

  let reloading: Promise<boolean> | undefined
  let queued: Promise<boolean> | undefined

  return {
    async start() {
      useCurrentRelease()
      const started = slots.map(launch)
      const addresses = await Promise.all(started.map(({ listening }) => listening)).catch(
        (error: unknown) => {
          stopping = true
          for (const { worker } of all) worker.process.kill('SIGKILL')
          throw error
        },
      )
      slots.forEach((slot, index) => use(slot, started[index]!))
      return addresses[0]!
    },
    reload() {
      // The running reload may have read the settings already, so one more follows it.
      if (reloading) return (queued ??= reloading.then(() => this.reload()))
      queued = undefined
      reloading = replaceAll().finally(() => (reloading = undefined))
      return reloading
    },
    async stop() {
      stopping = true
      const codes = await Promise.all(
        [...all].map(async (running) => {
          kill(running)
          const { code, signal } = await running.exited
          // A worker that was still starting has no signal handler yet.
          return code ?? (signal === 'SIGTERM' ? 0 : 1)
        }),
      )
      return Math.max(0, ...codes)
    },
  }
}

/**
 * Fixes the release that new workers run, and returns a function that restores the previous one. The paths of the command line may
 * contain a link to the current release. It is resolved only here, so that a worker that is replaced after a crash runs the same
 * release as the others.
 */
function useCurrentRelease(): () => void {
  const previous = { exec: cluster.settings.exec, execPath: process.execPath }
  const use = ({ exec, execPath }: typeof previous) => {
    cluster.setupPrimary({ exec })
    // The cluster module has no setting for the program of the workers.
    process.execPath = execPath
  }
  use({
    exec: realpathSync(process.argv[1]!),
    execPath: isAbsolute(process.argv0) ? realpathSync(process.argv0) : process.execPath,
  })
  return () => use(previous)
}

/** A line that a worker has formatted already; it is printed as it is. */
class WorkerProblem extends StartProblem {
  constructor(line: string) {
    super(line, '')
    this.message = line
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
