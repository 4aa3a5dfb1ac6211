// Statistics of one link or of all links of a tag: totals, days, breakdowns, export and sharing.
import { Link } from '@tanstack/react-router'
import { Card, Empty, Skeleton } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { linkAnalyticsRoutes } from '../../contract/console/link-analytics.ts'
import type { LinkAnalytics } from '../../contract/console/responses/link-analytics.ts'
import { type AnalyticsPart, analyticsParts } from '../../contract/link-analytics.ts'
import { provinces } from '../../contract/places.ts'
import type { Language } from '../../contract/text.ts'
import { browserNames, deviceNames, osNames, referrerNames } from '../../contract/visitor-names.ts'
import { useApiQuery, useMe } from '../api/hooks.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { Chart } from '../parts/chart.tsx'
import { Copyable } from '../parts/copy.tsx'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { formatCount, formatPercent } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { analyticsText } from './analytics-text.ts'
import { ProvinceMap } from './province-map.tsx'
import { Ranking } from './ranking.tsx'
import { valueNames } from './rule-names.ts'
import { SharesCard } from './shares-card.tsx'

const defaults = { link: '', tag: '', range: '30d', from: '', to: '' }

export function AnalyticsPage(): ReactNode {
  const t = useText(analyticsText)
  const me = useMe()
  const [params, setParams] = useUrlState(defaults)
  const subject = params.tag === '' ? { link: Number(params.link) || 0 } : { tag: params.tag }
  const isChosen = params.tag !== '' || /^[1-9]\d{0,15}$/.test(params.link)
  const filter = { ...subject, ...resolveDayRange(params.range, params.from, params.to, Date.now()) }
  const query = useApiQuery(linkAnalyticsRoutes.read, filter, { enabled: isChosen })
  const lead =
    query.data === undefined
      ? undefined
      : params.tag === ''
        ? t.ofLink(query.data.name)
        : t.ofTag(query.data.name)
  return (
    <Page
      back={
        <Link to="/shortlink" search={params.tag === '' ? { open: params.link } : { tag: params.tag }}>
          {t.back}
        </Link>
      }
      title={t.title}
      lead={lead}
    >
      {!isChosen ? (
        <Card size="small">
          <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.nothing} />
        </Card>
      ) : (
        <>
          <div className="filters" style={{ marginBottom: 0 }}>
            <DateRange {...params} onChange={setParams} />
            <ExportLink route={linkAnalyticsRoutes.csv} filter={filter} />
          </div>
          <Loaded query={query} skeleton={<Skeleton active paragraph={{ rows: 12 }} />}>
            {(data) => <Figures data={data} />}
          </Loaded>
          <SharesCard subject={subject} canChange={me.data?.read_only === false} />
        </>
      )}
    </Page>
  )
}

const totalNames = ['clicks', 'visitors', 'scans', 'bots', 'previews'] as const

function Figures({ data }: { data: LinkAnalytics }): ReactNode {
  const t = useText(analyticsText)
  const language = useLanguage()
  const charts = useMemo(() => {
    const labels = data.days.map(({ day }) => day)
    return {
      labels,
      people: [
        { name: t.current, values: data.days.map(({ person }) => person) },
        { name: t.previous, values: data.days.map(({ previous }) => previous), isPast: true },
      ],
      others: [
        { name: t.bots, values: data.days.map(({ bot }) => bot) },
        { name: t.previews, values: data.days.map(({ preview }) => preview) },
      ],
    }
  }, [data, t])
  const ranking = (part: AnalyticsPart) => (
    <Ranking
      key={part}
      title={t[part]}
      empty={t.none}
      total={data.totals.clicks}
      items={data.parts[part].map(({ value, clicks }) => ({
        name: nameOf(part, value, language, t),
        count: clicks,
      }))}
    />
  )
  return (
    <div className="stack">
      {data.a_url !== '' && <Copyable text={data.a_url} label={t.shareUrl} />}
      <div className="muted">{t.compared(data.previous.from, data.previous.to)}</div>
      <div className="grid-figures">
        {totalNames.map((name) => (
          <Card key={name} size="small" title={<h2>{t[name]}</h2>}>
            <div className="figure">{formatCount(data.totals[name])}</div>
            <div className="muted small">
              {t.before(formatCount(data.previous[name]))}
              {changeOf(data.totals[name], data.previous[name])}
            </div>
            {name === 'visitors' && <div className="muted small">{t.visitorsHint}</div>}
          </Card>
        ))}
      </div>
      <div className="grid-2">
        <Chart title={t.people} file="clicks" labels={charts.labels} series={charts.people} />
        <Chart title={t.notPeople} kind="stack" file="bots" labels={charts.labels} series={charts.others} />
      </div>
      <Card size="small" title={<h2>{t.places}</h2>}>
        <div className="grid-3">
          <ProvinceMap items={data.parts.province} total={data.totals.clicks} />
          {ranking('province')}
          {ranking('country')}
        </div>
      </Card>
      <Card size="small">
        <div className="grid-3">{analyticsParts.filter((part) => !isPlace(part)).map(ranking)}</div>
      </Card>
    </div>
  )
}

const isPlace = (part: AnalyticsPart) => part === 'province' || part === 'country'

/** ` · +12.5%`; nothing when there is nothing to compare with. */
function changeOf(now: number, before: number): string {
  if (before === 0) return ''
  const ratio = (now - before) / before
  return ` · ${ratio < 0 ? '−' : '+'}${formatPercent(Math.abs(ratio))}`
}

function nameOf(
  part: AnalyticsPart,
  value: string,
  language: Language,
  t: { readonly direct: string; readonly unknown: string; readonly other: string },
): string {
  if (value === '*') return t.other
  if (value === '') return part === 'referrer' ? t.direct : t.unknown
  if (part === 'country') return valueNames('country', language).get(value) ?? value
  const tables = {
    referrer: referrerNames,
    province: provinces,
    device: deviceNames,
    os: osNames,
    browser: browserNames,
    app: browserNames,
  }
  return tables[part][value]?.[language] ?? value
}
