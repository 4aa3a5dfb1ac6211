// A ranked list with bars: names and counts, the largest first.
import { Button } from 'antd'
import { type ReactNode, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { formatCount, formatPercent } from '../parts/format.tsx'
import { partsText } from '../parts/text.ts'

interface RankingProps {
  readonly title: string
  readonly items: readonly { readonly name: string; readonly count: number }[]
  readonly empty: string
  /** Adds the part of the whole. */
  readonly total?: number
}

const shownFirst = 10

export function Ranking({ title, items, empty, total }: RankingProps): ReactNode {
  const t = useText(partsText)
  const [isLong, setLong] = useState(false)
  const max = Math.max(1, ...items.map((item) => item.count))
  return (
    <section className="stack-8">
      <h3>{title}</h3>
      {items.length === 0 ? (
        <span className="muted">{empty}</span>
      ) : (
        <ol className="ranking">
          {items.slice(0, isLong ? items.length : shownFirst).map((item) => (
            <li key={item.name}>
              <i style={{ width: `${(item.count / max) * 100}%` }} />
              <span className="clip">{item.name}</span>
              <span className="num">
                {formatCount(item.count)}
                {total !== undefined && total > 0 && ` · ${formatPercent(item.count / total)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
      {items.length > shownFirst && (
        <div>
          <Button size="small" type="link" style={{ paddingInline: 0 }} onClick={() => setLong(!isLong)}>
            {isLong ? t.showLess : t.showAll(items.length)}
          </Button>
        </div>
      )}
    </section>
  )
}
