// The request log page: the API requests of the account, newest first, updated live.
import { PauseCircleOutlined, PlayCircleOutlined } from '@ant-design/icons'
import { Badge, Button } from 'antd'
import { type ReactNode, useState } from 'react'
import { useText } from '../frame/i18n.ts'
import { Page } from '../parts/page.tsx'
import { RequestLog, useRequestLog } from './log.tsx'
import { requestsText } from './text.ts'

export function RequestsPage(): ReactNode {
  const t = useText(requestsText)
  const [paused, setPaused] = useState(false)
  const log = useRequestLog({ paused })
  const { isLive, requests, params } = log
  return (
    <Page
      title={t.title}
      lead={t.lead(requests.data?.kept_days ?? 30)}
      actions={
        <>
          <Badge status={isLive ? 'processing' : 'default'} text={isLive ? t.live : t.paused} />
          <Button
            icon={paused ? <PlayCircleOutlined /> : <PauseCircleOutlined />}
            onClick={() => setPaused(!paused)}
            disabled={params.before !== ''}
          >
            {paused ? t.resume : t.pause}
          </Button>
        </>
      }
    >
      <RequestLog log={log} />
    </Page>
  )
}
