// Accounts: find one, open it, make a new one.
import { PlusOutlined } from '@ant-design/icons'
import { Button, Card, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { type AccountQuery, type AccountRow, operatorRoutes } from '../../contract/console/operator.ts'
import { useAsk } from '../api/hooks.ts'
import { useLanguage, usePick, useText } from '../frame/text.ts'
import { shortTypeNames } from '../parts/credit-names.ts'
import { Ago, shortCount } from '../parts/figures.tsx'
import { List, Pager } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { AccountDrawer } from './account-drawer.tsx'
import { AccountState } from './account-state.tsx'
import { NewAccountModal } from './new-account.tsx'
import { operatorText } from './text.ts'

const defaults = { q: '', state: '', sort: 'created', order: 'desc', page: '1', size: '20', open: '' }
const states = ['active', 'expired', 'suspended', 'operator'] as const
const sorts = ['created', 'username', 'expires'] as const

export function AccountsPage(): ReactNode {
  const words = useText(operatorText)
  const pick = usePick()
  const language = useLanguage()
  const [shown, show] = useUrlState(defaults)
  const [creating, setCreating] = useState(false)
  const state = states.find((known) => known === shown.state)
  const sort = sorts.find((known) => known === shown.sort) ?? 'created'
  const query: AccountQuery = {
    page: Number(shown.page),
    size: Number(shown.size),
    sort,
    order: shown.order === 'asc' ? 'asc' : 'desc',
    ...(shown.q === '' ? {} : { q: shown.q }),
    ...(state ? { state } : {}),
  }
  const accounts = useAsk(operatorRoutes.accounts, query)
  const orderOf = (column: string) =>
    shown.sort === column ? (shown.order === 'asc' ? ('ascend' as const) : ('descend' as const)) : null
  const create = (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setCreating(true)}>
      {words.newAccount}
    </Button>
  )
  return (
    <Page title={words.accounts} lead={words.accountsLead} actions={create}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <Input.Search
          key={shown.q}
          allowClear
          style={{ width: 280, maxWidth: '100%' }}
          placeholder={words.find}
          aria-label={words.find}
          defaultValue={shown.q}
          onSearch={(q) => show({ q: q.trim(), page: '1' })}
        />
        <Select
          aria-label={words.state}
          style={{ minWidth: 130 }}
          value={shown.state}
          onChange={(value) => show({ state: value, page: '1' })}
          options={[
            { value: '', label: words.allStates },
            { value: 'active', label: words.active },
            { value: 'expired', label: words.expired },
            { value: 'suspended', label: words.suspended },
            { value: 'operator', label: words.operatorState },
          ]}
        />
      </div>
      <Card size="small">
        <List<AccountRow, NonNullable<typeof accounts.data>>
          asked={accounts}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.accounts}
          empty={{ text: words.noAccounts, action: create }}
          onClear={shown.q !== '' || state ? () => show(defaults) : undefined}
          onOpen={({ id }) => show({ open: String(id) })}
          onSort={(column, order) => show({ sort: column, order, page: '1' })}
          columns={[
            {
              title: words.username,
              key: 'username',
              sorter: true,
              sortOrder: orderOf('username'),
              render: (_value, { id, username, role }) => (
                <span className="row">
                  <Button
                    type="link"
                    size="small"
                    style={{ paddingInline: 0 }}
                    onClick={(event) => {
                      event.stopPropagation()
                      show({ open: String(id) })
                    }}
                  >
                    {username}
                  </Button>
                  {role === 'operator' && <span className="muted small">{words.operatorState}</span>}
                </span>
              ),
            },
            { title: words.state, render: (_value, account) => <AccountState account={account} /> },
            {
              title: words.balances,
              render: (_value, { balances }) => (
                <span className="row small">
                  {balances.map(({ api_type, remaining }) => (
                    <span key={api_type} className="nowrap">
                      <span className="muted">{pick(shortTypeNames[api_type])}</span>{' '}
                      {shortCount(remaining, language)}
                    </span>
                  ))}
                </span>
              ),
            },
            { title: words.lastCall, render: (_value, { last_call_at }) => <Ago at={last_call_at} /> },
            {
              title: words.expires,
              key: 'expires',
              sorter: true,
              sortOrder: orderOf('expires'),
              render: (_value, { expires_on }) => expires_on ?? <span className="muted">{words.noEnd}</span>,
            },
            {
              title: words.created,
              key: 'created',
              sorter: true,
              sortOrder: orderOf('created'),
              render: (_value, { created_at }) => <Ago at={created_at} />,
            },
          ]}
          footer={({ page, size, total }) => (
            <Pager
              page={page}
              size={size}
              total={total}
              onChange={(next, length) => show({ page: String(next), size: String(length) })}
            />
          )}
        />
      </Card>
      <AccountDrawer id={shown.open} onClose={() => show({ open: '' })} />
      <NewAccountModal
        open={creating}
        onClose={() => setCreating(false)}
        onMade={(id) => show({ open: String(id) })}
      />
    </Page>
  )
}
