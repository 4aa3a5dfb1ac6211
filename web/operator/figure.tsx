// One figure of an overview: a name, a value and a line of details.
import { Card } from 'antd'
import type { ReactNode } from 'react'

interface FigureProps {
  readonly label: ReactNode
  readonly value: string
  readonly more?: ReactNode
}

export function Figure({ label, value, more }: FigureProps): ReactNode {
  return (
    <Card size="small">
      <div className="muted">{label}</div>
      <div className="figure" style={{ fontSize: 22 }}>
        {value}
      </div>
      <div className="muted small" style={{ minHeight: 20 }}>
        {more}
      </div>
    </Card>
  )
}
