// The history of verifications, masked.
import { Link } from '@tanstack/react-router'

import type { ReactNode } from 'react'
import { type IdentityFilter, identityRoutes } from '../../contract/console/identity.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { CreditsUsed, ExactTime, StatusLabel, type Tone } from '../parts/format.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { identityText } from './text.ts'
import { type IdentityOutcome, identityOutcomes } from '../../contract/console/values.ts'

const defaults = { range: 'all', from: '', to: '', outcome: '', before: '' }

export const outcomeTones: Readonly<Record<IdentityOutcome, Tone>> = {
  matched: 'success',
  mismatched: 'error',
  no_record: 'warning',
  failed: 'warning',
}

export function IdentityHistory(): ReactNode {
  const t = useText(identityText)
  const [params, setParams] = useUrlState(defaults)
  const outcome = identityOutcomes.find((value) => value === params.outcome)
  const filter: IdentityFilter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(outcome ? { outcome } : {}),
  }
  const history = useApiQuery(identityRoutes.history, {
    ...filter,
    ...cursorQuery(params.before),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
        <SelectFilter
          label={t.result}
          allLabel={t.allResults}
          value={params.outcome}
          values={identityOutcomes}
          nameOf={(value) => t[value]}
          onChange={(value) => setParams({ outcome: value, before: '' })}
        />
        <ExportLink route={identityRoutes.historyCsv} filter={filter} />
      </div>
      <List
        query={history}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.history}
        empty={{ text: t.empty }}
        onClear={outcome || params.range !== 'all' ? () => setParams(defaults) : undefined}
        columns={[
          { title: t.at, render: (_value, { at }) => <ExactTime at={at} /> },
          { title: t.name, dataIndex: 'name' },
          {
            title: t.idcard,
            render: (_value, { idcard }) => <span className="mono nowrap">{idcard}</span>,
          },
          {
            title: t.result,
            card: 'side',
            render: (_value, record) => (
              <StatusLabel tone={outcomeTones[record.outcome]}>{t[record.outcome]}</StatusLabel>
            ),
          },
          { title: t.gateway, render: (_value, { gateway }) => gateway ?? '' },
          {
            title: t.credits,
            align: 'end',
            render: (_value, { charged, given_back }) => (
              <CreditsUsed charged={charged} refunded={given_back} />
            ),
          },
          {
            title: t.request,
            render: (_value, { request_id }) => (
              <Link to="/requests" search={{ open: request_id }}>
                {t.viewRequest}
              </Link>
            ),
          },
        ]}
        footer={cursorFooter(params.before, setParams)}
      />
    </>
  )
}
