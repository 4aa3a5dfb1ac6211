// One account: details, credits, and the actions of an operator.
import { EyeOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { App, Button, Descriptions, Drawer, Tabs } from 'antd'
import { type ReactNode, useState } from 'react'
import { viewAsParameter } from '../../contract/console/route.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { roleTexts } from '../../contract/console/roles.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May, useMayView } from '../frame/rights.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { RelativeTime, formatCount } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle } from '../parts/page.tsx'
import { LimitsTab } from './account-limits.tsx'
import { LedgerTab, NotesTab, RequestsTab, SessionsTab } from './account-tabs.tsx'
import { AccountState } from './account-state.tsx'
import { ChangeAccountModal } from './change-account.tsx'
import { ChangeRoleModal } from './change-role.tsx'
import { CreditModal } from './credit-modal.tsx'
import { OnceDialog } from './once-box.tsx'
import { operatorText } from './text.ts'
import { tokensText } from './tokens-text.ts'

export function AccountDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useText(operatorText)
  const account = useApiQuery(operatorRoutes.account, {}, { params: { id }, enabled: id !== '' })
  return (
    <Drawer
      open={id !== ''}
      size={960}
      title={objectTitle(t.account, account.data?.username)}
      onClose={onClose}
      destroyOnHidden
    >
      {id !== '' && <LoadedAccount key={id} id={id} />}
    </Drawer>
  )
}

function LoadedAccount({ id }: { id: string }): ReactNode {
  const account = useApiQuery(operatorRoutes.account, {}, { params: { id } })
  return <Loaded query={account}>{(data) => <AccountContent account={data} />}</Loaded>
}

function AccountContent({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const mayView = useMayView()
  const { id } = account
  return (
    <Tabs
      destroyOnHidden
      items={[
        { key: 'overview', label: t.tabOverview, children: <AccountOverview account={account} /> },
        { key: 'limits', label: t.tabLimits, children: <LimitsTab account={account} /> },
        ...(mayView
          ? [
              { key: 'ledger', label: t.tabLedger, children: <LedgerTab id={id} /> },
              { key: 'requests', label: t.tabRequests, children: <RequestsTab id={id} /> },
            ]
          : []),
        { key: 'notes', label: t.tabNotes, children: <NotesTab id={id} /> },
        ...(mayView ? [{ key: 'sessions', label: t.tabSessions, children: <SessionsTab id={id} /> }] : []),
      ]}
    />
  )
}

function AccountOverview({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const roles = useText(tokensText)
  const mayView = useMayView()
  const [action, setAction] = useState<'change' | 'credits' | 'suspend' | 'password' | 'role'>()
  const close = () => setAction(undefined)
  return (
    <div className="stack">
      <div className="row-between">
        <span className="row">
          <strong style={{ fontSize: 18 }}>{account.username}</strong>
          <AccountState account={account} />
        </span>
        <Link to="/operator/webhooks" search={{ account: String(account.id) }}>
          {t.accountWebhooks}
        </Link>
        {mayView && (
          <Button
            icon={<EyeOutlined />}
            href={`/console/?${viewAsParameter}=${account.id}`}
            target="_blank"
            rel="noopener"
          >
            {t.viewAs}
          </Button>
        )}
      </div>
      <Details account={account} />
      <Credits account={account} />
      <div className="row">
        <May change="credits">
          <Button type="primary" onClick={() => setAction('credits')}>
            {t.grantTitle}
          </Button>
        </May>
        {account.role === 'operator' && (
          <May change="operators">
            <Button onClick={() => setAction('role')}>{roles.changeRole}</Button>
          </May>
        )}
        <May change="accounts">
          <Button onClick={() => setAction('change')}>{t.change}</Button>
          <Button onClick={() => setAction('password')}>{t.resetPassword}</Button>
          <Button danger={!account.suspended} onClick={() => setAction('suspend')}>
            {account.suspended ? t.resume : t.suspend}
          </Button>
        </May>
      </div>
      <CreditModal open={action === 'credits'} account={account} onClose={close} />
      <ChangeAccountModal open={action === 'change'} account={account} onClose={close} />
      <ChangeRoleModal open={action === 'role'} account={account} onClose={close} />
      <SuspendDialog open={action === 'suspend'} account={account} onClose={close} />
      <ResetPasswordDialog open={action === 'password'} account={account} onClose={close} />
    </div>
  )
}

function Details({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const roles = useText(tokensText)
  const pick = usePick()
  const limit = account.rate_limit ?? account.platform_rate_limit
  const limitText = limit ? t.limitText(formatCount(limit.per_second), formatCount(limit.burst)) : t.unlimited
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
        ...(account.operator_role === null
          ? []
          : [{ key: 'role', label: roles.role, children: pick(roleTexts[account.operator_role].name) }]),
        { key: 'created', label: t.created, children: <RelativeTime at={account.created_at} /> },
        { key: 'expires', label: t.expires, children: account.expires_on ?? t.noEnd },
        {
          key: 'key',
          label: t.key,
          children: account.key_hint ? <span className="mono">{account.key_hint}</span> : t.noKey,
        },
        { key: 'last', label: t.lastCall, children: <RelativeTime at={account.last_call_at} /> },
        {
          key: 'calls',
          label: t.calls7,
          children: `${formatCount(account.calls_7d)} (${t.failed7(formatCount(account.failed_7d))})`,
        },
        { key: 'sessions', label: t.sessions, children: formatCount(account.sessions) },
        { key: 'sms', label: t.sms, children: account.sms_enabled ? t.on : t.off },
        { key: 'sign', label: t.signName, children: account.sign_name ?? t.platformSign },
        {
          key: 'limit',
          label: t.limit,
          span: 'filled',
          children: account.rate_limit ? limitText : t.platformLimit(limitText),
        },
      ]}
    />
  )
}

