// One account: its facts, its credits, and what an operator can change.
import { EyeOutlined } from '@ant-design/icons'
import { App, Button, Descriptions, Drawer, Modal } from 'antd'
import { type ReactNode, useState } from 'react'
import { viewAsParameter } from '../../contract/console/route.ts'
import { type AccountDetail, operatorRoutes } from '../../contract/console/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { RelativeTime, formatCount } from '../parts/format.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { AccountState } from './account-state.tsx'
import { ChangeAccountModal } from './change-account.tsx'
import { CreditModal } from './credit-modal.tsx'
import { OnceBox } from './once-box.tsx'
import { operatorText } from './text.ts'

export function AccountDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const t = useText(operatorText)
  return (
    <Drawer open={id !== ''} size={640} title={t.account} onClose={onClose} destroyOnHidden>
      {id !== '' && <OneAccount key={id} id={id} />}
    </Drawer>
  )
}

function OneAccount({ id }: { id: string }): ReactNode {
  const account = useApiQuery(operatorRoutes.account, {}, { params: { id } })
  return <Loaded query={account}>{(got) => <Whole account={got} />}</Loaded>
}

function Whole({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const [step, setStep] = useState<'change' | 'credits' | 'suspend' | 'password'>()
  const close = () => setStep(undefined)
  return (
    <div className="stack">
      <div className="row-between">
        <span className="row">
          <strong style={{ fontSize: 18 }}>{account.username}</strong>
          <AccountState account={account} />
        </span>
        <Button
          icon={<EyeOutlined />}
          href={`/console/?${viewAsParameter}=${account.id}`}
          target="_blank"
          rel="noopener"
        >
          {t.viewAs}
        </Button>
      </div>
      <Facts account={account} />
      <Credits account={account} />
      <div className="row">
        <Button type="primary" onClick={() => setStep('credits')}>
          {t.grantTitle}
        </Button>
        <Button onClick={() => setStep('change')}>{t.change}</Button>
        <Button onClick={() => setStep('password')}>{t.resetPassword}</Button>
        <Button danger={!account.suspended} onClick={() => setStep('suspend')}>
          {account.suspended ? t.resume : t.suspend}
        </Button>
      </div>
      <CreditModal open={step === 'credits'} account={account} onClose={close} />
      <ChangeAccountModal open={step === 'change'} account={account} onClose={close} />
      <SuspendStep open={step === 'suspend'} account={account} onClose={close} />
      <PasswordStep open={step === 'password'} account={account} onClose={close} />
    </div>
  )
}

function Facts({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(operatorText)
  const limit = account.rate_limit ?? account.platform_rate_limit
  const limitText = limit ? t.limitText(formatCount(limit.per_second), formatCount(limit.burst)) : t.unlimited
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
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

interface StepProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

function SuspendStep({ open, account, onClose }: StepProps): ReactNode {
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

function PasswordStep({ open, account, onClose }: StepProps): ReactNode {
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
          const made = await reset.mutateAsync({ body: { note }, params: { id: account.id } })
          setPassword(made.password)
        }}
      />
      <Modal
        open={password !== undefined}
        title={t.newPassword}
        footer={null}
        onCancel={() => setPassword(undefined)}
      >
        <OnceBox username={account.username} password={password ?? ''} />
      </Modal>
    </>
  )
}
