// One screen that answers "is anything wrong?".
import { Alert, Card, Skeleton } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { Link } from '@tanstack/react-router'
import { endpointNames } from '../../contract/console/home.ts'
import { type Overview, operatorRoutes } from '../../contract/console/operator.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Chart } from '../parts/chart.tsx'
import { endpointText } from '../parts/endpoint-names.ts'
import { Ago, bytes, count, percent } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { OverviewTables } from './overview-tables.tsx'
import { operatorText } from './text.ts'

const lowDisk = 0.1
const manyErrors = 0.02

export function OverviewPage(): ReactNode {
  const words = useText(operatorText)
  const overview = useAsk(operatorRoutes.overview, {}, { refetchMs: 15_000 })
  return (
    <Page title={words.overview}>
      <Loaded asked={overview} skeleton={<Skeleton active paragraph={{ rows: 12 }} />}>
        {(got) => (
          <>
            <Verdict overview={got} />
            <Figures overview={got} />
            <Charts overview={got} />
            <OverviewTables overview={got} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Verdict({ overview }: { overview: Overview }): ReactNode {
  const words = useText(operatorText)
  const { operations, request_log, disk } = overview
  const today = overview.days.at(-1)
  const failedPart = today && today.total > 0 ? today.our_errors / today.total : 0
  const problems = [
    operations.overdue > 0 && words.overdue(count(operations.overdue)),
    request_log.dropped > 0 && words.dropped(count(request_log.dropped)),
    disk.free_bytes / disk.total_bytes < lowDisk && words.diskLow(bytes(disk.free_bytes)),
    failedPart > manyErrors && words.ourErrors(percent(failedPart)),
  ].filter((problem) => problem !== false)
  if (problems.length === 0) return <Alert type="success" showIcon title={words.allWell} />
  return (
    <Alert
      type="warning"
      showIcon
      title={words.problems}
      description={
        <ul style={{ margin: 0, paddingInlineStart: 20 }}>
          {problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      }
    />
  )
}

function Figures({ overview }: { overview: Overview }): ReactNode {
  const words = useText(operatorText)
  const { accounts, disk, operations } = overview
  const today = overview.days.at(-1)
  return (
    <div className="grid-figures">
      <Figure label={words.callsToday} value={count(today?.total ?? 0)} />
      <Figure
        label={words.successToday}
        value={today && today.total > 0 ? percent(today.succeeded / today.total) : '–'}
        more={`${words.failuresToday} ${count(today?.our_errors ?? 0)}`}
      />
      <Figure
        label={words.openOperations}
        value={count(operations.open)}
        more={
          operations.oldest_at !== null && (
            <>
              {words.oldest} <Ago at={operations.oldest_at} />
            </>
          )
        }
      />
      <Figure
        label={<Link to="/operator/accounts">{words.accountsCount}</Link>}
        value={count(accounts.total)}
        more={`${words.active7(count(accounts.active_7d))} · ${words.suspendedCount(count(accounts.suspended))}`}
      />
      <Figure
        label={words.disk}
        value={bytes(disk.free_bytes)}
        more={words.database(bytes(disk.database_bytes))}
      />
      <Figure
        label={words.version}
        value={overview.version}
        more={
          <>
            {words.runningSince} <Ago at={overview.started_at} /> · {overview.engine}
          </>
        }
      />
    </div>
  )
}

function Figure({ label, value, more }: { label: ReactNode; value: string; more?: ReactNode }): ReactNode {
  return (
    <Card size="small">
      <div className="muted">{label}</div>
      <div className="figure" style={{ fontSize: 22 }}>
        {value}
      </div>
      <div className="muted small" style={{ minHeight: 20 }}>
        {more}
      </div>
    </Card>
  )
}

function Charts({ overview }: { overview: Overview }): ReactNode {
  const words = useText(operatorText)
  const pick = usePick()
  const figures = useMemo(
    () => ({
      labels: overview.days.map(({ day }) => day),
      calls: endpointNames.map((name) => ({
        name: pick(endpointText(name)),
        values: overview.days.map(({ calls }) => calls[name]),
      })),
      success: [
        {
          name: words.errorsPerDay,
          values: overview.days.map(({ total, succeeded }) => (total === 0 ? null : succeeded / total)),
        },
      ],
    }),
    [overview, pick, words],
  )
  return (
    <div className="grid-2">
      <Chart
        title={words.callsPerDay}
        kind="stack"
        labels={figures.labels}
        series={figures.calls}
        file="all-calls"
      />
      <Chart
        title={words.errorsPerDay}
        parts
        labels={figures.labels}
        series={figures.success}
        file="all-success"
      />
    </div>
  )
}
