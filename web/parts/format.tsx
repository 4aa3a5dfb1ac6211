// Formats of numbers, times and states, the same on every page.
import {
  CheckCircleOutlined,
  ClockCircleOutlined,
  CloseCircleOutlined,
  MinusCircleOutlined,
  WarningOutlined,
} from '@ant-design/icons'
import { Tooltip } from 'antd'
import { Fragment, type ReactNode } from 'react'
import { dayMs, formatTime, hourMs } from '../../contract/time.ts'
import type { Language } from '../../contract/text.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

const grouped = new Intl.NumberFormat('en-US')

export function formatCount(value: number): string {
  return grouped.format(value)
}

/** An address, or a text with addresses, that breaks after a slash rather than inside a word; a host name breaks after a dot. */
export function BreakableUrl({ url }: { readonly url: string }): ReactNode {
  const ends = url.includes('/') ? /(?<=\S[/?&@=_])(?![/?&@=_])/ : /(?<=[.@])/
  return url.split(ends).map((part, index) => (
    // The parts of one text: only their order tells them apart.
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ))
}

/** Short form of large numbers: 12.4万 or 124K. */
export function formatCompactCount(value: number, language: Language): string {
  if (Math.abs(value) < 10_000) return grouped.format(value)
  return new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-US', {
    notation: 'compact',
    maximumFractionDigits: 1,
  }).format(value)
}

export function formatPercent(ratio: number): string {
  const percent = ratio * 100
  if (ratio === 0 || ratio >= 1) return `${percent.toFixed(ratio > 1 ? 1 : 0)}%`
  // A few failures among many calls must not look like none.
  return `${Math.min(99.9, Math.max(0.1, percent)).toFixed(1)}%`
}

/** `12345.00` and `CNY`: 12,345.00 CNY. */
export function formatMoney(amount: string, currency: string): string {
  return `${amount.replace(/\B(?=(\d{3})+(?!\d)(?=\.|$))/g, ',')} ${currency}`
}

export function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}

export function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let amount = value
  let unit = 0
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${amount.toFixed(amount >= 100 || unit === 0 ? 0 : 1)} ${units[unit]}`
}

/** A signed change of credits. */
export function Amount({ value }: { value: number }): ReactNode {
  const sign = value > 0 ? '+' : value < 0 ? '−' : ''
  const tone = value > 0 ? 'tone-success' : ''
  return <span className={`num ${tone}`}>{sign + formatCount(Math.abs(value))}</span>
}

/** Charged and refunded credits of one request. */
export function CreditsUsed({ charged, refunded }: { charged: number; refunded: number }): ReactNode {
  return (
    <span className="num">
      {charged > 0 ? `−${formatCount(charged)}` : '0'}
      {refunded > 0 && <span className="tone-success"> +{formatCount(refunded)}</span>}
    </span>
  )
}

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', 60_000],
]

function relativeTime(ms: number, now: number, language: Language, justNow: string): string {
  const difference = ms - now
  const format = new Intl.RelativeTimeFormat(language === 'zh' ? 'zh-CN' : 'en', { numeric: 'always' })
  for (const [unit, size] of units) {
    if (Math.abs(difference) >= size) {
      // The date is more useful than a number of days after a month.
      if (unit === 'day' && Math.abs(difference) > 30 * size) return formatTime(ms).slice(0, 10)
      // As in all Chinese texts of the console, a space follows a number.
      return format.format(Math.trunc(difference / size), unit).replace(/(\d)(?=\p{Script=Han})/u, '$1 ')
    }
  }
  return justNow
}

/** A relative time with the exact time in the tooltip. */
export function RelativeTime({ at }: { at: number | null | undefined }): ReactNode {
  const language = useLanguage()
  const t = useText(partsText)
  if (at === null || at === undefined) return <span className="muted">–</span>
  const exact = formatTime(at)
  return (
    <Tooltip title={`${exact} (UTC+8)`}>
      <time dateTime={new Date(at).toISOString()} className="nowrap">
        {relativeTime(at, Date.now(), language, t.justNow)}
      </time>
    </Tooltip>
  )
}

/** An exact time with the relative time in the tooltip, for logs. */
export function ExactTime({ at }: { at: number | null | undefined }): ReactNode {
  const language = useLanguage()
  const t = useText(partsText)
  if (at === null || at === undefined) return <span className="muted">–</span>
  const [day, time] = formatTime(at).split(' ')
  return (
    <Tooltip title={`${relativeTime(at, Date.now(), language, t.justNow)} · UTC+8`}>
      <time dateTime={new Date(at).toISOString()} className="nowrap num exact">
        <span>{day}</span> <span>{time}</span>
      </time>
    </Tooltip>
  )
}

export type Tone = 'success' | 'warning' | 'error' | 'pending' | 'muted'

const icons: Readonly<Record<Tone, ReactNode>> = {
  success: <CheckCircleOutlined />,
  warning: <WarningOutlined />,
  error: <CloseCircleOutlined />,
  pending: <ClockCircleOutlined />,
  muted: <MinusCircleOutlined />,
}

/** A state with icon, text and colour. */
export function StatusLabel({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  return (
    <span className={`status tone-${tone === 'pending' ? 'muted' : tone}`}>
      <span aria-hidden>{icons[tone]}</span>
      <span>{children}</span>
    </span>
  )
}
