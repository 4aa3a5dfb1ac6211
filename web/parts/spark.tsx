// A sparkline as SVG, without the chart library. The last value is today's, which is not complete: its line is dashed.
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { partsText } from './text.ts'

const width = 120
const height = 32

export function Sparkline({ values, label }: { values: readonly number[]; label: string }): ReactNode {
  const t = useText(partsText)
  const highest = Math.max(1, ...values)
  const step = values.length > 1 ? width / (values.length - 1) : width
  const points = values.map((value, index) => [index * step, height - 2 - (value / highest) * (height - 6)])
  const texts = points.map(([x, y]) => `${x!.toFixed(1)},${y!.toFixed(1)}`)
  const line = texts.join(' ')
  const stroke = {
    fill: 'none',
    stroke: 'var(--ant-color-primary)',
    strokeWidth: '1.5',
    vectorEffect: 'non-scaling-stroke',
  } as const
  return (
    <svg
      className="spark"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${t.trend(label)}: ${values.join(', ')}`}
    >
      <polygon points={`0,${height} ${line} ${width},${height}`} fill="var(--ant-color-primary-bg)" />
      <polyline points={texts.slice(0, -1).join(' ')} {...stroke} />
      <polyline points={texts.slice(-2).join(' ')} strokeDasharray="3 2" {...stroke} />
    </svg>
  )
}
