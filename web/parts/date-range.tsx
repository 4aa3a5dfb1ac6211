// The date range filter: presets or two dates, in Asia/Shanghai.
import { Input, Select, Tooltip } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { resolveDayRange, type RangeName } from './day-range.ts'
import { partsText } from './text.ts'

interface DateRangeProps {
  readonly range: string
  readonly from: string
  readonly to: string
  readonly onChange: (change: { range: string; from: string; to: string }) => void
  /** Adds the choice of all time. */
  readonly withAll?: boolean
}

export function DateRange({ range, from, to, onChange, withAll = false }: DateRangeProps): ReactNode {
  const t = useText(partsText)
  const names: readonly (readonly [RangeName, string])[] = [
    ...(withAll ? ([['all', t.all]] as const) : []),
    ['today', t.today],
    ['yesterday', t.yesterday],
    ['7d', t.days7],
    ['30d', t.days30],
    ['month', t.month],
    ['custom', t.custom],
  ]
  return (
    <span className="row">
      <Tooltip title={t.zone}>
        <Select
          aria-label={`${t.range} (Asia/Shanghai)`}
          value={range}
          style={{ minWidth: 120 }}
          options={names.map(([value, label]) => ({ value, label }))}
          onChange={(chosen) => {
            // A custom range starts with the days that are currently shown.
            const days = resolveDayRange(range, from, to, Date.now())
            onChange(
              chosen === 'custom'
                ? { range: chosen, from: days.from ?? '', to: days.to ?? '' }
                : { range: chosen, from: '', to: '' },
            )
          }}
        />
      </Tooltip>
      {range === 'custom' && (
        <span className="row">
          <Input
            type="date"
            aria-label={t.from}
            style={{ width: 150 }}
            value={from}
            onChange={(event) => onChange({ range, from: event.target.value, to })}
          />
          <span aria-hidden>–</span>
          <Input
            type="date"
            aria-label={t.to}
            style={{ width: 150 }}
            value={to}
            onChange={(event) => onChange({ range, from, to: event.target.value })}
          />
        </span>
      )}
    </span>
  )
}
