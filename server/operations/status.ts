// /status: the current health of each part of the service, and the last 90 days from the service's own samples.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { docsAddress } from '../../contract/docs-address.ts'
import { dayMs, formatDay, formatTime, hourMs, minuteMs } from '../../contract/time.ts'
import type { Text } from '../../contract/text.ts'
import type { Database } from '../db/database.ts'
import { languageOf } from '../http/call.ts'
import type { Jobs } from '../jobs.ts'
import { addHealthSample, deleteHealthBefore, findHealthDays, type HealthDay } from './health-store.ts'
import type { ReadyState } from './readiness-store.ts'

const keptDays = 90

/** The page is public: the history is read from the database at most this often. */
const cacheMs = 10_000

/** Minutes that wait to be written while the database is unavailable: a day. */
const maxWaitingMinutes = 1_440

const minutesPerWrite = 100

export const statusParts = ['service', 'sms', 'identity', 'domain_check'] as const

export type StatusPart = (typeof statusParts)[number]

const partNames: Readonly<Record<StatusPart, Text>> = {
  service: { zh: '接口与控制台', en: 'API and console' },
  sms: { zh: '短信网关', en: 'SMS gateways' },
  identity: { zh: '身份核验网关', en: 'Identity gateways' },
  domain_check: { zh: '域名检测网关', en: 'Domain check gateways' },
}

/** What works now. */
interface CurrentStatus {
  readonly ready: ReadyState
  readonly gateways: Readonly<Record<Exclude<StatusPart, 'service'>, boolean>>
}

export interface StatusOptions {
  readonly db: Database
  readonly check: () => Promise<CurrentStatus>
}

type StatusProblem = Exclude<ReadyState, 'ok'>

const problemTexts: Readonly<Record<StatusProblem, Text>> = {
  'database unavailable': {
    zh: '数据库不可用：付费调用会失败，历史数据暂时无法读取',
    en: 'The database is unavailable: paid calls fail, and the history cannot be read at the moment',
  },
  'schema too new': {
    zh: '服务版本过旧，无法使用当前数据库，等待更新',
    en: 'This version of the service is too old for the database and waits for an update',
  },
}

interface StatusReport {
  readonly ok: boolean
  /** Only while the service cannot work at all. */
  readonly problem?: StatusProblem
  readonly parts: readonly {
    readonly name: StatusPart
    readonly ok: boolean
    /** Share of the sampled minutes without a failure; null without samples. */
    readonly uptime_90d: number | null
    readonly days: readonly { readonly day: string; readonly samples: number; readonly failed: number }[]
  }[]
  readonly updated_at: string
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
      const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'none'`
      return send(reply)
        .header('content-security-policy', policy)
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

function partReport(
  part: StatusPart,
  ok: boolean,
  rows: readonly HealthDay[],
): StatusReport['parts'][number] {
  const days = rows
    .filter((row) => row.part === part)
    .map(({ day, samples, failed }) => ({ day, samples: Number(samples), failed: Number(failed) }))
  const samples = days.reduce((sum, day) => sum + day.samples, 0)
  const failed = days.reduce((sum, day) => sum + day.failed, 0)
  const uptime = samples === 0 ? null : Math.round(((samples - failed) / samples) * 10_000) / 10_000
  return { name: part, ok, uptime_90d: uptime, days }
}

/** Every value is a number, a date or one of our own texts. */
function statusPage(report: StatusReport, language: 'zh' | 'en'): string {
  const zh = language === 'zh'
  const title = zh ? 'Tollgate 运行状态' : 'Tollgate status'
  const word = (ok: boolean) => (ok ? (zh ? '正常' : 'Operational') : zh ? '异常' : 'Disrupted')
  const dayText = (day: { day: string; samples: number; failed: number }) =>
    `${day.day}${zh ? '：' : ': '}${day.failed === 0 ? word(true) : zh ? `异常 ${day.failed} 分钟` : `${day.failed} minutes disrupted`}`
  const parts = report.parts.map(({ name, ok, uptime_90d, days }) => {
    const bars = days
      .map((day) => `<i class="${day.failed === 0 ? 'ok' : 'bad'}" title="${dayText(day)}"></i>`)
      .join('')
    const uptime = uptime_90d === null ? '–' : `${(uptime_90d * 100).toFixed(2)}%`
    const disrupted = days.filter(({ failed }) => failed > 0).map((day) => `<li>${dayText(day)}</li>`)
    return `<section><h2>${partNames[name][language]} <span class="${ok ? 'ok' : 'bad'}">${ok ? '●' : '▲'} ${word(ok)}</span></h2>
<div class="bars" role="img" aria-label="${zh ? '近 90 天：' : 'Last 90 days: '}${uptime}">${bars}</div>
<p>${zh ? '近 90 天可用率：' : 'Uptime in the last 90 days: '}${uptime}</p>${disrupted.length === 0 ? '' : `<ul>${disrupted.join('')}</ul>`}</section>`
  })
  const summary = report.ok
    ? zh
      ? '全部正常'
      : 'All systems operational'
    : zh
      ? '部分异常'
      : 'Some systems are disrupted'
  return `<!doctype html>
<html lang="${zh ? 'zh-CN' : 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="/favicon.svg">
<style>
:root { color-scheme: light dark }
body { font: 16px/1.7 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; max-width: 44rem; margin: 8vh auto; padding: 0 1.5rem; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117) }
h1 { font-size: 1.6rem; display: flex; gap: .75rem; align-items: center } h2 { font-size: 1.05rem; display: flex; justify-content: space-between; margin: 2rem 0 .5rem }
p, li { color: light-dark(#57606a, #9198a1); margin: .25rem 0 }
.bars { display: flex; gap: 2px; height: 1.75rem; justify-content: flex-end; background: light-dark(#f6f8fa, #161b22) }
.bars i { flex: 0 1 6px; border-radius: 2px } .bars .ok { background: light-dark(#2da44e, #3fb950) } .bars .bad { background: light-dark(#cf222e, #f85149) }
span.ok { color: light-dark(#116329, #56d364) } span.bad { color: light-dark(#a40e26, #ff8182) }
a { color: light-dark(#0550ae, #79b8ff) }
</style>
</head>
<body>
<main>
<h1><img src="/favicon.svg" alt="" width="36" height="36">${title}</h1>
<p><strong>${summary}</strong> · ${report.updated_at} (UTC+8)</p>
${report.problem === undefined ? '' : `<p><strong>${problemTexts[report.problem][language]}</strong></p>`}
${parts.join('\n')}
<p><a href="${docsAddress(zh ? 'zh' : 'en')}">${zh ? '接口文档' : 'API reference'}</a> · <a href="/console/">${zh ? '控制台' : 'Console'}</a></p>
</main>
</body>
</html>
`
}
