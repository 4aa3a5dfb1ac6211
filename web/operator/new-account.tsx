// Making an account: name, and whatever it should start with. The password is shown once.
import { Form, Input, InputNumber, Modal } from 'antd'
import { type ReactNode, useState } from 'react'
import { type CreatedAccount, operatorRoutes } from '../../contract/console/operator.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { partsText } from '../parts/text.ts'
import { OnceBox } from './once-box.tsx'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'

interface Typed {
  readonly username: string
  readonly password?: string
  readonly expires_on?: string
  readonly credits?: Partial<Record<ApiType, number | null>>
}

interface NewAccountModalProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly onMade: (id: number) => void
}

export function NewAccountModal({ open, onClose, onMade }: NewAccountModalProps): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const pick = usePick()
  const [form] = Form.useForm<Typed & { note: string }>()
  const create = useApiMutation(operatorRoutes.createAccount)
  const [made, setMade] = useState<CreatedAccount>()
  return (
    <>
      <OperatorForm<Typed>
        open={open}
        title={t.newAccount}
        ok={t.newAccount}
        form={form}
        onClose={onClose}
        onSubmit={async ({ note, username, password, expires_on, credits = {} }) => {
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
          setMade(await create.mutateAsync({ body }))
        }}
      >
        <Form.Item name="username" label={t.username} rules={[{ required: true, message: common.required }]}>
          <Input autoComplete="off" maxLength={64} />
        </Form.Item>
        <Form.Item name="password" label={t.passwordWord} extra={t.passwordHint}>
          <Input autoComplete="off" maxLength={200} />
        </Form.Item>
        <Form.Item name="expires_on" label={t.setExpires} extra={t.emptyNoEnd}>
          <Input type="date" />
        </Form.Item>
        <fieldset className="plain-fieldset">
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
      <Modal
        open={made !== undefined}
        title={t.createdTitle}
        footer={null}
        onCancel={() => {
          if (made) onMade(made.account.id)
          setMade(undefined)
        }}
      >
        {made && <OnceBox username={made.account.username} password={made.password} />}
      </Modal>
    </>
  )
}
