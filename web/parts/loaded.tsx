// The states of a query: skeleton, error or data.
import { ReloadOutlined } from '@ant-design/icons'
import { Alert, Button, Skeleton } from 'antd'
import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'
import type { ApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ErrorText } from './error-text.tsx'
import { partsText } from './text.ts'

interface LoadedProps<Result> {
  readonly query: ApiQuery<Result>
  readonly skeleton?: ReactNode
  readonly children: (result: Result) => ReactNode
}

export function Loaded<Result>({ query, skeleton, children }: LoadedProps<Result>): ReactNode {
  if (query.data !== undefined) {
    // The content stays mounted when a refetch fails, because it may contain user input.
    return (
      <>
        {query.isError && <LoadError error={query.error} isStale onRetry={() => void query.refetch()} />}
        {children(query.data)}
      </>
    )
  }
  if (query.isError) return <LoadError error={query.error} onRetry={() => void query.refetch()} />
  return skeleton ?? <Skeleton active paragraph={{ rows: 6 }} />
}

interface LoadErrorProps {
  readonly error: unknown
  /** Earlier data is still shown. */
  readonly isStale?: boolean
  readonly onRetry: () => void
}

export function LoadError({ error, isStale = false, onRetry }: LoadErrorProps): ReactNode {
  const t = useText(partsText)
  if (error instanceof ApiError && error.code === 'missing') {
    return <Alert type="info" showIcon title={t.missing} description={t.missingText} />
  }
  const forbidden = error instanceof ApiError && (error.code === 'forbidden' || error.code === 'suspended')
  return (
    <Alert
      type={isStale ? 'warning' : 'error'}
      showIcon
      title={forbidden ? t.forbidden : isStale ? t.stale : t.failed}
      description={<ErrorText error={error} isLoad />}
      action={
        forbidden ? undefined : (
          <Button size="small" icon={<ReloadOutlined />} onClick={onRetry}>
            {t.retry}
          </Button>
        )
      }
    />
  )
}
