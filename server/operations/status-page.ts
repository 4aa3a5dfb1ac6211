// The HTML of /status, and the report that it shows.
import { docsAddress } from '../../contract/docs-address.ts'
import type { Language, Text } from '../../contract/text.ts'
import { fullPage } from '../http/full-page.ts'
import type { ReadyState } from './readiness-store.ts'

export const statusParts = ['service', 'sms', 'identity', 'domain_check'] as const

export type StatusPart = (typeof statusParts)[number]

type StatusProblem = Exclude<ReadyState, 'ok'>

interface StatusDay {
  readonly day: string
  readonly samples: number
  readonly failed: number
}

export interface PartStatus {
  readonly name: StatusPart
  readonly ok: boolean
  /** Share of the sampled minutes without a failure; null without samples. */
  readonly uptime_90d: number | null
  readonly days: readonly StatusDay[]
}

export interface StatusReport {
  readonly ok: boolean
  /** Only while the service cannot work at all. */
  readonly problem?: StatusProblem
  readonly parts: readonly PartStatus[]
  readonly updated_at: string
}

const partNames: Readonly<Record<StatusPart, Text>> = {
  service: { zh: '接口与控制台', en: 'API and console' },
  sms: { zh: '短信网关', en: 'SMS gateways' },
  identity: { zh: '身份核验网关', en: 'Identity gateways' },
  domain_check: { zh: '域名检测网关', en: 'Domain check gateways' },
}

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

const texts = {
  zh: {
    title: 'Tollgate 运行状态',
    allWork: '全部正常',
    someFail: '部分异常',
    works: '正常',
    fails: '异常',
    failedMinutes: (count: number) => `异常 ${count} 分钟`,
    colon: '：',
    last90: '近 90 天：',
    uptime: '近 90 天可用率：',
    reference: '接口文档',
    console: '控制台',
  },
  en: {
    title: 'Tollgate status',
    allWork: 'All systems operational',
    someFail: 'Some systems are disrupted',
    works: 'Operational',
    fails: 'Disrupted',
    failedMinutes: (count: number) => `${count} minutes disrupted`,
    colon: ': ',
    last90: 'Last 90 days: ',
    uptime: 'Uptime in the last 90 days: ',
    reference: 'API reference',
    console: 'Console',
  },
}

const style = `:root { color-scheme: light dark }
body { font: 16px/1.7 system-ui, "PingFang SC", "Microsoft YaHei", sans-serif; max-width: 44rem; margin: 8vh auto; padding: 0 1.5rem; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117) }
h1 { font-size: 1.6rem; display: flex; gap: .75rem; align-items: center } h2 { font-size: 1.05rem; display: flex; justify-content: space-between; margin: 2rem 0 .5rem }
p, li { color: light-dark(#57606a, #9198a1); margin: .25rem 0 }
.bars { display: flex; gap: 2px; height: 1.75rem; justify-content: flex-end; background: light-dark(#f6f8fa, #161b22) }
.bars i { flex: 0 1 6px; border-radius: 2px } .bars .ok { background: light-dark(#2da44e, #3fb950) } .bars .bad { background: light-dark(#cf222e, #f85149) }
h2 span { white-space: nowrap }
span.ok { color: light-dark(#116329, #56d364) } span.bad { color: light-dark(#a40e26, #ff8182) }
a { color: light-dark(#0550ae, #79b8ff) }`

/** Every value is a number, a date or one of our own texts. */
export function statusPage(report: StatusReport, language: Language): string {
  const t = texts[language]
  const problem =
    report.problem === undefined ? '' : `<p><strong>${problemTexts[report.problem][language]}</strong></p>`
  const body = `<main>
<h1><img src="/favicon.svg" alt="" width="36" height="36">${t.title}</h1>
<p><strong>${report.ok ? t.allWork : t.someFail}</strong> · ${report.updated_at} (UTC+8)</p>
${problem}
${report.parts.map((part) => partSection(part, language)).join('\n')}
<p><a href="${docsAddress(language)}">${t.reference}</a> · <a href="/console/">${t.console}</a></p>
</main>`
  return fullPage({ language, title: t.title, style, body })
}

function partSection({ name, ok, uptime_90d, days }: PartStatus, language: Language): string {
  const t = texts[language]
  const uptime = uptime_90d === null ? '–' : `${(uptime_90d * 100).toFixed(2)}%`
  const bars = days.map(
    (day) => `<i class="${day.failed === 0 ? 'ok' : 'bad'}" title="${dayText(day, language)}"></i>`,
  )
  const disrupted = days.filter(({ failed }) => failed > 0).map((day) => `<li>${dayText(day, language)}</li>`)
  return `<section><h2>${partNames[name][language]} <span class="${ok ? 'ok' : 'bad'}">${ok ? '●' : '▲'} ${ok ? t.works : t.fails}</span></h2>
<div class="bars" role="img" aria-label="${t.last90}${uptime}">${bars.join('')}</div>
<p>${t.uptime}${uptime}</p>${disrupted.length === 0 ? '' : `<ul>${disrupted.join('')}</ul>`}</section>`
}

function dayText({ day, failed }: StatusDay, language: Language): string {
  const t = texts[language]
  return `${day}${t.colon}${failed === 0 ? t.works : t.failedMinutes(failed)}`
}
