// Clicks of one link over time (people, bots, previews) and by referrer, device and browser.
import { Segmented, Skeleton } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import type { NamedCount } from '../../contract/console/responses/shortlink.ts'
import type { Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { formatCount } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { shortlinkText } from './text.ts'
import { browserNames, deviceNames, referrerNames } from './visitor-names.ts'

const shortRanges = ['today', 'yesterday', '7d']

export function LinkStatistics({ id }: { id: number }): ReactNode {
  const t = useText(shortlinkText)
  const [range, setRange] = useState({ range: '7d', from: '', to: '' })
  const [chosenUnit, setChosenUnit] = useState<'day' | 'hour'>('day')
  const days = resolveDayRange(range.range, range.from, range.to, Date.now())
  const unit = shortRanges.includes(range.range) ? chosenUnit : 'day'
  const filter = { ...days, unit }
  const clicks = useApiQuery(linkRoutes.clicks, filter, { params: { id } })
  const figures = useMemo(() => {
    const points = clicks.data?.points ?? []
    const byHour = clicks.data?.unit === 'hour'
    return {
      labels: points.map(({ at }) => (byHour ? formatTime(at).slice(5, 16) : formatTime(at).slice(0, 10))),
      series: (['person', 'bot', 'preview'] as const).map((who) => ({
        name: t[who],
        values: points.map((point) => point[who]),
      })),
    }
  }, [clicks.data, t])
  return (
    <div className="stack">
      <div className="row-between">
        <span className="row">
          <DateRange {...range} onChange={setRange} />
          <Segmented
            aria-label={t.unit}
            value={unit}
            onChange={setChosenUnit}
            disabled={!shortRanges.includes(range.range)}
            options={[
              { value: 'day', label: t.day },
              { value: 'hour', label: t.hour },
            ]}
          />
        </span>
        <ExportLink route={linkRoutes.clicksCsv} filter={filter} params={{ id }} />
      </div>
      <Loaded query={clicks} skeleton={<Skeleton active paragraph={{ rows: 8 }} />}>
        {(data) => (
          <>
            <Chart title={t.chart} kind="stack" file={`clicks-${id}`} {...figures} />
            <div className="grid-3">
              <Ranking
                title={t.referrers}
                items={data.referrers}
                names={referrerNames}
                emptyName={t.directVisit}
              />
              <Ranking title={t.devices} items={data.devices} names={deviceNames} emptyName={t.unknown} />
              <Ranking title={t.browsers} items={data.browsers} names={browserNames} emptyName={t.unknown} />
            </div>
          </>
        )}
      </Loaded>
    </div>
  )
}

interface RankingProps {
  readonly title: string
  readonly items: readonly NamedCount[]
  readonly names: Readonly<Record<string, Text>>
  readonly emptyName: string
}

function Ranking({ title, items, names, emptyName }: RankingProps): ReactNode {
  const t = useText(shortlinkText)
  const pick = usePick()
  const displayName = (name: string) => (names[name] ? pick(names[name]) : name)
  const max = Math.max(1, ...items.map((item) => item.count))
  return (
    <section className="stack-8">
      <h3>{title}</h3>
      {items.length === 0 ? (
        <span className="muted">{t.noClicks}</span>
      ) : (
        <ol className="ranking">
          {items.map((item) => (
            <li key={item.name}>
              <i style={{ width: `${(item.count / max) * 100}%` }} />
              <span className="clip">{item.name === '' ? emptyName : displayName(item.name)}</span>
              <span className="num">{formatCount(item.count)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
