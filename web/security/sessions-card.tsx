// The sessions of the account, with buttons that sign them out.
import { App, Button, Card, Tag } from 'antd'
import { type ReactNode, useState } from 'react'
import { sessionRoutes } from '../../contract/console/session.ts'
import { describeDevice } from '../../contract/device.ts'
import type { SessionFacts } from '../../contract/console/responses/session.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ExactTime, RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { accountText } from '../account/text.ts'

export function SessionsCard(): ReactNode {
  const t = useText(accountText)
  const { message } = App.useApp()
  const sessions = useApiQuery(sessionRoutes.sessions, {})
  const end = useApiMutation(sessionRoutes.endSession)
  const endOthers = useApiMutation(sessionRoutes.endOtherSessions)
  const [ending, setEnding] = useState<SessionFacts | 'others'>()
  const hasOthers = (sessions.data?.items.length ?? 0) > 1
  return (
    <Card
      title={<h2>{t.sessions}</h2>}
      extra={
        hasOthers && (
          <Button size="small" danger onClick={() => setEnding('others')}>
            {t.endOthers}
          </Button>
        )
      }
    >
      <List
        query={sessions}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.sessions}
        empty={{ text: t.sessions }}
        columns={[
          {
            title: t.browser,
            render: (_value, { agent, current }) => (
              <span className="row" title={agent}>
                {describeDevice(agent) || '–'}
                {current && <Tag>{t.current}</Tag>}
              </span>
            ),
          },
          { title: t.address, dataIndex: 'address', className: 'mono' },
          { title: t.signedInAt, render: (_value, { created_at }) => <ExactTime at={created_at} /> },
          { title: t.seenAt, render: (_value, { seen_at }) => <RelativeTime at={seen_at} /> },
          {
            title: '',
            align: 'end',
            render: (_value, session) =>
              session.current ? null : (
                <Button size="small" danger onClick={() => setEnding(session)}>
                  {t.end}
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        open={ending !== undefined}
        danger
        title={ending === 'others' ? t.endOthers : t.endTitle}
        consequence={ending === 'others' ? t.endOthersText : t.endText}
        ok={t.end}
        onClose={() => setEnding(undefined)}
        onConfirm={async () => {
          if (ending === 'others') {
            const { ended } = await endOthers.mutateAsync({ body: {} })
            message.success(t.othersEnded(ended))
          } else if (ending !== undefined) {
            await end.mutateAsync({ body: {}, params: { id: ending.id } })
            message.success(t.ended)
          }
        }}
      />
    </Card>
  )
}
