// One balance: remaining credits, total, estimated days left.
import { Link } from '@tanstack/react-router'
import { Card, Progress } from 'antd'
import type { ReactNode } from 'react'
import type { BalanceOutlook } from '../../contract/console/responses/home.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount, StatusLabel } from '../parts/format.tsx'
import { Sparkline } from '../parts/spark.tsx'
import { homeText } from './text.ts'

/** A longer forecast says nothing. */
const maxShownDays = 365

export function BalanceCard({ balance }: { balance: BalanceOutlook }): ReactNode {
  const t = useText(homeText)
  const pick = usePick()
  const { api_type, total, remaining, days_left, level, daily } = balance
  const name = pick(apiTypeNames[api_type])
  const state = {
    ok: undefined,
    none: undefined,
    low: <StatusLabel tone="warning">{t.low}</StatusLabel>,
    critical: <StatusLabel tone="error">{t.critical}</StatusLabel>,
    empty: <StatusLabel tone="error">{t.empty}</StatusLabel>,
  }[level]
  const colour = { ok: undefined, none: undefined, low: 'warning', critical: 'error', empty: 'error' }[level]
  return (
    <Card size="small" title={<h2>{name}</h2>} extra={state}>
      <div className="row" style={{ alignItems: 'baseline' }}>
        <span className="figure">{formatCount(remaining)}</span>
        <span className="muted">{level === 'none' ? t.none : t.of(formatCount(total))}</span>
      </div>
      <Progress
        percent={total === 0 ? 0 : Math.round((remaining / total) * 1000) / 10}
        showInfo={false}
        status="normal"
        size="small"
        aria-label={`${name}: ${formatCount(remaining)} ${t.of(formatCount(total))}`}
        {...(colour === undefined ? {} : { strokeColor: `var(--ant-color-${colour})` })}
      />
      <div className="muted small" style={{ minHeight: 20, marginBottom: 8 }}>
        {level === 'empty'
          ? t.refused
          : level === 'none'
            ? ''
            : days_left === null
              ? t.noUse
              : days_left > maxShownDays
                ? t.overAYear
                : t.daysLeft(formatCount(days_left))}{' '}
        {level !== 'ok' && <Link to="/buy">{t.buy}</Link>}
      </div>
      <Sparkline values={daily} label={name} />
    </Card>
  )
}
