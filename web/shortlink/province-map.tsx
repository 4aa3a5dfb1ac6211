// Visits by province on a tile grid: one square for each province at its approximate place, shaded by visits. A table has the
// same figures for screen readers.
import type { ReactNode } from 'react'
import { provinces } from '../../contract/places.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { formatCount, formatPercent } from '../parts/format.tsx'
import { analyticsText } from './analytics-text.ts'
import { placedProvinces, shadeBounds, shadeOf } from './province-tiles.ts'

interface ProvinceMapProps {
  readonly items: readonly { readonly value: string; readonly clicks: number }[]
  readonly total: number
}

export function ProvinceMap({ items, total }: ProvinceMapProps): ReactNode {
  const t = useText(analyticsText)
  const language = useLanguage()
  const clicks = new Map(items.map((item) => [item.value, item.clicks]))
  const known = items.filter(({ value }) => Object.hasOwn(provinces, value))
  const max = Math.max(0, ...known.map((item) => item.clicks))
  const nameOf = (code: string) => provinces[code]![language]
  const share = (count: number) => formatPercent(total === 0 ? 0 : count / total)
  const compact = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en', { notation: 'compact' })
  const bounds = shadeBounds(max)
  return (
    <figure className="province-map">
      <figcaption>
        <h3>{t.provinceMap}</h3>
      </figcaption>
      <div className="tiles" aria-hidden="true">
        {placedProvinces.map(({ code, row, column }) => {
          const count = clicks.get(code) ?? 0
          return (
            <div
              key={code}
              className={`tile shade-${shadeOf(count, max)}`}
              style={{ gridRow: row, gridColumn: column }}
              title={`${nameOf(code)} ${formatCount(count)} · ${share(count)}`}
            >
              <span>{language === 'zh' ? nameOf(code) : code}</span>
              {count > 0 && <small>{compact.format(count)}</small>}
            </div>
          )
        })}
      </div>
      <div className="legend muted small" aria-hidden="true">
        {bounds.map(({ from, to }) => (
          <span key={from}>
            <i className={`shade-${shadeOf(from, max)}`} />
            {from === to ? formatCount(from) : `${formatCount(from)}–${formatCount(to)}`}
          </span>
        ))}
      </div>
      <table className="visually-hidden">
        <caption>{t.provinceMap}</caption>
        <thead>
          <tr>
            <th scope="col">{t.province}</th>
            <th scope="col">{t.clicks}</th>
            <th scope="col">{t.ofAll}</th>
          </tr>
        </thead>
        <tbody>
          {known.map((item) => (
            <tr key={item.value}>
              <th scope="row">{nameOf(item.value)}</th>
              <td>{formatCount(item.clicks)}</td>
              <td>{share(item.clicks)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}
