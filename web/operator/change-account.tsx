// The dialog that edits an account: expiry, SMS service, signature, rate limit.
import { App, Form, Input, InputNumber, Switch } from 'antd'
import { type ReactNode, useMemo } from 'react'
import { maxAccountRate } from '../../contract/console/limits.ts'
import { type AccountChange, operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { sms } from '../../contract/sms.ts'
import { formatDay } from '../../contract/time.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ClearIcon } from '../parts/clear-icon.tsx'
import { partsText } from '../parts/text.ts'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'

interface AccountSettings {
  readonly expires_on: string
  readonly sms_enabled: boolean
  readonly sign_name: string
  readonly own_limit: boolean
  readonly per_second: number
  readonly burst: number
}

interface ChangeAccountModalProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

export function ChangeAccountModal({ open, account, onClose }: ChangeAccountModalProps): ReactNode {
  const t = useText(operatorText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<AccountSettings & { note: string }>()
  const hasLimit = Form.useWatch('own_limit', form)
  const smsOn = Form.useWatch('sms_enabled', form)
  const until = Form.useWatch('expires_on', form)
  const change = useApiMutation(operatorRoutes.changeAccount)
  const limit = account.rate_limit ?? account.platform_rate_limit
  // What the operator began with: a refetch must not change what is compared.
  const before = useMemo<AccountSettings>(
    () => ({
      expires_on: account.expires_on ?? '',
      sms_enabled: account.sms_enabled,
      sign_name: account.sign_name ?? '',
      own_limit: account.rate_limit !== null,
      per_second: limit?.per_second ?? 100,
      burst: limit?.burst ?? 200,
    }),
    [open],
  )
  const warnings = [
    until && until !== before.expires_on && until < formatDay(Date.now()) && t.pastText(account.username),
    smsOn === false && before.sms_enabled && t.smsOffText(account.username),
  ].filter((text) => typeof text === 'string' && text !== '')
  return (
    <OperatorForm<AccountSettings>
      open={open}
      title={`${t.changeAccount} · ${account.username}`}
      ok={common.save}
      warning={warnings.length === 0 ? undefined : warnings.join(' ')}
      form={form}
      initial={before}
      onClose={onClose}
      onSubmit={async (fields) => {
        await change.mutateAsync({ body: changedFields(before, fields), params: { id: account.id } })
        message.success(t.saved)
      }}
    >
      <Form.Item name="expires_on" label={t.setExpires} extra={t.emptyNoEnd}>
        <Input type="date" allowClear={{ clearIcon: <ClearIcon /> }} />
      </Form.Item>
      <Form.Item name="sms_enabled" label={t.sms} valuePropName="checked">
        <Switch checkedChildren={t.on} unCheckedChildren={t.off} />
      </Form.Item>
      <Form.Item name="sign_name" label={t.signName} extra={t.emptySign}>
        <Input
          maxLength={sms.operations.send.parameters.sign_name.maxLength}
          allowClear={{ clearIcon: <ClearIcon /> }}
        />
      </Form.Item>
      <Form.Item name="own_limit" label={t.ownLimit} valuePropName="checked">
        <Switch />
      </Form.Item>
      {hasLimit && (
        <div className="row">
          <Form.Item
            name="per_second"
            label={t.perSecond}
            rules={[{ required: true, message: common.required }]}
          >
            <InputNumber min={1} max={maxAccountRate} precision={0} />
          </Form.Item>
          <Form.Item name="burst" label={t.burst} rules={[{ required: true, message: common.required }]}>
            <InputNumber min={1} max={maxAccountRate} precision={0} />
          </Form.Item>
        </div>
      )}
    </OperatorForm>
  )
}

/** Sends only the changed fields, so that two operators do not overwrite each other's changes. */
function changedFields(
  before: AccountSettings,
  { note, ...fields }: AccountSettings & { note: string },
): AccountChange {
  const { expires_on, sms_enabled, sign_name, own_limit } = fields
  const per_second = fields.per_second ?? before.per_second
  const burst = fields.burst ?? before.burst
  const sameLimit =
    own_limit === before.own_limit &&
    (!own_limit || (per_second === before.per_second && burst === before.burst))
  return {
    note,
    ...(expires_on === before.expires_on ? {} : { expires_on: expires_on || null }),
    ...(sms_enabled === before.sms_enabled ? {} : { sms_enabled }),
    ...(sign_name === before.sign_name ? {} : { sign_name: sign_name || null }),
    ...(sameLimit ? {} : { rate_limit: own_limit ? { per_second, burst } : null }),
  }
}
