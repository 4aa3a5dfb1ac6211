// A chart in a card, with a table view of the same data and export as CSV or PNG.
import { DownloadOutlined } from '@ant-design/icons'
import { Button, Card, Dropdown, Segmented, Skeleton, theme } from 'antd'
import type { ECharts } from 'echarts/core'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useDark } from '../frame/preferences.ts'
import { seriesColours } from '../frame/theme.ts'
import { useText } from '../frame/i18n.ts'
import { formatCsv } from '../../contract/csv.ts'
import { formatDay } from '../../contract/time.ts'
import { type ChartKind, chartSeries, type Series, tooltipContent } from './chart-series.ts'
import { download } from './download.ts'
import { formatCount, formatPercent } from './format.tsx'
import { useIsMedium } from './narrow.ts'
import { partsText } from './text.ts'

const library = () => import('./echarts.ts')

// Begins with the page, beside its data; a failure is met again when a chart is drawn.
library().catch(() => undefined)

interface ChartProps {
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** `step`: a balance, which stays the same until it changes. */
  readonly kind?: ChartKind
  /** Values are ratios from 0 to 1, shown in percent. */
  readonly asPercent?: boolean
  readonly loading?: boolean
  readonly extra?: ReactNode
  /** The name of exported files, without extension. */
  readonly file: string
}

export function Chart(props: ChartProps): ReactNode {
  const { title, labels, series, asPercent = false, loading = false, extra, file } = props
  const t = useText(partsText)
  const [asTable, setAsTable] = useState(false)
  const chart = useRef<ECharts | undefined>(undefined)
  const isEmpty = series.every(({ values }) => values.every((value) => value === null || value === 0))
  const show = (value: number | null) =>
    value === null ? '–' : asPercent ? formatPercent(value) : formatCount(value)

  const save = (key: string) => {
    if (key === 'csv') {
      const rows = labels.map((label, index) => [label, ...series.map(({ values }) => values[index])])
      const text = formatCsv([[t.label, ...series.map(({ name }) => name)], ...rows])
      download(`${file}.csv`, new Blob([text], { type: 'text/csv;charset=utf-8' }))
      return
    }
    const dataUrl = chart.current?.getDataURL({ pixelRatio: 2 })
    if (dataUrl === undefined) return
    // Decoded here because the CSP forbids fetching data: URLs.
    const binary = atob(dataUrl.slice(dataUrl.indexOf(',') + 1))
    const image = Uint8Array.from(binary, (char) => char.charCodeAt(0))
    download(`${file}.png`, new Blob([image], { type: 'image/png' }))
  }

  return (
    <Card
      size="small"
      className="chart-card"
      title={<h2>{title}</h2>}
      extra={
        <span className="row">
          {extra}
          <Segmented
            size="small"
            aria-label={`${title}: ${t.view}`}
            value={asTable ? 'table' : 'chart'}
            options={[
              { value: 'chart', label: t.asChart },
              { value: 'table', label: t.asTable },
            ]}
            onChange={(value) => setAsTable(value === 'table')}
          />
          <Dropdown
            trigger={['click']}
            menu={{
              items: [
                { key: 'csv', label: t.exportCsv },
                { key: 'png', label: t.exportPng, disabled: asTable || isEmpty },
              ],
              onClick: ({ key }) => save(key),
            }}
          >
            <Button
              size="small"
              type="text"
              icon={<DownloadOutlined />}
              aria-label={`${title}: ${t.exportCsv}`}
            />
          </Dropdown>
        </span>
      }
    >
      <div style={{ height: 280, position: 'relative' }}>
        {loading ? (
          <Skeleton active title={false} paragraph={{ rows: 7 }} />
        ) : asTable ? (
          <ChartTable title={title} labels={labels} series={series} show={show} />
        ) : isEmpty ? (
          <div style={{ display: 'grid', placeItems: 'center', height: '100%' }} className="muted">
            {t.noData}
          </div>
        ) : (
          <Canvas {...props} onOpen={(opened) => (chart.current = opened)} show={show} />
        )}
      </div>
    </Card>
  )
}

