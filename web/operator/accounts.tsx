// The list of accounts.
import { PlusOutlined } from '@ant-design/icons'
import { Navigate, useLocation, useNavigate } from '@tanstack/react-router'
import { Button, Card, Select } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { type AccountQuery, operatorRoutes } from '../../contract/console/operator.ts'
import { roleTexts } from '../../contract/console/roles.ts'
import type { AccountRow } from '../../contract/console/responses/operator.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { shortTypeNames } from '../parts/names.ts'
import { RelativeTime, formatCompactCount } from '../parts/format.tsx'
import { SearchFilter } from '../parts/filters.tsx'
import { List, pageFooter, sortOrderOf } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { AccountLink, accountPath, rememberListSearch } from './account-link.tsx'
import { AccountState } from './account-state.tsx'
import { NewAccountModal } from './new-account.tsx'
import { operatorText } from './text.ts'

const defaults = { q: '', state: '', sort: 'created', order: 'desc', page: '1', size: '20' }
const states = ['active', 'expired', 'suspended', 'operator'] as const
const sorts = ['created', 'username', 'expires'] as const

export function AccountsPage(): ReactNode {
  // Older links opened the account beside the list.
  const [{ open }] = useUrlState({ open: '' })
  return /^\d+$/.test(open) ? <Navigate to={accountPath(open)} replace /> : <AccountList />
}

function AccountList(): ReactNode {
  const location = useLocation()
  useEffect(() => {
    // The location is that of the next page before this one is gone.
    if (location.pathname.endsWith('/operator/accounts'))
      rememberListSearch(location.search as Readonly<Record<string, string>>)
  }, [location])
  const t = useText(operatorText)
  const pick = usePick()
  const language = useLanguage()
  const navigate = useNavigate()
  const [params, setParams] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const state = states.find((known) => known === params.state)
  const sort = sorts.find((known) => known === params.sort) ?? 'created'
  const query: AccountQuery = {
    page: Number(params.page),
    size: Number(params.size),
    sort,
    order: params.order === 'asc' ? 'asc' : 'desc',
    ...(params.q === '' ? {} : { q: params.q }),
    ...(state ? { state } : {}),
  }
  const accounts = useApiQuery(operatorRoutes.accounts, query)
  const create = (
    <May change="accounts">
      <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
        {t.newAccount}
      </Button>
    </May>
  )
  return (
    <Page title={t.accounts} lead={t.accountsLead} actions={create}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <SearchFilter
          label={t.find}
          value={params.q}
          width={280}
          onSearch={(q) => setParams({ q, page: '1' })}
        />
        <Select
          aria-label={t.state}
          style={{ minWidth: 130 }}
          value={params.state}
          onChange={(value) => setParams({ state: value, page: '1' })}
          options={[
            { value: '', label: t.allStates },
            { value: 'active', label: t.active },
            { value: 'expired', label: t.expired },
            { value: 'suspended', label: t.suspended },
            { value: 'operator', label: t.operatorState },
          ]}
        />
      </div>
      <Card size="small">
        <List<AccountRow, NonNullable<typeof accounts.data>>
          query={accounts}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.accounts}
          empty={{ text: t.noAccounts, action: create }}
          onClear={params.q !== '' || state ? () => setParams(defaults) : undefined}
          onOpen={({ id }) => void navigate({ to: accountPath(id) })}
          onSort={(column, order) => setParams({ sort: column, order, page: '1' })}
          columns={[
            {
              title: t.username,
              key: 'username',
              sorter: true,
              sortOrder: sortOrderOf(params, 'username'),
              render: (_value, { id, username, operator_role }) => (
                <span className="row">
                  <AccountLink id={id}>{username}</AccountLink>
                  {operator_role !== null && (
                    <span className="muted small">
                      {t.operatorState} · {pick(roleTexts[operator_role].name)}
                    </span>
                  )}
                </span>
              ),
            },
            { title: t.state, card: 'side', render: (_value, account) => <AccountState account={account} /> },
            {
              title: t.balances,
              card: 'plain',
              render: (_value, { balances }) => (
                <span className="row small">
                  {balances.map(({ api_type, remaining }) => (
                    <span key={api_type} className="nowrap">
                      <span className="muted">{pick(shortTypeNames[api_type])}</span>{' '}
                      {formatCompactCount(remaining, language)}
                    </span>
                  ))}
                </span>
              ),
            },
            { title: t.lastCall, render: (_value, { last_call_at }) => <RelativeTime at={last_call_at} /> },
            {
              title: t.expires,
              key: 'expires',
              sorter: true,
              sortOrder: sortOrderOf(params, 'expires'),
              render: (_value, { expires_on }) => expires_on ?? <span className="muted">{t.noEnd}</span>,
            },
            {
              title: t.created,
              key: 'created',
              sorter: true,
              sortOrder: sortOrderOf(params, 'created'),
              render: (_value, { created_at }) => <RelativeTime at={created_at} />,
            },
          ]}
          footer={pageFooter(setParams)}
        />
      </Card>
      <NewAccountModal
        open={creating}
        onClose={() => setCreating(false)}
        onCreated={(id) => void navigate({ to: accountPath(id) })}
      />
    </Page>
  )
}
