// Home: how much is left, how it goes, and what to do first.
import { Link } from '@tanstack/react-router'
import { Alert, Skeleton } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { endpointNames, type Home, homeRoutes } from '../../contract/console/home.ts'
import { apiTypeNames, apiTypes } from '../../contract/credits.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { endpointText } from '../parts/endpoint-names.ts'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { BalanceCard } from './balance-card.tsx'
import { Checklist } from './checklist.tsx'
import { CommonErrors } from './common-errors.tsx'
import { homeText } from './text.ts'

export function HomePage(): ReactNode {
  const words = useText(homeText)
  const [shown, show] = useUrlState({ range: '30d', from: '', to: '' })
  const days = daysOf(shown.range, shown.from, shown.to, Date.now())
  const home = useAsk(homeRoutes.home, days, { refetchMs: 30_000 })
  const isNew = home.data !== undefined && !home.data.checklist.has_success
  return (
    <Page title={words.title} actions={isNew ? undefined : <DateRange {...shown} onChange={show} />}>
      <Loaded asked={home} skeleton={<HomeBones />}>
        {(got) => (
          <>
            <LowWarning home={got} />
            <div className="grid-4">
              {got.balances.map((balance) => (
                <BalanceCard key={balance.api_type} balance={balance} />
              ))}
            </div>
            {got.checklist.has_success ? (
              <Usage home={got} range={shown} />
            ) : (
              <Checklist done={got.checklist} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function HomeBones(): ReactNode {
  return (
    <>
      <div className="grid-4">
        {apiTypes.map((apiType) => (
          <Skeleton key={apiType} active paragraph={{ rows: 4 }} />
        ))}
      </div>
      <Skeleton active paragraph={{ rows: 8 }} />
    </>
  )
}

function LowWarning({ home }: { home: Home }): ReactNode {
  const words = useText(homeText)
  const pick = usePick()
  const low = home.balances.filter(({ level }) => level === 'critical' || level === 'empty')
  if (low.length === 0) return null
  return (
    <Alert
      type={low.some(({ level }) => level === 'empty') ? 'error' : 'warning'}
      showIcon
      title={words.lowText(low.map(({ api_type }) => pick(apiTypeNames[api_type])).join(words.separator))}
      action={
        <Link to="/credits" search={{ redeem: '1' }}>
          {words.topUp}
        </Link>
      }
    />
  )
}

interface UsageProps {
  readonly home: Home
  readonly range: { readonly range: string; readonly from: string; readonly to: string }
}

function Usage({ home, range }: UsageProps): ReactNode {
  const words = useText(homeText)
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
          name: words.successName,
          values: days.map(({ total, succeeded }) => (total === 0 ? null : succeeded / total)),
        },
      ],
      used: apiTypes.map((name) => ({
        name: pick(apiTypeNames[name]),
        values: days.map(({ credits }) => credits[name]),
      })),
    }
  }, [home, pick, words])
  return (
    <>
      <div className="grid-2">
        <Chart title={words.calls} kind="stack" labels={figures.labels} series={figures.calls} file="calls" />
        <Chart
          title={words.success}
          parts
          labels={figures.labels}
          series={figures.success}
          file="success-rate"
        />
        <Chart
          title={words.used}
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
