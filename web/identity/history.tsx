// What was verified, masked, with its outcome and its call.
import { Link } from '@tanstack/react-router'
import { Select } from 'antd'
import type { ReactNode } from 'react'
import { type IdentityFilter, identityRoutes } from '../../contract/console/identity.ts'
import { useAsk } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { Ago, Outcome } from '../parts/figures.tsx'
import { List, Slicer } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { outcomeTones } from './outcome-tones.ts'
import { identityText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', outcome: '', before: '' }
const outcomes = ['matched', 'mismatched', 'no_record', 'failed'] as const

export function IdentityHistory(): ReactNode {
  const words = useText(identityText)
  const [shown, show] = useUrlState(defaults)
  const outcome = outcomes.find((known) => known === shown.outcome)
  const filter: IdentityFilter = {
    ...daysOf(shown.range, shown.from, shown.to, Date.now()),
    ...(outcome ? { outcome } : {}),
  }
  const history = useAsk(identityRoutes.history, {
    ...filter,
    ...(shown.before === '' ? {} : { before: Number(shown.before) }),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...shown} onChange={(range) => show({ ...range, before: '' })} />
        <Select
          aria-label={words.outcome}
          style={{ minWidth: 130 }}
          value={shown.outcome}
          onChange={(value) => show({ outcome: value, before: '' })}
          options={[
            { value: '', label: words.allOutcomes },
            ...outcomes.map((value) => ({ value, label: words[value] })),
          ]}
        />
        <ExportLink route={identityRoutes.historyCsv} sent={filter} />
      </div>
      <List
        asked={history}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={words.history}
        empty={{ text: words.empty }}
        onClear={outcome || shown.range !== 'all' ? () => show(defaults) : undefined}
        columns={[
          { title: words.at, render: (_value, { at }) => <Ago at={at} /> },
          { title: words.name, dataIndex: 'name' },
          {
            title: words.idcard,
            render: (_value, { idcard }) => <span className="mono nowrap">{idcard}</span>,
          },
          {
            title: words.outcome,
            render: (_value, record) => (
              <Outcome tone={outcomeTones[record.outcome]}>{words[record.outcome]}</Outcome>
            ),
          },
          { title: words.gateway, render: (_value, { gateway }) => gateway ?? '' },
          {
            title: words.credits,
            align: 'end',
            render: (_value, { charged, given_back }) => (
              <span className="num">
                −{charged}
                {given_back > 0 && <span className="tone-success"> +{given_back}</span>}
              </span>
            ),
          },
          {
            title: words.call,
            render: (_value, { request_id }) => (
              <Link to="/requests" search={{ open: request_id }}>
                {words.open}
              </Link>
            ),
          },
        ]}
        footer={({ next }) => (
          <Slicer before={shown.before} next={next} onChange={(before) => show({ before })} />
        )}
      />
    </>
  )
}
