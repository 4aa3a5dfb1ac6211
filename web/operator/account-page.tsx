// The page of one account: name, state, balances and actions, and below them its tabs, each with its own URL.
import { Link, useParams } from '@tanstack/react-router'
import { Card, Descriptions } from 'antd'
import type { ReactNode } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { roleTexts } from '../../contract/console/roles.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { useMayView } from '../frame/rights.tsx'
import { formatCount, RelativeTime } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { AccountActions } from './account-actions.tsx'
import { ContactCard, NotesTab } from './account-file.tsx'
import { LimitsTab } from './account-limits.tsx'
import { accountPath, listSearch } from './account-link.tsx'
import { AccountState } from './account-state.tsx'
import { LedgerTab, RequestsTab, SessionsTab } from './account-tabs.tsx'
import { accountText } from './account-text.ts'
import { Figure } from './figure.tsx'
import { operatorText } from './text.ts'
import { tokensText } from './tokens-text.ts'

export function AccountPage(): ReactNode {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  return <OneAccount key={id} id={id} />
}

function OneAccount({ id }: { id: string }): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const account = useApiQuery(operatorRoutes.account, {}, { params: { id } })
  return (
    <Page
      back={
        <Link to="/operator/accounts" search={listSearch() as never}>
          {t.backToList}
        </Link>
      }
      title={account.data?.username ?? `${common.account} ${id}`}
      lead={account.data && <Lead account={account.data} />}
      actions={account.data && <AccountActions account={account.data} />}
    >
      <Loaded query={account}>{(data) => <AccountContent account={data} />}</Loaded>
    </Page>
  )
}

function Lead({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const pick = usePick()
  return (
    <span className="row">
      <AccountState account={account} />
      {account.operator_role !== null && (
        <span>
          {common.operatorState} · {pick(roleTexts[account.operator_role].name)}
        </span>
      )}
      <span>
        {t.accountId} <span className="mono">{account.id}</span>
      </span>
    </span>
  )
}

function AccountContent({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  const mayView = useMayView()
  const { tab } = useParams({ strict: false }) as { readonly tab?: string }
  const { id } = account
  const tabs: readonly { readonly key: string; readonly label: string; readonly content: () => ReactNode }[] =
    [
      { key: '', label: t.tabOverview, content: () => <AccountOverview account={account} /> },
      { key: 'limits', label: t.tabLimits, content: () => <LimitsTab account={account} /> },
      ...(mayView
        ? [
            { key: 'ledger', label: t.tabLedger, content: () => <LedgerTab id={id} /> },
            { key: 'requests', label: t.tabRequests, content: () => <RequestsTab account={account} /> },
          ]
        : []),
      { key: 'notes', label: t.tabNotes, content: () => <NotesTab id={id} /> },
      ...(mayView ? [{ key: 'sessions', label: t.tabSessions, content: () => <SessionsTab id={id} /> }] : []),
    ]
  const shown = tabs.find(({ key }) => key === tab) ?? tabs[0]!
  return (
    <>
      <Balances account={account} />
      <nav className="page-tabs" aria-label={t.accountTabs}>
        {tabs.map(({ key, label }) => (
          <Link
            key={key}
            to={accountPath(id, key)}
            resetScroll={false}
            activeOptions={{ exact: true, includeSearch: false }}
          >
            {label}
          </Link>
        ))}
      </nav>
      {shown.content()}
    </>
  )
}

function Balances({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  const pick = usePick()
  return (
    <div className="grid-4">
      {account.balances.map(({ api_type, remaining, used, total }) => (
        <Figure
          key={api_type}
          label={pick(apiTypeNames[api_type])}
          value={formatCount(remaining)}
          more={t.usedOfTotal(formatCount(used), formatCount(total))}
        />
      ))}
    </div>
  )
}

function AccountOverview({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  return (
    <div className="grid-2">
      <Card size="small" title={<h2>{t.accountDetails}</h2>}>
        <Details account={account} />
      </Card>
      <ContactCard id={account.id} />
    </div>
  )
}

function Details({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const roles = useText(tokensText)
  const pick = usePick()
  const limit = account.rate_limit ?? account.platform_rate_limit
  const limitText = limit ? t.limitText(formatCount(limit.per_second), formatCount(limit.burst)) : t.unlimited
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2, md: 1, xxl: 2 }}
      items={[
        ...(account.operator_role === null
          ? []
          : [{ key: 'role', label: roles.role, children: pick(roleTexts[account.operator_role].name) }]),
        { key: 'created', label: common.created, children: <RelativeTime at={account.created_at} /> },
        { key: 'expires', label: common.expires, children: account.expires_on ?? common.noEnd },
        {
          key: 'key',
          label: common.key,
          children: account.key_hint ? <span className="mono">{account.key_hint}</span> : t.noKey,
        },
        { key: 'last', label: common.lastCall, children: <RelativeTime at={account.last_call_at} /> },
        {
          key: 'calls',
          label: t.calls7,
          children: t.calls7Text(formatCount(account.calls_7d), formatCount(account.failed_7d)),
        },
        { key: 'sessions', label: t.sessions, children: formatCount(account.sessions) },
        { key: 'sms', label: common.sms, children: account.sms_enabled ? common.on : common.off },
        { key: 'sign', label: common.signName, children: account.sign_name ?? t.platformSign },
        {
          key: 'limit',
          label: t.limit,
          span: 'filled',
          children: account.rate_limit ? limitText : t.platformLimit(limitText),
        },
        {
          key: 'webhooks',
          label: t.accountWebhooks,
          span: 'filled',
          children: (
            <Link to="/operator/webhooks" search={{ account: String(account.id) }}>
              {t.open}
            </Link>
          ),
        },
      ]}
    />
  )
}
