// The HTML of a shared statistics page: totals, a chart of days and ranked lists, without script.
import { type AnalyticsPart, analyticsParts, sharedDays } from '../../../contract/link-analytics.ts'
import { countryNames, provinces } from '../../../contract/places.ts'
import type { Language, Text } from '../../../contract/text.ts'
import { formatTime } from '../../../contract/time.ts'
import { browserNames, deviceNames, osNames, referrerNames } from '../../../contract/visitor-names.ts'
import { escapeHtml } from '../../http/html.ts'
import { pageIn } from '../../http/visitor-page.ts'
import type { Analytics, PeriodTotals } from '../listing/analytics.ts'

interface SharedPage {
  readonly title: string
  /** Empty for a tag. */
  readonly address: string
  readonly days: number
  readonly expiresAt: number
  readonly language: Language
}

const style = `<style>body{max-width:64rem;margin:4vh auto}h2{font-size:1rem;margin:1.6rem 0 .4rem}
nav a{margin:.6rem .4rem .6rem 0;padding:.2rem .9rem;background:transparent;color:#0b57d0;border:1px solid #8c959f}nav a[aria-current]{background:#1f6feb;color:#fff}
.totals,.parts{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,9rem),1fr))}.parts{grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr))}
.totals p{margin:0}.totals strong{display:block;font-size:1.6rem}.chart{width:100%;height:auto;display:block}.chart rect{fill:#1f6feb}
ol{list-style:none;margin:0;padding:0}li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.5rem;font-size:.95rem;padding:.15rem 0;overflow-wrap:break-word}
li i{grid-column:1/3;height:.25rem;border-radius:.2rem;background:#1f6feb}
@media(prefers-color-scheme:dark){nav a{color:#9ec5fe}}</style>`

export function statisticsHtml(found: Analytics, page: SharedPage): string {
  const { language } = page
  const say = (text: Text) => text[language]
  const count = (value: number) => value.toLocaleString('en-US')
  const title = escapeHtml(page.title)
  const ranges = sharedDays.map(
    (days) =>
      `<a href="?days=${days}"${days === page.days ? ' aria-current="page"' : ''}>${say({ zh: `近 ${days} 天`, en: `Last ${days} days` })}</a>`,
  )
  const totals = totalNames.map(
    ([name, text]) =>
      `<p>${say(text)}<strong>${count(found.totals[name])}</strong>${say({ zh: '上一周期', en: 'Previous' })} ${count(found.previous[name])}</p>`,
  )
  const parts = analyticsParts.map((part) => rankingHtml(part, found, language))
  const address = page.address === '' ? '' : `<p>${escapeHtml(page.address)}</p>`
  return pageIn(
    language,
    `${title} · ${say(heading)}`,
    `${style}<h1>${title}</h1>${address}
<p>${found.from} – ${found.to} · ${say({ zh: '北京时间', en: 'Beijing time' })} · ${say({ zh: '本页有效期至', en: 'This page is valid until' })} ${formatTime(page.expiresAt)}</p>
<nav aria-label="${say({ zh: '时间范围', en: 'Range' })}">${ranges.join('')}</nav>
<div class="totals">${totals.join('')}</div>
<h2>${say({ zh: '每日访问', en: 'Clicks per day' })}</h2>${chartSvg(found, say({ zh: '每日访问', en: 'Clicks per day' }))}
<div class="parts">${parts.join('')}</div>`,
  )
}

const heading: Text = { zh: '访问统计', en: 'Statistics' }

const totalNames: readonly (readonly [keyof PeriodTotals, Text])[] = [
  ['clicks', { zh: '访问', en: 'Clicks' }],
  ['visitors', { zh: '访客', en: 'Visitors' }],
  ['scans', { zh: '扫码', en: 'QR scans' }],
  ['bots', { zh: '机器人', en: 'Bots' }],
  ['previews', { zh: '预览', en: 'Previews' }],
]

const chartHeight = 120

function chartSvg({ days }: Analytics, label: string): string {
  const max = Math.max(1, ...days.map(({ person }) => person))
  const width = 720 / days.length
  const bars = days.map(({ day, person }, index) => {
    const height = (person / max) * chartHeight
    return `<rect x="${round(index * width)}" y="${round(chartHeight - height)}" width="${round(width * 0.8)}" height="${round(height)}"><title>${day}: ${person}</title></rect>`
  })
  return `<svg class="chart" viewBox="0 0 720 ${chartHeight}" role="img" aria-label="${label}">${bars.join('')}</svg>`
}

const round = (value: number) => Math.round(value * 100) / 100

const partNames: Readonly<Record<AnalyticsPart, Text>> = {
  referrer: { zh: '来源', en: 'Referrers' },
  province: { zh: '省份', en: 'Provinces' },
  country: { zh: '国家或地区', en: 'Countries and regions' },
  device: { zh: '设备', en: 'Devices' },
  os: { zh: '系统', en: 'Systems' },
  browser: { zh: '浏览器', en: 'Browsers' },
  app: { zh: '应用', en: 'Apps' },
}

const maxListed = 10

function rankingHtml(part: AnalyticsPart, { parts }: Analytics, language: Language): string {
  const items = parts[part].slice(0, maxListed)
  const max = Math.max(1, ...items.map(({ clicks }) => clicks))
  const lines = items.map(
    ({ value, clicks }) =>
      `<li><span>${escapeHtml(nameOf(part, value, language))}</span><span>${clicks.toLocaleString('en-US')}</span><i style="width:${round((100 * clicks) / max)}%"></i></li>`,
  )
  const list =
    lines.length === 0
      ? `<p>${language === 'zh' ? '暂无访问' : 'No clicks'}</p>`
      : `<ol>${lines.join('')}</ol>`
  return `<section><h2>${partNames[part][language]}</h2>${list}</section>`
}

function nameOf(part: AnalyticsPart, value: string, language: Language): string {
  if (value === '') {
    const text = part === 'referrer' ? { zh: '直接访问', en: 'Direct' } : { zh: '未知', en: 'Unknown' }
    return text[language]
  }
  if (part === 'country') return countryNames(language).get(value) ?? value
  if (part === 'province') return provinces[value]?.[language] ?? value
  const names = part === 'os' ? osNames : part === 'device' ? deviceNames : browserNames
  return (part === 'referrer' ? referrerNames : names)[value]?.[language] ?? value
}

/** Why there are no statistics, in both languages. */
type Notice = Readonly<Record<Language, string>>

function notice(title: Text, text: Text): Notice {
  const create = (language: Language) =>
    pageIn(language, title[language], `<h1>${title[language]}</h1><p>${text[language]}</p>`)
  return { zh: create('zh'), en: create('en') }
}

export const unknownPage = notice(
  { zh: '页面不存在', en: 'No such page' },
  { zh: '请检查地址是否完整。', en: 'Check that the address is complete.' },
)
export const endedPage = notice(
  { zh: '分享已结束', en: 'No longer shared' },
  {
    zh: '该统计的分享已到期或被撤销，请向分享者索取新的地址。',
    en: 'The share has expired or was revoked. Ask for a new address.',
  },
)
export const manyViewsPage = notice(
  { zh: '访问过于频繁', en: 'Too many views' },
  { zh: '请稍后再试。', en: 'Try again in a moment.' },
)
export const tooManyLinksPage = notice(
  { zh: '无法汇总', en: 'Not available' },
  { zh: '该标签的链接过多。', en: 'The tag has too many links.' },
)
