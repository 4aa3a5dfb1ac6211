// Shown instead of a page that failed, or that does not exist.
import { Link } from '@tanstack/react-router'
import { Button } from 'antd'
import type { ReactNode } from 'react'
import { partsText } from '../parts/text.ts'
import { useText } from './text.ts'

export function Broken({ error }: { error: unknown }): ReactNode {
  const words = useText(partsText)
  return (
    <main className="door">
      <div className="door-card stack">
        <h1>{words.unexpected}</h1>
        <p>{words.unexpectedText}</p>
        <pre className="code wrap">{error instanceof Error ? error.message : String(error)}</pre>
        <Button type="primary" onClick={() => window.location.reload()}>
          {words.reload}
        </Button>
      </div>
    </main>
  )
}

export function Nowhere(): ReactNode {
  const words = useText(partsText)
  return (
    <main className="door">
      <div className="door-card stack">
        <h1>{words.notFound}</h1>
        <Link to="/">{words.backHome}</Link>
      </div>
    </main>
  )
}
