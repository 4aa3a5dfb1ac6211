// Where the account is signed in, and ending it there.
import { App, Button, Card, Tag } from 'antd'
import { type ReactNode, useState } from 'react'
import { type SessionFacts, sessionRoutes } from '../../contract/console/session.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Ago } from '../parts/figures.tsx'
import { List } from '../parts/list.tsx'
import { browserName } from './browser-name.ts'
import { accountText } from './text.ts'

export function SessionsCard(): ReactNode {
  const words = useText(accountText)
  const { message } = App.useApp()
  const sessions = useAsk(sessionRoutes.sessions, {})
  const end = useTell(sessionRoutes.endSession)
  const endOthers = useTell(sessionRoutes.endOtherSessions)
  const [ending, setEnding] = useState<SessionFacts | 'others'>()
  const hasOthers = (sessions.data?.items.length ?? 0) > 1
  return (
    <Card
      title={<h2>{words.sessions}</h2>}
      extra={
        hasOthers && (
          <Button size="small" danger onClick={() => setEnding('others')}>
            {words.endOthers}
          </Button>
        )
      }
    >
      <List
        asked={sessions}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={words.sessions}
        empty={{ text: words.sessions }}
        columns={[
          {
            title: words.browser,
            render: (_value, { agent, current }) => (
              <span className="row" title={agent}>
                {browserName(agent)}
                {current && <Tag>{words.thisOne}</Tag>}
              </span>
            ),
          },
          { title: words.address, dataIndex: 'address', className: 'mono' },
          { title: words.signedInAt, render: (_value, { created_at }) => <Ago at={created_at} /> },
          { title: words.seenAt, render: (_value, { seen_at }) => <Ago at={seen_at} /> },
          {
            title: '',
            align: 'end',
            render: (_value, session) =>
              session.current ? null : (
                <Button size="small" danger onClick={() => setEnding(session)}>
                  {words.end}
                </Button>
              ),
          },
        ]}
      />
      <Confirm
        open={ending !== undefined}
        danger
        title={ending === 'others' ? words.endOthers : words.endTitle}
        consequence={ending === 'others' ? words.endOthersText : words.endText}
        ok={words.end}
        onClose={() => setEnding(undefined)}
        onConfirm={async () => {
          if (ending === 'others') {
            const { ended } = await endOthers.mutateAsync({ sent: {} })
            message.success(words.othersEnded(ended))
          } else if (ending !== undefined) {
            await end.mutateAsync({ sent: {}, parts: { id: ending.id } })
            message.success(words.ended)
          }
        }}
      />
    </Card>
  )
}
