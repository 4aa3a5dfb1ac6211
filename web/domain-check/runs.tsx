// The history of checks, newest first.
import { Link } from '@tanstack/react-router'
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import type { DomainRun } from '../../contract/console/responses/domain-check.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { CreditsUsed, ExactTime, formatCount, StatusLabel } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { domainText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', before: '' }

export function Runs({ onOpen }: { onOpen: (id: number) => void }): ReactNode {
  const t = useText(domainText)
  const [params, setParams] = useUrlState(defaults)
  const runs = useApiQuery(domainCheckRoutes.runs, {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...cursorQuery(params.before),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
      </div>
      <Card size="small">
        <List<DomainRun, NonNullable<typeof runs.data>>
          query={runs}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.runs}
          empty={{ text: t.emptyRuns, action: <Link to="/domain-check">{t.goCheck}</Link> }}
          onClear={params.range === 'all' ? undefined : () => setParams(defaults)}
          onOpen={({ id }) => onOpen(id)}
          columns={[
            { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
            { title: t.total, align: 'end', render: (_value, { total }) => formatCount(total) },
            {
              title: t.verdict,
              card: 'side',
              render: (_value, { counts }) => (
                <span className="row">
                  <StatusLabel tone="success">{`${t.未拦截} ${formatCount(counts.未拦截)}`}</StatusLabel>
                  <StatusLabel tone="error">{`${t.已拦截} ${formatCount(counts.已拦截)}`}</StatusLabel>
                  <StatusLabel tone="warning">{`${t.请求失败} ${formatCount(counts.请求失败)}`}</StatusLabel>
                </span>
              ),
            },
            {
              title: t.credits,
              align: 'end',
              render: (_value, { charged, given_back }) => (
                <CreditsUsed charged={charged} refunded={given_back} />
              ),
            },
            {
              title: '',
              align: 'end',
              render: (_value, { id }) => (
                <OpenLink search={{ tab: 'check', run: String(id) }}>{t.viewResults}</OpenLink>
              ),
            },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
    </>
  )
}
