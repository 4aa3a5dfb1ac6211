// The tables of the overview: latency, credits, errors, gateways.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { Link } from '@tanstack/react-router'
import type { Overview } from '../../contract/console/responses/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { endpointText } from '../parts/names.ts'
import { formatCount, formatDuration, StatusLabel } from '../parts/format.tsx'
import { gatewayGroupText } from './gateway-groups.ts'
import { operatorText } from './text.ts'

export function OverviewTables({ overview }: { overview: Overview }): ReactNode {
  const t = useText(operatorText)
  const pick = usePick()
  const { latency, credits, errors, gateways, request_log } = overview
  return (
    <div className="grid-2">
      <Card size="small" title={<h2>{t.latency}</h2>}>
        {latency.length === 0 ? (
          <span className="muted">{t.noCalls}</span>
        ) : (
          <NumberTable
            heads={[t.endpoint, t.calls, 'p50', 'p95', 'p99']}
            rows={latency.map((row) => [
              pick(endpointText(row.endpoint)),
              formatCount(row.calls),
              formatDuration(row.p50_ms),
              formatDuration(row.p95_ms),
              formatDuration(row.p99_ms),
            ])}
          />
        )}
      </Card>
      <Card size="small" title={<h2>{t.creditsMonth}</h2>}>
        <NumberTable
          heads={[t.type, t.sold, t.used]}
          rows={credits.map(({ api_type, sold, used }) => [
            pick(apiTypeNames[api_type]),
            formatCount(sold),
            formatCount(used),
          ])}
        />
      </Card>
      <Card size="small" title={<h2>{t.commonErrors}</h2>}>
        {errors.length === 0 ? (
          <StatusLabel tone="success">{t.noErrors}</StatusLabel>
        ) : (
          <NumberTable
            heads={[t.endpoint, t.code, t.count]}
            rows={errors.map(({ endpoint, code, count }) => [
              pick(endpointText(endpoint)),
              String(code),
              formatCount(count),
            ])}
          />
        )}
      </Card>
      <Card
        size="small"
        title={
          <h2>
            <Link to="/operator/gateways">{t.gatewaysInUse}</Link>
          </h2>
        }
      >
        <table className="plain-table">
          <tbody>
            {gateways.map(({ group, names }) => (
              <tr key={group}>
                <th scope="row">{pick(gatewayGroupText[group])}</th>
                <td className="mono">{names.join(' → ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div className="muted small" style={{ marginTop: 8 }}>
          {t.queue(formatCount(request_log.waiting))}
        </div>
      </Card>
    </div>
  )
}

/** A table whose first column is a name and whose other columns are numbers. */
function NumberTable({
  heads,
  rows,
}: {
  heads: readonly string[]
  rows: readonly (readonly string[])[]
}): ReactNode {
  return (
    <table className="plain-table">
      <thead>
        <tr>
          {heads.map((head, index) => (
            <th key={head} scope="col" className={index === 0 ? '' : 'num'}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells) => (
          <tr key={cells.slice(0, 2).join()}>
            {cells.map((cell, index) =>
              index === 0 ? (
                <th key={heads[index]} scope="row">
                  {cell}
                </th>
              ) : (
                <td key={heads[index]} className="num">
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
