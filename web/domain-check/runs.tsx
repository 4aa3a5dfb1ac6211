// Former checks, newest first.
import { Button, Card } from 'antd'
import type { ReactNode } from 'react'
import { type DomainRun, domainCheckRoutes } from '../../contract/console/domain-check.ts'
import { useAsk } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { Ago, count, Outcome } from '../parts/figures.tsx'
import { List, Slicer } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { domainText } from './text.ts'

const defaults = { range: 'all', from: '', to: '', before: '' }

export function Runs({ onOpen }: { onOpen: (id: number) => void }): ReactNode {
  const words = useText(domainText)
  const [shown, show] = useUrlState(defaults)
  const runs = useAsk(domainCheckRoutes.runs, {
    ...daysOf(shown.range, shown.from, shown.to, Date.now()),
    ...(shown.before === '' ? {} : { before: Number(shown.before) }),
  })
  return (
    <>
      <div className="filters">
        <DateRange withAll {...shown} onChange={(range) => show({ ...range, before: '' })} />
      </div>
      <Card size="small">
        <List<DomainRun, NonNullable<typeof runs.data>>
          asked={runs}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.runs}
          empty={{ text: words.emptyRuns }}
          onClear={shown.range === 'all' ? undefined : () => show(defaults)}
          onOpen={({ id }) => onOpen(id)}
          columns={[
            { title: words.at, render: (_value, { at }) => <Ago at={at} /> },
            { title: words.total, align: 'end', render: (_value, { total }) => count(total) },
            {
              title: words.verdict,
              render: (_value, { counts }) => (
                <span className="row">
                  <Outcome tone="success">{`${words.ok} ${count(counts.未拦截)}`}</Outcome>
                  <Outcome tone="error">{`${words.blocked} ${count(counts.已拦截)}`}</Outcome>
                  <Outcome tone="warning">{`${words.error} ${count(counts.请求失败)}`}</Outcome>
                </span>
              ),
            },
            {
              title: words.credits,
              align: 'end',
              render: (_value, { charged, given_back }) => (
                <span className="num">
                  −{count(charged)}
                  {given_back > 0 && <span className="tone-success"> +{count(given_back)}</span>}
                </span>
              ),
            },
            {
              title: '',
              align: 'end',
              render: (_value, { id }) => (
                <Button
                  size="small"
                  type="link"
                  onClick={(event) => {
                    event.stopPropagation()
                    onOpen(id)
                  }}
                >
                  {words.open}
                </Button>
              ),
            },
          ]}
          footer={({ next }) => (
            <Slicer before={shown.before} next={next} onChange={(before) => show({ before })} />
          )}
        />
      </Card>
    </>
  )
}
