// The pages for an unexpected error and for an unknown address.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PlainButton } from '../parts/plain-button.tsx'
import { PlainAlert } from '../parts/plain-alert.tsx'
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
        <PlainButton primary onClick={() => window.location.reload()}>
          {t.reload}
        </PlainButton>
      </div>
    </main>
  )
}

/** An operator's page opened by somebody else; inside the frame. */
export function ForbiddenPage({ isOperator }: { isOperator: boolean }): ReactNode {
  const t = useText(partsText)
  return (
    <div className="stack">
      <h1>{isOperator ? t.forbidden : t.operatorsOnly}</h1>
      <p>{isOperator ? t.forbiddenText : t.operatorsOnlyText}</p>
      <Link to="/">{t.backHome}</Link>
    </div>
  )
}

/** A page whose script could not be loaded; the frame stays. */
export function PageLoadError({ onRetry }: { onRetry: () => void }): ReactNode {
  const t = useText(partsText)
  return (
    <PlainAlert title={t.pageFailed}>
      <span>{t.pageFailedText}</span>
      <div className="row">
        <PlainButton primary onClick={onRetry}>
          {t.retry}
        </PlainButton>
        <PlainButton onClick={() => window.location.reload()}>{t.reload}</PlainButton>
      </div>
    </PlainAlert>
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
