// Tabs of an account's page that show what its holder sees: ledger, requests and sessions.
import { Card } from 'antd'
import type { ReactNode } from 'react'
import { creditRoutes, type LedgerFilter, ledgerKinds } from '../../contract/console/credits.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { apiTypeNames, apiTypes, isApiType } from '../../contract/credits.ts'
import { useApiQuery } from '../api/hooks.ts'
import { Ledger } from '../credits/ledger.tsx'
import { creditsText } from '../credits/text.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { DateRange } from '../parts/date-range.tsx'
import { resolveDayRange } from '../parts/day-range.ts'
import { ExportLink } from '../parts/export-link.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { ExactTime, RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { type ViewedAccount, viewedQuery } from '../requests/detail.tsx'
import { RequestLog, useRequestLog } from '../requests/log.tsx'
import { accountPath } from './account-link.tsx'
import { accountText } from './account-text.ts'
import { operatorText } from './text.ts'

interface TabProps {
  readonly id: number
}

const ledgerDefaults = { range: 'all', from: '', to: '', type: '', kind: '', before: '' }

export function LedgerTab({ id }: TabProps): ReactNode {
  const t = useText(creditsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(ledgerDefaults)
  const type = isApiType(params.type) ? params.type : undefined
  const kind = ledgerKinds.find((value) => value === params.kind)
  const filter: LedgerFilter = {
    ...resolveDayRange(params.range, params.from, params.to, Date.now()),
    ...(type ? { api_type: type } : {}),
    ...(kind ? { kind } : {}),
    ...viewedQuery({ id }),
  }
  const isFiltered = params.range !== ledgerDefaults.range || type !== undefined || kind !== undefined
  return (
    <>
      <div className="filters" style={{ marginBottom: 0 }}>
        <DateRange withAll {...params} onChange={(range) => setParams({ ...range, before: '' })} />
        <SelectFilter
          label={t.type}
          allLabel={t.allTypes}
          value={params.type}
          values={apiTypes}
          nameOf={(value) => pick(apiTypeNames[value])}
          onChange={(value) => setParams({ type: value, before: '' })}
        />
        <SelectFilter
          label={t.kind}
          allLabel={t.allKinds}
          value={params.kind}
          values={ledgerKinds}
          nameOf={(value) => t[value]}
          onChange={(value) => setParams({ kind: value, before: '' })}
        />
        <ExportLink route={creditRoutes.ledgerCsv} filter={filter} />
      </div>
      <Card size="small">
        <Ledger
          filter={filter}
          before={params.before}
          onBefore={(before) => setParams({ before })}
          onClear={isFiltered ? () => setParams({ ...ledgerDefaults }) : undefined}
          requestsPage={accountPath(id, 'requests')}
        />
      </Card>
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
          { title: t.agent, render: (_value, { agent }) => <span className="cell-text small">{agent}</span> },
        ]}
      />
    </Card>
  )
}
