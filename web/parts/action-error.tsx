// The error of an action, shown next to its button.
import { Link } from '@tanstack/react-router'
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useText } from '../frame/i18n.ts'
import { ErrorText } from './error-text.tsx'
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

/** For everything that fails for lack of credits. */
function BuyLink(): ReactNode {
  const t = useText(partsText)
  return <Link to="/buy">{t.buy}</Link>
}
