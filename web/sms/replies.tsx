// The replies of recipients.
import { Card, Tag } from 'antd'
import type { ReactNode } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Reply } from '../../contract/console/responses/sms.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Copyable } from '../parts/copy.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { ExactTime } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { signaturesText } from './signatures-text.ts'

const defaults = { phone: '', before: '' }

export function Replies(): ReactNode {
  const t = useText(signaturesText)
  const [params, setParams] = useUrlState(defaults)
  const replies = useApiQuery(smsRoutes.replies, {
    ...(params.phone === '' ? {} : { phone_number: params.phone }),
    ...cursorQuery(params.before),
  })
  return (
    <>
      <div className="filters">
        <SearchFilter
          label={t.searchPhone}
          value={params.phone}
          width={240}
          onSearch={(phone) => setParams({ phone, before: '' })}
        />
        <span className="muted">{t.repliesLead}</span>
      </div>
      <Card size="small">
        <List<Reply, NonNullable<typeof replies.data>>
          query={replies}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.replies}
          empty={{ text: t.emptyReplies }}
          onClear={params.phone === '' ? undefined : () => setParams(defaults)}
          columns={[
            { title: t.receivedAt, render: (_value, { received_at }) => <ExactTime at={received_at} /> },
            {
              title: t.phone,
              render: (_value, { phone_number }) => <span className="mono">{phone_number}</span>,
            },
            {
              title: t.content,
              render: (_value, { content, stopped }) => (
                <div style={{ maxWidth: 360, whiteSpace: 'normal' }}>
                  {content} {stopped && <Tag>{t.unsubscribed}</Tag>}
                </div>
              ),
            },
            { title: t.signName, dataIndex: 'sign_name' },
            { title: t.bizId, render: (_value, { biz_id }) => <Copyable text={biz_id} label={t.bizId} /> },
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
    </>
  )
}
