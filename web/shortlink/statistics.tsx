// Clicks of one link: over time with people, bots and previews apart; by referrer, device and browser.
import { Segmented, Skeleton } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { linkRoutes, type NamedCount } from '../../contract/console/shortlink.ts'
import type { Text } from '../../contract/text.ts'
import { formatTime } from '../../contract/time.ts'
import { useAsk } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Chart } from '../parts/chart.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { daysOf } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { count } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { shortlinkText } from './text.ts'
import { browserNames, deviceNames, referrerNames } from './visitor-names.ts'

const shortRanges = ['today', 'yesterday', '7d']

export function LinkStatistics({ id }: { id: number }): ReactNode {
  const words = useText(shortlinkText)
  const [range, setRange] = useState({ range: '7d', from: '', to: '' })
  const [wanted, setWanted] = useState<'day' | 'hour'>('day')
  const days = daysOf(range.range, range.from, range.to, Date.now())
  const unit = shortRanges.includes(range.range) ? wanted : 'day'
  const sent = { ...days, unit }
  const clicks = useAsk(linkRoutes.clicks, sent, { parts: { id } })
  const figures = useMemo(() => {
    const points = clicks.data?.points ?? []
    const byHour = clicks.data?.unit === 'hour'
    return {
      labels: points.map(({ at }) => (byHour ? formatTime(at).slice(5, 16) : formatTime(at).slice(0, 10))),
      series: (['person', 'bot', 'preview'] as const).map((who) => ({
        name: words[who],
        values: points.map((point) => point[who]),
      })),
    }
  }, [clicks.data, words])
  return (
    <div className="stack">
      <div className="row-between">
        <span className="row">
          <DateRange {...range} onChange={setRange} />
          <Segmented
            aria-label={words.unit}
            value={unit}
            onChange={setWanted}
            disabled={!shortRanges.includes(range.range)}
            options={[
              { value: 'day', label: words.day },
              { value: 'hour', label: words.hour },
            ]}
          />
        </span>
        <ExportLink route={linkRoutes.clicksCsv} sent={sent} parts={{ id }} />
      </div>
      <Loaded asked={clicks} skeleton={<Skeleton active paragraph={{ rows: 8 }} />}>
        {(got) => (
          <>
            <Chart title={words.chart} kind="stack" file={`clicks-${id}`} {...figures} />
            <div className="grid-3">
              <Ranking
                title={words.referrers}
                items={got.referrers}
                names={referrerNames}
                nameless={words.directVisit}
              />
              <Ranking
                title={words.devices}
                items={got.devices}
                names={deviceNames}
                nameless={words.unknown}
              />
              <Ranking
                title={words.browsers}
                items={got.browsers}
                names={browserNames}
                nameless={words.unknown}
              />
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
  readonly nameless: string
}

function Ranking({ title, items, names, nameless }: RankingProps): ReactNode {
  const words = useText(shortlinkText)
  const pick = usePick()
  const wordFor = (name: string) => (names[name] ? pick(names[name]) : name)
  const most = Math.max(1, ...items.map((item) => item.count))
  return (
    <section className="stack-8">
      <h3>{title}</h3>
      {items.length === 0 ? (
        <span className="muted">{words.noClicks}</span>
      ) : (
        <ol className="ranking">
          {items.map((item) => (
            <li key={item.name}>
              <i style={{ width: `${(item.count / most) * 100}%` }} />
              <span className="clip">{item.name === '' ? nameless : wordFor(item.name)}</span>
              <span className="num">{count(item.count)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
