// The home page: balances, usage, and the first steps of a new account.
import { Link } from '@tanstack/react-router'
import { Alert, Card, Skeleton } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { homeRoutes } from '../../contract/console/home.ts'
import type { Home } from '../../contract/console/responses/home.ts'
import { apiTypeNames, apiTypes } from '../../contract/credits.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { formatCount } from '../parts/format.tsx'
import { endpointText } from '../parts/names.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { BalanceCard } from './balance-card.tsx'
import { Checklist } from './checklist.tsx'
import { CommonErrors } from './common-errors.tsx'
import { homeText } from './text.ts'
import { endpointNames } from '../../contract/console/values.ts'

export function HomePage(): ReactNode {
  const t = useText(homeText)
  const [params, setParams] = useUrlState({ range: '30d', from: '', to: '' })
  const days = resolveDayRange(params.range, params.from, params.to, Date.now())
  const home = useApiQuery(homeRoutes.home, days, { refetchMs: 30_000 })
  const isNew = home.data !== undefined && !home.data.checklist.has_use
  return (
    <Page title={t.title} actions={isNew ? undefined : <DateRange {...params} onChange={setParams} />}>
      <Loaded query={home} skeleton={<HomeSkeleton />}>
        {(data) => (
          <>
            <LowWarning home={data} />
            <div className="grid-4">
              {data.balances.map((balance) => (
                <BalanceCard key={balance.api_type} balance={balance} />
              ))}
            </div>
            {!data.checklist.has_success && <Checklist done={data.checklist} />}
            {data.checklist.has_use && <Usage home={data} range={params} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** The balances are known before the rest of the page. */
function HomeSkeleton(): ReactNode {
  const pick = usePick()
  const me = useMe()
  return (
    <>
      <div className="grid-4">
        {me.data?.balances.map(({ api_type, remaining }) => (
          <Card
            key={api_type}
            className="card-bones"
            size="small"
            title={<h2>{pick(apiTypeNames[api_type])}</h2>}
          >
            <span className="figure">{formatCount(remaining)}</span>
          </Card>
        ))}
      </div>
      <Skeleton active paragraph={{ rows: 8 }} />
    </>
  )
}

function LowWarning({ home }: { home: Home }): ReactNode {
  const t = useText(homeText)
  const pick = usePick()
  const low = home.balances.filter(({ level }) => level === 'critical' || level === 'empty')
  if (low.length === 0) return null
  return (
    <Alert
      type={low.some(({ level }) => level === 'empty') ? 'error' : 'warning'}
      showIcon
      title={t.lowText(low.map(({ api_type }) => pick(apiTypeNames[api_type])).join(t.separator))}
      action={
        <span className="row">
          <Link to="/buy">{t.goBuy}</Link>
          <Link to="/credits" search={{ redeem: '1' }}>
            {t.topUp}
          </Link>
        </span>
      }
    />
  )
}

interface UsageProps {
  readonly home: Home
  readonly range: { readonly range: string; readonly from: string; readonly to: string }
}

function Usage({ home, range }: UsageProps): ReactNode {
  const t = useText(homeText)
  const pick = usePick()
  const figures = useMemo(() => {
    const { days } = home
    return {
      labels: days.map(({ day }) => day),
      calls: endpointNames.map((name) => ({
        name: pick(endpointText(name)),
        values: days.map(({ calls }) => calls[name]),
      })),
      success: [
        {
          name: t.success,
          values: days.map(({ total, succeeded }) => (total === 0 ? null : succeeded / total)),
        },
      ],
      used: apiTypes.map((name) => ({
        name: pick(apiTypeNames[name]),
        values: days.map(({ credits }) => credits[name]),
      })),
    }
  }, [home, pick, t])
  return (
    <>
      <div className="grid-2">
        <Chart title={t.calls} kind="stack" labels={figures.labels} series={figures.calls} file="calls" />
        <Chart
          title={t.success}
          asPercent
          labels={figures.labels}
          series={figures.success}
          file="success-rate"
        />
        <Chart
          title={t.used}
          kind="stack"
          labels={figures.labels}
          series={figures.used}
          file="credits-used"
        />
        <CommonErrors errors={home.errors} range={range} />
      </div>
    </>
  )
}
