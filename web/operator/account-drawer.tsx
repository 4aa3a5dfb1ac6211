// One account: its facts, its credits, and what an operator can change.
import { EyeOutlined } from '@ant-design/icons'
import { App, Button, Descriptions, Drawer, Modal } from 'antd'
import { type ReactNode, useState } from 'react'
import { viewAsParameter } from '../../contract/console/route.ts'
import { type AccountDetail, operatorRoutes } from '../../contract/console/operator.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { useAsk, useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Ago, count } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { AccountState } from './account-state.tsx'
import { ChangeAccountModal } from './change-account.tsx'
import { CreditModal } from './credit-modal.tsx'
import { OnceBox } from './once-box.tsx'
import { operatorText } from './text.ts'

export function AccountDrawer({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const words = useText(operatorText)
  return (
    <Drawer open={id !== ''} size={640} title={words.account} onClose={onClose} destroyOnHidden>
      {id !== '' && <OneAccount key={id} id={id} />}
    </Drawer>
  )
}

function OneAccount({ id }: { id: string }): ReactNode {
  const account = useAsk(operatorRoutes.account, {}, { parts: { id } })
  return <Loaded asked={account}>{(got) => <Whole account={got} />}</Loaded>
}

function Whole({ account }: { account: AccountDetail }): ReactNode {
  const words = useText(operatorText)
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
          {words.viewAs}
        </Button>
      </div>
      <Facts account={account} />
      <Credits account={account} />
      <div className="row">
        <Button type="primary" onClick={() => setStep('credits')}>
          {words.grantTitle}
        </Button>
        <Button onClick={() => setStep('change')}>{words.change}</Button>
        <Button onClick={() => setStep('password')}>{words.resetPassword}</Button>
        <Button danger={!account.suspended} onClick={() => setStep('suspend')}>
          {account.suspended ? words.resume : words.suspend}
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
  const words = useText(operatorText)
  const limit = account.rate_limit ?? account.platform_rate_limit
  const limitText = limit ? words.limitText(count(limit.per_second), count(limit.burst)) : words.unlimited
  return (
    <Descriptions
      size="small"
      column={{ xs: 1, sm: 2 }}
      items={[
        { key: 'created', label: words.created, children: <Ago at={account.created_at} /> },
        { key: 'expires', label: words.expires, children: account.expires_on ?? words.noEnd },
        {
          key: 'key',
          label: words.key,
          children: account.key_hint ? <span className="mono">{account.key_hint}</span> : words.noKey,
        },
        { key: 'last', label: words.lastCall, children: <Ago at={account.last_call_at} /> },
        {
          key: 'calls',
          label: words.calls7,
          children: `${count(account.calls_7d)} (${words.failed7(count(account.failed_7d))})`,
        },
        { key: 'sessions', label: words.sessions, children: count(account.sessions) },
        { key: 'sms', label: words.sms, children: account.sms_enabled ? words.on : words.off },
        { key: 'sign', label: words.signName, children: account.sign_name ?? words.platformSign },
        {
          key: 'limit',
          label: words.limit,
          span: 'filled',
          children: account.rate_limit ? limitText : words.platformLimit(limitText),
        },
      ]}
    />
  )
}

function Credits({ account }: { account: AccountDetail }): ReactNode {
  const words = useText(operatorText)
  const pick = usePick()
  return (
    <table className="plain-table">
      <thead>
        <tr>
          <th scope="col">{words.credits}</th>
          <th scope="col" className="num">
            {words.remaining}
          </th>
          <th scope="col" className="num">
            {words.used}
          </th>
          <th scope="col" className="num">
            {words.total}
          </th>
        </tr>
      </thead>
      <tbody>
        {account.balances.map(({ api_type, remaining, used, total }) => (
          <tr key={api_type}>
            <th scope="row">{pick(apiTypeNames[api_type])}</th>
            <td className="num">{count(remaining)}</td>
            <td className="num">{count(used)}</td>
            <td className="num">{count(total)}</td>
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
  const words = useText(operatorText)
  const { message } = App.useApp()
  const change = useTell(operatorRoutes.changeAccount)
  const { suspended, username } = account
  return (
    <Confirm
      open={open}
      danger={!suspended}
      withNote
      title={suspended ? words.resume : words.suspend}
      consequence={suspended ? words.resumeText(username) : words.suspendText(username)}
      ok={suspended ? words.resume : words.suspend}
      onClose={onClose}
      onConfirm={async ({ note }) => {
        await change.mutateAsync({ sent: { note, suspended: !suspended }, parts: { id: account.id } })
        message.success(words.saved)
      }}
    />
  )
}

function PasswordStep({ open, account, onClose }: StepProps): ReactNode {
  const words = useText(operatorText)
  const reset = useTell(operatorRoutes.resetPassword)
  const [password, setPassword] = useState<string>()
  return (
    <>
      <Confirm
        open={open}
        danger
        withNote
        title={words.resetPassword}
        consequence={words.resetPasswordText(account.username)}
        ok={words.resetPassword}
        onClose={onClose}
        onConfirm={async ({ note }) => {
          const made = await reset.mutateAsync({ sent: { note }, parts: { id: account.id } })
          setPassword(made.password)
        }}
      />
      <Modal
        open={password !== undefined}
        title={words.newPassword}
        footer={null}
        onCancel={() => setPassword(undefined)}
      >
        <OnceBox username={account.username} password={password ?? ''} />
      </Modal>
    </>
  )
}
