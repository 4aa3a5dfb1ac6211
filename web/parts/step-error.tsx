// Why a step failed, beside the button that was pressed. Apart from the rest, because the sign-in page loads it.
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import { useText } from '../frame/text.ts'
import { Copyable } from './copy.tsx'
import { standsBesideFields } from './form.ts'
import { partsText } from './text.ts'

export function StepError({ error }: { error: unknown }): ReactNode {
  if (error === null || error === undefined || standsBesideFields(error)) return null
  return <Alert type="error" showIcon title={<ErrorText error={error} />} role="alert" />
}

export function ErrorText({ error }: { error: unknown }): ReactNode {
  const words = useText(partsText)
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error)
  const message =
    error.code === 'offline' ? words.offline : error.code === 'missing' ? words.missing : error.message
  return (
    <span className="stack-8">
      <span>{message}</span>
      {error.requestId !== undefined && (
        <span className="small">
          {words.requestId} <Copyable text={error.requestId} what={words.requestId} />
        </span>
      )}
    </span>
  )
}
