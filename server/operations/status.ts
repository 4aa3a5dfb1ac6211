// /status: the current health of each part of the service, and the last 90 days from the service's own samples.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { dayMs, formatDay, formatTime, hourMs, minuteMs } from '../../contract/time.ts'
import type { Database } from '../db/database.ts'
import { languageOf } from '../http/call.ts'
import { fullPagePolicy } from '../http/full-page.ts'
import type { Jobs } from '../jobs.ts'
import { addHealthSample, deleteHealthBefore, findHealthDays, type HealthDay } from './health-store.ts'
import type { ReadyState } from './readiness-store.ts'
import {
  type PartStatus,
  statusPage,
  type StatusPart,
  statusParts,
  type StatusReport,
} from './status-page.ts'

const keptDays = 90

/** The page is public: the history is read from the database at most this often. */
const cacheMs = 10_000

/** Minutes that wait to be written while the database is unavailable: a day. */
const maxWaitingMinutes = 1_440

const minutesPerWrite = 100

/** What works now. */
interface CurrentStatus {
  readonly ready: ReadyState
  readonly gateways: Readonly<Record<Exclude<StatusPart, 'service'>, boolean>>
}

export interface StatusOptions {
  readonly db: Database
  readonly check: () => Promise<CurrentStatus>
}

/**
 * Samples every minute and deletes what is older than 90 days. Minutes without the database are written when it is back, so that the
 * history shows them.
 */
export function startStatusJobs(jobs: Pick<Jobs, 'every'>, { db, check }: StatusOptions): void {
  const waiting: { readonly day: string; readonly minute: number; readonly status: CurrentStatus }[] = []
  jobs.every(minuteMs, 'sample_health', async () => {
    const now = Date.now()
    const status = await check()
    waiting.push({ day: formatDay(now), minute: Math.floor(now / minuteMs), status })
    if (waiting.length > maxWaitingMinutes) waiting.shift()
    while (waiting.length > 0) {
      const written = waiting.slice(0, minutesPerWrite)
      await db.write(async (tx) => {
        for (const { status: sampled, ...time } of written) {
          for (const part of statusParts)
            await addHealthSample(tx, { ...time, part, failed: !works(part, sampled) })
        }
      })
      waiting.splice(0, written.length)
    }
  })
  jobs.every(hourMs, 'prune_health', () =>
    db.write((tx) => deleteHealthBefore(tx, formatDay(Date.now() - keptDays * dayMs))),
  )
}

function works(part: StatusPart, { ready, gateways }: CurrentStatus): boolean {
  return part === 'service' ? ready === 'ok' : gateways[part]
}

export function registerStatus(app: FastifyInstance, { db, check }: StatusOptions): void {
  let cached: { readonly at: number; readonly days: Promise<HealthDay[]> } | undefined

  function history(): Promise<HealthDay[]> {
    const now = performance.now()
    if (!cached || now - cached.at > cacheMs) {
      const days = findHealthDays(db, formatDay(Date.now() - (keptDays - 1) * dayMs))
      cached = { at: now, days }
      days.catch(() => (cached = undefined))
    }
    return cached.days
  }

  /** The current state is always asked for: the readiness check has a cache of its own. */
  async function report(): Promise<StatusReport> {
    const now = Date.now()
    const status = await check()
    if (status.ready === 'database unavailable') return reportOf(status, [], now)
    try {
      return reportOf(status, await history(), now)
    } catch {
      // The next readiness check logs the reason.
      return reportOf({ ...status, ready: 'database unavailable' }, [], now)
    }
  }

  const send = (reply: FastifyReply) =>
    reply
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('vary', 'accept, accept-language')
  app.route({
    method: ['GET', 'HEAD'],
    url: '/status',
    handler: async (request, reply) => {
      const found = await report()
      if (found.problem !== undefined) reply.code(503).header('retry-after', '5')
      if (/application\/json/.test(request.headers.accept ?? '')) return send(reply).send(found)
      return send(reply)
        .header('content-security-policy', fullPagePolicy)
        .type('text/html; charset=utf-8')
        .send(statusPage(found, languageOf(request.raw)))
    },
  })
}

function reportOf(status: CurrentStatus, rows: readonly HealthDay[], now: number): StatusReport {
  return {
    ok: statusParts.every((part) => works(part, status)),
    ...(status.ready !== 'ok' && { problem: status.ready }),
    parts: statusParts.map((part) => partReport(part, works(part, status), rows)),
    updated_at: formatTime(now),
  }
}

function partReport(part: StatusPart, ok: boolean, rows: readonly HealthDay[]): PartStatus {
  const days = rows
    .filter((row) => row.part === part)
    .map(({ day, samples, failed }) => ({ day, samples: Number(samples), failed: Number(failed) }))
  const samples = days.reduce((sum, day) => sum + day.samples, 0)
  const failed = days.reduce((sum, day) => sum + day.failed, 0)
  const uptime = samples === 0 ? null : Math.round(((samples - failed) / samples) * 10_000) / 10_000
  return { name: part, ok, uptime_90d: uptime, days }
}
