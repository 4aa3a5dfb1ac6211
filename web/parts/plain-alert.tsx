// A message on the sign-in pages and in place of a page that cannot be loaded: antd's alert would add to the first load.
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { useErrorText } from './error-message.ts'
import { partsText } from './text.ts'

interface PlainAlertProps {
  readonly tone?: 'error' | 'warning'
  readonly title: ReactNode
  readonly children?: ReactNode
}

export function PlainAlert({ tone = 'error', title, children }: PlainAlertProps): ReactNode {
  return (
    <div role="alert" className={`plain-alert ${tone}`}>
      <strong>{title}</strong>
      {children}
    </div>
  )
}

export function PlainError({ error }: { error: unknown }): ReactNode {
  const t = useText(partsText)
  const { message, requestId } = useErrorText(error)
  if (error === null || error === undefined) return null
  return (
    <PlainAlert title={message}>
      {requestId !== undefined && (
        <span className="small">
          {t.requestId} <span className="mono">{requestId}</span>
        </span>
      )}
    </PlainAlert>
  )
}
