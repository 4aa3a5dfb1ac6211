// What stands where data will be: skeleton, error with what to do, or the thing itself. Nothing jumps.
import { ReloadOutlined } from '@ant-design/icons'
import { Alert, Button, Skeleton } from 'antd'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import type { Asked } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { ErrorText } from './step-error.tsx'
import { partsText } from './text.ts'

interface LoadedProps<Got> {
  readonly asked: Asked<Got>
  readonly skeleton?: ReactNode
  readonly children: (got: Got) => ReactNode
}

export function Loaded<Got>({ asked, skeleton, children }: LoadedProps<Got>): ReactNode {
  if (asked.data !== undefined) {
    // Something may be typed into it: what could not be asked for again stands above, and takes nothing away.
    return (
      <>
        {asked.isError && <LoadError error={asked.error} isStale onRetry={() => void asked.refetch()} />}
        {children(asked.data)}
      </>
    )
  }
  if (asked.isError) return <LoadError error={asked.error} onRetry={() => void asked.refetch()} />
  return skeleton ?? <Skeleton active paragraph={{ rows: 6 }} />
}

interface LoadErrorProps {
  readonly error: unknown
  /** What came before is still shown. */
  readonly isStale?: boolean
  readonly onRetry: () => void
}

/** Stands where the data would. */
export function LoadError({ error, isStale = false, onRetry }: LoadErrorProps): ReactNode {
  const words = useText(partsText)
  if (error instanceof ApiError && error.code === 'missing') {
    return <Alert type="info" showIcon title={words.missing} description={words.missingText} />
  }
  const forbidden = error instanceof ApiError && (error.code === 'forbidden' || error.code === 'suspended')
  return (
    <Alert
      type={isStale ? 'warning' : 'error'}
      showIcon
      title={forbidden ? words.forbidden : isStale ? words.stale : words.failed}
      description={<ErrorText error={error} />}
      action={
        forbidden ? undefined : (
          <Button size="small" icon={<ReloadOutlined />} onClick={onRetry}>
            {words.retry}
          </Button>
        )
      }
    />
  )
}
