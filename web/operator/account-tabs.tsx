// Tabs of an account's page that show what its holder sees: ledger, requests and sessions.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useApiQuery } from '../api/hooks.ts'
import { FilteredLedger, LedgerFilters, useLedgerFilter } from '../credits/filtered-ledger.tsx'
import { useText } from '../frame/i18n.ts'
import { ExactTime, RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { type ViewedAccount, viewedQuery } from '../requests/detail.tsx'
import { RequestLog, useRequestLog } from '../requests/log.tsx'
import { accountPath } from './account-link.tsx'
import { accountText } from './account-text.ts'
import { operatorText } from './text.ts'

interface TabProps {
  readonly id: number
}

export function LedgerTab({ id }: TabProps): ReactNode {
  const state = useLedgerFilter({ range: 'all', accountQuery: viewedQuery({ id }) })
  return (
    <>
      <LedgerFilters state={state} withAll />
      <FilteredLedger state={state} requestsPage={accountPath(id, 'requests')} />
    </>
  )
}

export function RequestsTab({ account: { id, username } }: { account: ViewedAccount }): ReactNode {
  const log = useRequestLog({ paused: false, viewed: { id, username } })
  return <RequestLog log={log} />
}

export function SessionsTab({ id }: TabProps): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const sessions = useApiQuery(sessionRoutes.sessions, viewedQuery({ id }))
  return (
    <Card size="small">
      <List
        query={sessions}
        items={({ items }) => items}
        rowKey={(session) => session.id}
        label={t.tabSessions}
        empty={{ text: t.noSessions }}
        columns={[
          { title: common.created, render: (_value, { created_at }) => <ExactTime at={created_at} /> },
          { title: t.seen, render: (_value, { seen_at }) => <RelativeTime at={seen_at} /> },
          { title: t.address, render: (_value, { address }) => <span className="mono">{address}</span> },
          { title: t.agent, render: (_value, { agent }) => <span className="small">{agent}</span> },
        ]}
      />
    </Card>
  )
}