function Credits({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const pick = usePick()
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">{t.credits}</th>
          <th scope="col" className="num">
            {t.remaining}
          </th>
          <th scope="col" className="num">
            {t.used}
          </th>
          <th scope="col" className="num">
            {t.total}
          </th>
        </tr>
      </thead>
      <tbody>
        {account.balances.map(({ api_type, remaining, used, total }) => (
          <tr key={api_type}>
            <th scope="row">{pick(apiTypeNames[api_type])}</th>
            <td className="num">{formatCount(remaining)}</td>
            <td className="num">{formatCount(used)}</td>
            <td className="num">{formatCount(total)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface ActionProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

function SuspendDialog({ open, account, onClose }: ActionProps): ReactNode {
  const t = useText(operatorText)
  const { message } = App.useApp()
  const change = useApiMutation(operatorRoutes.changeAccount)
  const { suspended, username } = account
  return (
    <Confirm
      open={open}
      danger={!suspended}
      withNote
      title={suspended ? t.resume : t.suspend}
      consequence={suspended ? t.resumeText(username) : t.suspendText(username)}
      ok={suspended ? t.resume : t.suspend}
      onClose={onClose}
      onConfirm={async ({ note }) => {
        await change.mutateAsync({ body: { note, suspended: !suspended }, params: { id: account.id } })
        message.success(t.saved)
      }}
    />
  )
}

function ResetPasswordDialog({ open, account, onClose }: ActionProps): ReactNode {
  const t = useText(operatorText)
  const reset = useApiMutation(operatorRoutes.resetPassword)
  const [password, setPassword] = useState<string>()
  return (
    <>
      <Confirm
        open={open}
        danger
        withNote
        title={t.resetPassword}
        consequence={t.resetPasswordText(account.username)}
        ok={t.resetPassword}
        onClose={onClose}
        onConfirm={async ({ note }) => {
          const { password: newPassword } = await reset.mutateAsync({
            body: { note },
            params: { id: account.id },
          })
          setPassword(newPassword)
        }}
      />
      <OnceDialog
        open={password !== undefined}
        title={t.newPassword}
        username={account.username}
        password={password ?? ''}
        onSaved={() => setPassword(undefined)}
      />
    </>
  )
}
