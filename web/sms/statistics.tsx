// Statistics of messages: totals, a chart by day, and tables by template, gateway and reason. For account holders and operators.
import { Alert, Card, Statistic } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { operatorSmsStatisticsRoutes, smsStatisticsRoutes } from '../../contract/console/sms-statistics.ts'
import type { MessageCounts, SmsStatistics } from '../../contract/console/responses/sms-statistics.ts'
import { useApiQuery } from '../api/hooks.ts'
import { asSentence } from '../api/sentence.ts'
import { useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { formatCount, formatPercent } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { statisticsText } from './statistics-text.ts'

const outcomes = ['delivered', 'sent', 'undecided', 'failed', 'cancelled'] as const

function useFilter() {
  const [params, setParams] = useUrlState({ range: '7d', from: '', to: '', template: '', account: '' })
  const filter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(params.template === '' ? {} : { template_code: params.template }),
  }
  return { params, setParams, filter }
}

export function Statistics(): ReactNode {
  const t = useText(statisticsText)
  const { params, setParams, filter } = useFilter()
  const statistics = useApiQuery(smsStatisticsRoutes.statistics, filter)
  return (
    <div className="stack">
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange range={params.range} from={params.from} to={params.to} onChange={setParams} />
        <SearchFilter
          label={t.template}
          value={params.template}
          width={220}
          onSearch={(template) => setParams({ template })}
        />
        <ExportLink route={smsStatisticsRoutes.statisticsCsv} filter={filter} />
      </div>
      <Loaded query={statistics}>{(data) => <Figures data={data} />}</Loaded>
    </div>
  )
}

/** Of all accounts or one. */
export function OperatorStatistics(): ReactNode {
  const t = useText(statisticsText)
  const { params, setParams, filter: shared } = useFilter()
  const filter = { ...shared, ...(params.account === '' ? {} : { username: params.account }) }
  const statistics = useApiQuery(operatorSmsStatisticsRoutes.smsStatistics, filter)
  return (
    <div className="stack">
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange range={params.range} from={params.from} to={params.to} onChange={setParams} />
        <SearchFilter
          label={t.account}
          value={params.account}
          width={180}
          onSearch={(account) => setParams({ account })}
        />
        <SearchFilter
          label={t.template}
          value={params.template}
          width={180}
          onSearch={(template) => setParams({ template })}
        />
        <ExportLink route={operatorSmsStatisticsRoutes.smsStatisticsCsv} filter={filter} />
      </div>
      <Loaded query={statistics}>{(data) => <Figures data={data} />}</Loaded>
    </div>
  )
}

function Figures({ data }: { data: SmsStatistics }): ReactNode {
  const t = useText(statisticsText)
  const chart = useMemo(
    () => ({
      labels: data.days.map(({ day }) => day),
      series: outcomes.map((name) => ({ name: t[name], values: data.days.map((day) => day[name]) })),
    }),
    [data, t],
  )
  return (
    <>
      {data.counted_from !== null && (
        <Alert
          type="warning"
          showIcon
          title={data.counted_from === '' ? t.countedNone : t.countedFrom(data.counted_from)}
        />
      )}
      <Card size="small">
        <div className="row" style={{ gap: 32 }}>
          <Statistic title={t.total} value={formatCount(data.totals.total)} />
          {outcomes.map((name) => (
            <Statistic key={name} title={t[name]} value={formatCount(data.totals[name])} />
          ))}
        </div>
        <div className="muted small">{t.sentHint}</div>
      </Card>
      <Chart title={t.byDay} kind="stack" file={`sms-${data.from}-${data.to}`} {...chart} />
      <CountTable
        title={t.byTemplate}
        heading={t.template}
        rows={data.templates.map((one) => [one.template_code, one])}
      />
      <CountTable
        title={t.byGateway}
        heading={t.gateway}
        rows={data.gateways.map((one) => [one.gateway, one])}
      />
      <Reasons data={data} />
    </>
  )
}

interface CountTableProps {
  readonly title: string
  readonly heading: string
  readonly rows: readonly (readonly [string, MessageCounts])[]
}

function CountTable({ title, heading, rows }: CountTableProps): ReactNode {
  const t = useText(statisticsText)
  return (
    <Card size="small" title={<h2>{title}</h2>}>
      {rows.length === 0 ? (
        <span className="muted">{t.noMessages}</span>
      ) : (
        // A scrolling region must be focusable for keyboard users.
        <div className="scroll-x" tabIndex={0} role="region" aria-label={title}>
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">{heading}</th>
                {(['total', ...outcomes] as const).map((name) => (
                  <th key={name} scope="col" className="num">
                    {t[name]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(([name, counts]) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {(['total', ...outcomes] as const).map((outcome) => (
                    <td key={outcome} className="num">
                      {formatCount(counts[outcome])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}

function Reasons({ data: { reasons, totals } }: { data: SmsStatistics }): ReactNode {
  const t = useText(statisticsText)
  return (
    <Card size="small" title={<h2>{t.byReason}</h2>}>
      {reasons.length === 0 ? (
        <span className="muted">{t.noFailures}</span>
      ) : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label={t.byReason}>
          <table className="plain-table">
            <thead>
              <tr>
                <th scope="col">{t.reason}</th>
                <th scope="col" className="num">
                  {t.count}
                </th>
                <th scope="col" className="num">
                  {t.share}
                </th>
              </tr>
            </thead>
            <tbody>
              {reasons.map(({ reason, count }) => (
                <tr key={reason}>
                  <th scope="row" style={{ whiteSpace: 'normal' }}>
                    {asSentence(reason)}
                  </th>
                  <td className="num">{formatCount(count)}</td>
                  <td className="num">{formatPercent(count / totals.failed)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}
