// Replies of recipients to whom no account has sent a message in the last days. Shown only if there are any.
import { Card } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorProductRoutes } from '../../contract/console/operator-products.ts'
import type { Reply } from '../../contract/console/responses/sms.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ExactTime } from '../parts/format.tsx'
import { CursorPager, cursorQuery, List } from '../parts/list.tsx'
import { signaturesText } from '../sms/signatures-text.ts'

export function UnmatchedReplies(): ReactNode {
  const t = useText(signaturesText)
  const [before, setBefore] = useState('')
  const replies = useApiQuery(operatorProductRoutes.unmatchedReplies, cursorQuery(before))
  if (before === '' && (replies.data?.items ?? []).length === 0) return null
  return (
    <Card size="small" title={<h2>{t.unmatched}</h2>}>
      <List<Reply, NonNullable<typeof replies.data>>
        query={replies}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.unmatched}
        empty={{ text: t.emptyReplies }}
        columns={[
          { title: t.receivedAt, render: (_value, { received_at }) => <ExactTime at={received_at} /> },
          {
            title: t.phone,
            render: (_value, { phone_number }) => <span className="mono">{phone_number}</span>,
          },
          {
            title: t.content,
            render: (_value, { content }) => (
              <div style={{ maxWidth: 360, whiteSpace: 'normal' }}>{content}</div>
            ),
          },
          { title: t.signName, dataIndex: 'sign_name' },
          { title: t.gateway, dataIndex: 'gateway' },
        ]}
        footer={({ next }) => <CursorPager before={before} next={next} onChange={setBefore} />}
      />
    </Card>
  )
}
