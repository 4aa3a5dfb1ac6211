// The text of an error with its request ID.
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { Copyable } from './copy.tsx'
import { useErrorText } from './error-message.ts'
import { partsText } from './text.ts'

interface ErrorTextProps {
  readonly error: unknown
  /** Data could not be read. */
  readonly isLoad?: boolean
}

export function ErrorText({ error, isLoad = false }: ErrorTextProps): ReactNode {
  const t = useText(partsText)
  const { message, requestId } = useErrorText(error, isLoad)
  if (requestId === undefined) return message
  return (
    <span className="stack-8">
      <span>{message}</span>
      <span className="small">
        {t.requestId} <Copyable text={requestId} label={t.requestId} />
      </span>
    </span>
  )
}
