// Clicks of one link over time (people, bots, previews) and by referrer, device and browser.
import { Segmented, Skeleton } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import type { NamedCount } from '../../contract/console/responses/shortlink.ts'
import type { Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import { browserNames, deviceNames, referrerNames } from '../../contract/visitor-names.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Ranking } from './ranking.tsx'
import { shortlinkText } from './text.ts'

const shortRanges = ['today', 'yesterday', '7d']

export function LinkStatistics({ id }: { id: number }): ReactNode {
  const t = useText(shortlinkText)
  const pick = usePick()
  const named = (items: readonly NamedCount[], names: Readonly<Record<string, Text>>, emptyName: string) =>
    items.map(({ name, count }) => ({
      name: name === '' ? emptyName : names[name] ? pick(names[name]) : name,
      count,
    }))
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
                items={named(data.referrers, referrerNames, t.directVisit)}
                empty={t.noClicks}
              />
              <Ranking
                title={t.devices}
                items={named(data.devices, deviceNames, t.unknown)}
                empty={t.noClicks}
              />
              <Ranking
                title={t.browsers}
                items={named(data.browsers, browserNames, t.unknown)}
                empty={t.noClicks}
              />
            </div>
          </>
        )}
      </Loaded>
    </div>
  )
}
