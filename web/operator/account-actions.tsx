// What an operator can do with an account: the buttons of its page and their dialogs.
import { EyeOutlined } from '@ant-design/icons'
import { App, Button } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { viewAsParameter } from '../../contract/console/route.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { May, useMayView } from '../frame/rights.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { accountText } from './account-text.ts'
import { ChangeAccountModal } from './change-account.tsx'
import { ChangeRoleModal } from './change-role.tsx'
import { CreditModal } from './credit-modal.tsx'
import { OnceDialog } from './once-box.tsx'
import { operatorText } from './text.ts'
import { tokensText } from './tokens-text.ts'

export function AccountActions({ account }: { account: AccountDetail }): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
  const roles = useText(tokensText)
  const mayView = useMayView()
  const [action, setAction] = useState<'change' | 'credits' | 'suspend' | 'password' | 'role'>()
  const close = () => setAction(undefined)
  return (
    <>
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
      {account.role === 'operator' && (
        <May change="operators">
          <Button onClick={() => setAction('role')}>{roles.changeRole}</Button>
        </May>
      )}
      <May change="accounts">
        <Button onClick={() => setAction('change')}>{common.change}</Button>
        <Button onClick={() => setAction('password')}>{t.resetPassword}</Button>
        <Button danger={!account.suspended} onClick={() => setAction('suspend')}>
          {account.suspended ? t.resume : t.suspend}
        </Button>
      </May>
      <May change="credits">
        <Button type="primary" onClick={() => setAction('credits')}>
          {common.grantTitle}
        </Button>
      </May>
      <CreditModal open={action === 'credits'} account={account} onClose={close} />
      <ChangeAccountModal open={action === 'change'} account={account} onClose={close} />
      <ChangeRoleModal open={action === 'role'} account={account} onClose={close} />
      <SuspendDialog open={action === 'suspend'} account={account} onClose={close} />
      <ResetPasswordDialog open={action === 'password'} account={account} onClose={close} />
    </>
  )
}

interface ActionProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

function SuspendDialog({ open, account, onClose }: ActionProps): ReactNode {
  const t = useText(accountText)
  const common = useText(operatorText)
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
        message.success(common.saved)
      }}
    />
  )
}

function ResetPasswordDialog({ open, account, onClose }: ActionProps): ReactNode {
  const t = useText(accountText)
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
