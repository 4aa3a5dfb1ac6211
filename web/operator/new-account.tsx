// The dialog that creates an account or an operator. The password is shown once.
import { Form, Input, InputNumber, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { flushSync } from 'react-dom'
import { maxPasswordLength, maxUsernameLength } from '../../contract/console/limits.ts'
import { operatorAdminRoutes } from '../../contract/console/operators.ts'
import { operatorRoutes } from '../../contract/console/operator.ts'
import { type OperatorRole, operatorRoles, roleTexts } from '../../contract/console/roles.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { partsText } from '../parts/text.ts'
import { OnceDialog } from './once-box.tsx'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'
import { tokensText } from './tokens-text.ts'

interface AccountFields {
  readonly username: string
  readonly role: OperatorRole | 'account'
  readonly password?: string
  readonly expires_on?: string
  readonly credits?: Partial<Record<ApiType, number | null>>
}

interface NewAccountModalProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onCreated: (id: number) => void
}

export function NewAccountModal({ open, onClose, onCreated }: NewAccountModalProps): ReactNode {
  const t = useText(operatorText)
  const roles = useText(tokensText)
  const common = useText(partsText)
  const pick = usePick()
  const [form] = Form.useForm<AccountFields & { note: string }>()
  const create = useApiMutation(operatorRoutes.createAccount)
  const createOperator = useApiMutation(operatorAdminRoutes.createOperator)
  const isOperator = (Form.useWatch('role', form) ?? 'account') !== 'account'
  const [created, setCreated] = useState<{
    readonly account: { readonly id: number; readonly username: string }
    readonly password: string
  }>()
  return (
    <>
      <OperatorForm<AccountFields>
        open={open}
        title={t.newAccount}
        ok={t.newAccount}
        form={form}
        noteExtra={t.noteInLedger}
        initial={{ role: 'account' }}
        onClose={onClose}
        onSubmit={async ({ note, username, role, password, expires_on, credits = {} }) => {
          if (role !== 'account') {
            const body = { note, username: username.trim(), role }
            return setCreated(await createOperator.mutateAsync({ body }))
          }
          const given = Object.entries(credits).filter(([, amount]) => (amount ?? 0) > 0)
          const body = {
            note,
            username: username.trim(),
            ...(password ? { password } : {}),
            ...(expires_on ? { expires_on } : {}),
            ...(given.length > 0
              ? { credits: Object.fromEntries(given) as Partial<Record<ApiType, number>> }
              : {}),
          }
          setCreated(await create.mutateAsync({ body }))
        }}
      >
        <Form.Item name="username" label={t.username} rules={[{ required: true, message: common.required }]}>
          <Input autoComplete="off" maxLength={maxUsernameLength} />
        </Form.Item>
        <Form.Item name="role" label={roles.role}>
          <Select
            options={[
              { value: 'account', label: roles.accountHolder },
              ...operatorRoles.map((value) => ({
                value,
                label: `${t.operatorState} · ${pick(roleTexts[value].name)}`,
              })),
            ]}
          />
        </Form.Item>
        <Form.Item name="password" label={t.password} extra={t.passwordHint} hidden={isOperator}>
          <Input autoComplete="off" maxLength={maxPasswordLength} />
        </Form.Item>
        <Form.Item name="expires_on" label={t.setExpires} extra={t.emptyNoEnd} hidden={isOperator}>
          <Input type="date" />
        </Form.Item>
        <fieldset className="plain-fieldset" hidden={isOperator}>
          <legend>{t.firstCredits}</legend>
          <div className="grid-half">
            {apiTypes.map((apiType) => (
              <Form.Item key={apiType} name={['credits', apiType]} label={pick(apiTypeNames[apiType])}>
                <InputNumber min={0} max={maxGrant} precision={0} style={{ width: '100%' }} placeholder="0" />
              </Form.Item>
            ))}
          </div>
        </fieldset>
      </OperatorForm>
      <OnceDialog
        open={created !== undefined}
        title={t.createdTitle}
        username={created?.account.username ?? ''}
        password={created?.password ?? ''}
        onSaved={() => {
          // The guard of the password ends first: it would ask before the page of the account opens.
          flushSync(() => setCreated(undefined))
          if (created) onCreated(created.account.id)
        }}
      />
    </>
  )
}
