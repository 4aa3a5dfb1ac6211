// The operator overview: problems, key figures, charts, tables.
import { Alert, Skeleton } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { Link } from '@tanstack/react-router'
import { endpointNames } from '../../contract/console/values.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { Overview } from '../../contract/console/responses/operator.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { endpointText } from '../parts/names.ts'
import { RelativeTime, formatBytes, formatCount, formatPercent } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Figure } from './figure.tsx'
import { OverviewTables } from './overview-tables.tsx'
import { operatorText } from './text.ts'
import { HealthFigures, useWebhookHealth } from './webhooks.tsx'
import { webhooksText } from './webhooks-text.ts'

const minFreeDisk = 0.1
const maxPlatformErrors = 0.02
const waitingMs = 60_000

export function OverviewPage(): ReactNode {
  const t = useText(operatorText)
  const overview = useApiQuery(operatorRoutes.overview, {}, { refetchMs: 15_000 })
  return (
    <Page title={t.overview}>
      <Loaded query={overview} skeleton={<Skeleton active paragraph={{ rows: 12 }} />}>
        {(data) => (
          <>
            <Problems overview={data} />
            <Figures overview={data} />
            <Charts overview={data} />
            <Webhooks />
            <OverviewTables overview={data} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Problems({ overview }: { overview: Overview }): ReactNode {
  const t = useText(operatorText)
  const waiting = useApiQuery(operatorRoutes.waiting, {}, { refetchMs: waitingMs })
  const { operations, request_log, disk } = overview
  const today = overview.days.at(-1)
  const errorRate = today && today.total > 0 ? today.our_errors / today.total : 0
  const reviews = waiting.data?.reviews ?? 0
  const refundedInvoices = waiting.data?.refunded_invoices ?? 0
  const reports = waiting.data?.reports ?? 0
  const invoices = waiting.data?.invoices ?? 0
  const differences = waiting.data?.payment_differences ?? 0
  const blocked = waiting.data?.blocked_domains ?? []
  const webhooks = useText(webhooksText)
  const health = useWebhookHealth().data
  const down = overview.gateways.flatMap((group) => group.down ?? [])
  const problems: readonly { text: string; to?: string; search?: Record<string, string> }[] = [
    ...(reviews > 0 ? [{ text: t.reviewsWaiting(formatCount(reviews)), to: '/operator/reviews' }] : []),
    ...(reports > 0 ? [{ text: t.reportsWaiting(formatCount(reports)), to: '/operator/abuse' }] : []),
    ...(invoices > 0 ? [{ text: t.invoicesWaiting(formatCount(invoices)), to: '/operator/invoices' }] : []),
    ...(differences > 0
      ? [
          {
            text: t.differencesWaiting(formatCount(differences)),
            to: '/operator/reconciliation',
            search: { tab: 'differences' },
          },
        ]
      : []),
    ...(refundedInvoices > 0
      ? [
          {
            text: t.invoicesRefunded(formatCount(refundedInvoices)),
            to: '/operator/invoices',
            search: { state: 'refunded' },
          },
        ]
      : []),
    ...(blocked.length > 0
      ? [{ text: t.domainsBlocked(blocked.slice(0, 5).join(t.separator)), to: '/operator/domains' }]
      : []),
    ...(down.length > 0 ? [{ text: t.gatewaysDown(down.join(t.separator)), to: '/operator/gateways' }] : []),
    ...(health && health.disabled + health.failing > 0
      ? [
          {
            text: webhooks.problem(formatCount(health.disabled), formatCount(health.failing)),
            to: '/operator/webhooks',
          },
        ]
      : []),
    ...(
      [
        operations.overdue > 0 && t.overdue(formatCount(operations.overdue)),
        request_log.dropped > 0 && t.dropped(formatCount(request_log.dropped)),
        disk.free_bytes / disk.total_bytes < minFreeDisk && t.diskLow(formatBytes(disk.free_bytes)),
        errorRate > maxPlatformErrors && t.ourErrors(formatPercent(errorRate)),
      ] as const
    )
      .filter((problem) => problem !== false)
      .map((text) => ({ text })),
  ]
  if (problems.length === 0 && waiting.data === undefined) return null
  if (problems.length === 0) return <Alert type="success" showIcon title={t.allWell} />
  return (
    <Alert
      type="warning"
      showIcon
      title={t.problems}
      description={
        <ul style={{ margin: 0, paddingInlineStart: 20 }}>
          {problems.map(({ text, to, search = {} }) => (
            <li key={text}>
              {to === undefined ? (
                text
              ) : (
                <Link to={to} search={search}>
                  {text}
                </Link>
              )}
            </li>
          ))}
        </ul>
      }
    />
  )
}

function Figures({ overview }: { overview: Overview }): ReactNode {
  const t = useText(operatorText)
  const { accounts, disk, operations } = overview
  const today = overview.days.at(-1)
  return (
    <div className="grid-figures">
      <Figure label={t.callsToday} value={formatCount(today?.total ?? 0)} />
      <Figure
        label={t.successToday}
        value={today && today.total > 0 ? formatPercent(today.succeeded / today.total) : '–'}
        more={`${t.failuresToday} ${formatCount(today?.our_errors ?? 0)}`}
      />
      <Figure
        label={t.openOperations}
        value={formatCount(operations.open)}
        more={
          operations.oldest_at !== null && (
            <>
              {t.oldest} <RelativeTime at={operations.oldest_at} />
            </>
          )
        }
      />
      <Figure
        label={<Link to="/operator/accounts">{t.accountsCount}</Link>}
        value={formatCount(accounts.total)}
        more={`${t.active7(formatCount(accounts.active_7d))} · ${t.suspendedCount(formatCount(accounts.suspended))}`}
      />
      <Figure
        label={t.disk}
        value={formatBytes(disk.free_bytes)}
        more={t.database(formatBytes(disk.database_bytes))}
      />
      <Figure
        label={t.version}
        value={overview.version}
        more={
          <>
            {t.runningSince} <RelativeTime at={overview.started_at} /> · {overview.engine}
          </>
        }
      />
    </div>
  )
}

function Webhooks(): ReactNode {
  const t = useText(webhooksText)
  const health = useWebhookHealth()
  return (
    <section className="stack-8">
      <h2 className="section-title">
        <Link to="/operator/webhooks">{t.title}</Link>
      </h2>
      <Loaded query={health} skeleton={<Skeleton active paragraph={{ rows: 2 }} />}>
        {(data) => <HealthFigures health={data} />}
      </Loaded>
    </section>
  )
}

function Charts({ overview }: { overview: Overview }): ReactNode {
  const t = useText(operatorText)
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
          name: t.successPerDay,
          values: overview.days.map(({ total, succeeded }) => (total === 0 ? null : succeeded / total)),
        },
      ],
    }),
    [overview, pick, t],
  )
  return (
    <div className="grid-2">
      <Chart
        title={t.callsPerDay}
        kind="stack"
        labels={figures.labels}
        series={figures.calls}
        file="all-calls"
      />
      <Chart
        title={t.successPerDay}
        asPercent
        labels={figures.labels}
        series={figures.success}
        file="all-success"
      />
    </div>
  )
}
