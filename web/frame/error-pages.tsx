// The pages for an unexpected error and for an unknown address.
import { Link } from '@tanstack/react-router'
import { Button } from 'antd'
import type { ReactNode } from 'react'
import { partsText } from '../parts/text.ts'
import { useText } from './i18n.ts'

export function ErrorPage({ error }: { error: unknown }): ReactNode {
  const t = useText(partsText)
  return (
    <main className="centered-page">
      <div className="centered-column stack">
        <h1>{t.unexpected}</h1>
        <p>{t.unexpectedText}</p>
        <pre className="code wrap">{error instanceof Error ? error.message : String(error)}</pre>
        <Button type="primary" onClick={() => window.location.reload()}>
          {t.reload}
        </Button>
      </div>
    </main>
  )
}

export function NotFoundPage(): ReactNode {
  const t = useText(partsText)
  return (
    <main className="centered-page">
      <div className="centered-column stack">
        <h1>{t.notFound}</h1>
        <Link to="/">{t.backHome}</Link>
      </div>
    </main>
  )
}
