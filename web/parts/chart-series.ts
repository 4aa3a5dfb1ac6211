// The series of a chart for ECharts. The figures of a day that is not over are dashed.

export type ChartKind = 'line' | 'step' | 'stack' | 'bar'

export interface Series {
  readonly name: string
  /** One per label; null for no data. */
  readonly values: readonly (number | null)[]
  /** Of an earlier period, whose last day is over. */
  readonly isPast?: boolean
}

export interface SeriesLook {
  readonly kind: ChartKind
  /** Whether the last value is of a day that is not over. */
  readonly isPartial: boolean
  readonly colours: readonly string[]
}

export function chartSeries(series: readonly Series[], look: SeriesLook): object[] {
  return series.flatMap((one, index) => {
    const colour = look.colours[index % look.colours.length]!
    return look.kind === 'line' || look.kind === 'step'
      ? lineSeries(one, colour, look)
      : [barSeries(one, colour, look)]
  })
}

/** The last part of the line is a series of its own, because a line has one style. */
function lineSeries(
  { name, values, isPast }: Series,
  colour: string,
  { kind, isPartial }: SeriesLook,
): object[] {
  const common = {
    name,
    type: 'line',
    color: colour,
    // A balance keeps its value until the next one.
    ...(kind === 'step' ? { step: 'end' } : {}),
    // One or two points alone are hard to see as a line.
    showSymbol: values.filter((value) => value !== null).length < 3,
  }
  const last = values.length - 1
  if (!isPartial || isPast || last < 1) return [{ ...common, lineStyle: { width: 2 }, data: [...values] }]
  return [
    {
      ...common,
      lineStyle: { width: 2 },
      data: values.map((value, index) => (index === last ? null : value)),
    },
    {
      ...common,
      lineStyle: { width: 2, type: 'dashed' },
      data: values.map((value, index) => (index < last - 1 ? null : value)),
    },
  ]
}

function barSeries(
  { name, values, isPast }: Series,
  colour: string,
  { kind, isPartial }: SeriesLook,
): object {
  const last = values.length - 1
  const partial = { opacity: 0.55, borderColor: colour, borderType: 'dashed', borderWidth: 1 }
  return {
    name,
    type: 'bar',
    color: colour,
    ...(kind === 'stack' ? { stack: 'all' } : {}),
    barMaxWidth: 28,
    data: values.map((value, index) =>
      isPartial && !isPast && index === last ? { value, itemStyle: partial } : value,
    ),
  }
}

interface TooltipPoint {
  readonly seriesName?: string
  readonly color?: unknown
  readonly value?: unknown
  readonly name?: string
}

/** One line per name: a line that ends dashed is two series. */
export function tooltipContent(
  points: readonly TooltipPoint[],
  show: (value: number | null) => string,
): HTMLElement {
  const box = document.createElement('div')
  const head = document.createElement('div')
  head.textContent = points[0]?.name ?? ''
  box.append(head)
  const shown = new Set<string>()
  for (const { seriesName = '', color, value } of points) {
    if (shown.has(seriesName) || typeof value !== 'number') continue
    shown.add(seriesName)
    const line = document.createElement('div')
    line.className = 'chart-tip'
    const dot = document.createElement('i')
    dot.style.background = typeof color === 'string' ? color : ''
    const label = document.createElement('span')
    label.textContent = seriesName
    const figure = document.createElement('strong')
    figure.textContent = show(value)
    line.append(dot, label, figure)
    box.append(line)
  }
  return box
}
