// The dialog that changes the role of an operator.
import { App, Form, Radio } from 'antd'
import type { ReactNode } from 'react'
import { operatorAdminRoutes } from '../../contract/console/operators.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { type OperatorRole, operatorRoles, roleTexts } from '../../contract/console/roles.ts'
import { useApiMutation, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { partsText } from '../parts/text.ts'
import { OperatorForm } from './operator-form.tsx'
import { tokensText } from './tokens-text.ts'

interface ChangeRoleProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

export function ChangeRoleModal({ open, account, onClose }: ChangeRoleProps): ReactNode {
  const t = useText(tokensText)
  const common = useText(partsText)
  const pick = usePick()
  const { message } = App.useApp()
  const me = useMe().data
  const [form] = Form.useForm<{ role: OperatorRole; note: string }>()
  const role = Form.useWatch('role', form)
  const change = useApiMutation(operatorAdminRoutes.changeRole)
  const losesOwner = account.operator_role === 'owner' && role !== undefined && role !== 'owner'
  return (
    <OperatorForm<{ role: OperatorRole }>
      open={open}
      title={`${t.changeRole} · ${account.username}`}
      ok={common.save}
      warning={losesOwner ? (me?.user.id === account.id ? t.ownRoleText : t.lessText) : undefined}
      form={form}
      initial={{ role: account.operator_role ?? 'auditor' }}
      onClose={onClose}
      onSubmit={async (body) => {
        await change.mutateAsync({ body, params: { id: account.id } })
        message.success(t.roleChanged)
      }}
    >
      <Form.Item name="role" label={t.role}>
        <Radio.Group
          className="stack-8"
          options={operatorRoles.map((value) => ({
            value,
            label: (
              <span>
                {pick(roleTexts[value].name)}{' '}
                <span className="muted small">{pick(roleTexts[value].text)}</span>
              </span>
            ),
          }))}
        />
      </Form.Item>
    </OperatorForm>
  )
}
