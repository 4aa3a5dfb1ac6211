// The error of an action, shown next to its button. A separate file because the sign-in page loads it.
import { Link } from '@tanstack/react-router'
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from './copy.tsx'
import { isShownInFields } from './form.ts'
import { partsText } from './text.ts'

export function ActionError({ error }: { error: unknown }): ReactNode {
  if (error === null || error === undefined || isShownInFields(error)) return null
  const isShort = error instanceof ApiError && error.code === 'insufficient'
  return (
    <Alert
      type="error"
      showIcon
      title={<ErrorText error={error} />}
      role="alert"
      {...(isShort && { action: <BuyLink /> })}
    />
  )
}

export function ErrorText({ error }: { error: unknown }): ReactNode {
  const t = useText(partsText)
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const message = error.code === 'offline' ? t.offline : error.code === 'missing' ? t.missing : error.message
  return (
    <span className="stack-8">
      <span>{message}</span>
      {error.requestId !== undefined && (
        <span className="small">
          {t.requestId} <Copyable text={error.requestId} label={t.requestId} />
        </span>
      )}
    </span>
  )
}

/** For everything that fails for lack of credits. */
function BuyLink(): ReactNode {
  const t = useText(partsText)
  return <Link to="/buy">{t.buy}</Link>
}
