// Background jobs: the one loop that runs them, with jitter, metrics and an orderly stop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type JobFunction = (signal: AbortSignal) => Promise<unknown>

export interface Jobs {
  /**
   * Runs a job, waits about `ms`, and runs it again. The job never overlaps itself in one process. An error is logged
   * and counted, and the job runs again at its next turn. The signal aborts when the service stops. `name` is a label of
   * metrics, such as `prune_audit_log`.
   */
  every(ms: number, name: string, run: JobFunction): void
  /** Aborts all jobs and waits until those that are running have ended. */
  stop(): Promise<void>
}

/** Each wait is up to 10 % longer or shorter, so that several processes do not run the same job at the same moment. */
const jitter = 0.1

export function createJobs(log: Logger, registry: Registry): Jobs {
  const runs = new Counter({
    name: 'tollgate_job_runs_total',
    help: 'Runs of background jobs',
    labelNames: ['name', 'result'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'tollgate_job_duration_seconds',
    help: 'Duration of background jobs',
    labelNames: ['name'],
    buckets: [0.01, 0.1, 1, 10, 60],
    registers: [registry],
  })
  const lastSuccess = new Gauge({
    name: 'tollgate_job_last_success_timestamp_seconds',
    help: 'When a background job last succeeded',
    labelNames: ['name'],
    registers: [registry],
    aggregator: 'max',
  })
  const stopping = new AbortController()
  const loops: Promise<void>[] = []

  async function loop(ms: number, name: string, run: JobFunction): Promise<void> {
    while (!stopping.signal.aborted) {
      const endTimer = duration.startTimer({ name })
      try {
        await run(stopping.signal)
        runs.inc({ name, result: 'success' })
        lastSuccess.setToCurrentTime({ name })
      } catch (error) {
        if (stopping.signal.aborted) return
        runs.inc({ name, result: 'failure' })
        log.error({ err: error, job: name }, 'background job failed')
      } finally {
        endTimer()
      }
      const waitMs = ms * (1 + jitter * (Math.random() * 2 - 1))
      await sleep(waitMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }

  return {
    every(ms, name, run) {
      // Prometheus sees the first run only as an increase from zero.
      for (const result of ['success', 'failure']) runs.inc({ name, result }, 0)
      duration.zero({ name })
      loops.push(loop(ms, name, run))
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