/** High rates would all be one line at the top of an axis from 0 to 1. */
function ratioAxis(series: readonly Series[]): { min: number; max: number; interval: number } {
  const lowest = Math.min(1, ...series.flatMap(({ values }) => values.filter((value) => value !== null)))
  if (lowest < 0.5) return { min: 0, max: 1, interval: 0.2 }
  return lowest < 0.85 ? { min: 0.5, max: 1, interval: 0.1 } : { min: 0.8, max: 1, interval: 0.05 }
}

interface ChartTableProps {
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  readonly show: (value: number | null) => string
}

function ChartTable({ title, labels, series, show }: ChartTableProps): ReactNode {
  const t = useText(partsText)
  return (
    // A scrolling region must be focusable for keyboard users.
    <div className="chart-table" tabIndex={0} role="region" aria-label={title}>
      <table className="plain-table">
        <thead>
          <tr>
            <th scope="col">{t.label}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" className="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, index) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ name, values }) => (
                <td key={name} className="num">
                  {show(values[index] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface CanvasProps extends ChartProps {
  readonly onOpen: (chart: ECharts) => void
  readonly show: (value: number | null) => string
}

function Canvas({
  title,
  labels,
  series,
  kind = 'line',
  asPercent = false,
  onOpen,
  show,
}: CanvasProps): ReactNode {
  const { token } = theme.useToken()
  const dark = useDark()
  // On small screens the legend takes two lines.
  const isMedium = useIsMedium()
  const box = useRef<HTMLDivElement>(null)
  const [chart, setChart] = useState<ECharts>()

  useEffect(() => {
    let opened: ECharts | undefined
    let isUnmounted = false
    const watcher = new ResizeObserver(() => opened?.resize())
    void library().then(({ openChart }) => {
      if (isUnmounted || box.current === null) return
      opened = openChart(box.current)
      onOpen(opened)
      setChart(opened)
      watcher.observe(box.current)
    })
    return () => {
      isUnmounted = true
      watcher.disconnect()
      opened?.dispose()
    }
    // The chart is created once; the next effect sets its options.
  }, [])

  useEffect(() => {
    chart?.setOption(
      {
        animation: false,
        textStyle: { fontFamily: token.fontFamily },
        grid: {
          left: 8,
          right: 16,
          top: 16,
          bottom: series.length > 1 ? (isMedium ? 60 : 36) : 8,
          containLabel: true,
        },
        ...(series.length > 1
          ? {
              legend: {
                bottom: 0,
                textStyle: { color: token.colorTextSecondary },
                icon: 'roundRect',
                itemHeight: 8,
              },
            }
          : {}),
        tooltip: {
          trigger: 'axis',
          backgroundColor: token.colorBgElevated,
          borderColor: token.colorBorderSecondary,
          textStyle: { color: token.colorText },
          formatter: (points: unknown) => tooltipContent(Array.isArray(points) ? points : [points], show),
        },
        xAxis: {
          type: 'category',
          data: [...labels],
          boundaryGap: kind === 'stack' || kind === 'bar',
          axisLine: { lineStyle: { color: token.colorBorder } },
          axisTick: { show: false },
          axisLabel: {
            color: token.colorTextTertiary,
            hideOverlap: true,
            // The year is in the tooltip and the table.
            formatter: (label: string) => label.replace(/^\d{4}-/, ''),
          },
        },
        yAxis: {
          type: 'value',
          ...(asPercent ? ratioAxis(series) : { minInterval: 1 }),
          splitLine: { lineStyle: { color: token.colorBorderSecondary } },
          axisLabel: {
            color: token.colorTextTertiary,
            formatter: (value: number) => (asPercent ? `${Math.round(value * 100)}%` : formatCount(value)),
          },
        },
        series: chartSeries(series, {
          kind,
          isPartial: labels.at(-1) === formatDay(Date.now()),
          colours: seriesColours[dark ? 'dark' : 'light'],
        }),
      },
      { notMerge: true },
    )
  }, [chart, labels, series, kind, asPercent, dark, token, show, isMedium])

  return <div ref={box} className="chart" role="img" aria-label={title} />
}
