// The dialog that grants or deducts credits.
import { App, Form, InputNumber, Segmented, Select } from 'antd'
import type { ReactNode } from 'react'
import { operatorRoutes } from '../../contract/console/operator.ts'
import type { AccountDetail } from '../../contract/console/responses/operator.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatCount } from '../parts/format.tsx'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'

interface CreditFields {
  readonly direction: 'grant' | 'take'
  readonly api_type: ApiType
  readonly amount: number
}

interface CreditModalProps {
  readonly open: boolean
  readonly account: AccountDetail
  readonly onClose: () => void
}

export function CreditModal({ open, account, onClose }: CreditModalProps): ReactNode {
  const t = useText(operatorText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<CreditFields & { note: string }>()
  const isTaking = Form.useWatch('direction', form) === 'take'
  const change = useApiMutation(operatorRoutes.changeCredits, { idempotent: true })
  return (
    <OperatorForm<CreditFields>
      open={open}
      title={`${t.grantTitle} · ${account.username}`}
      ok={isTaking ? t.take : t.grant}
      warning={isTaking ? t.takeText(account.username) : undefined}
      form={form}
      noteExtra={t.noteInLedger}
      initial={{ direction: 'grant', api_type: 'sms' }}
      onClose={onClose}
      onSubmit={async (body) => {
        const { remaining } = await change.mutateAsync({ body, params: { id: account.id } })
        message.success(t.granted(formatCount(remaining)))
      }}
    >
      <Form.Item name="direction" label={t.direction}>
        <Segmented
          options={[
            { value: 'grant', label: t.grant },
            { value: 'take', label: t.take },
          ]}
        />
      </Form.Item>
      <Form.Item name="api_type" label={t.type}>
        <Select options={apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) }))} />
      </Form.Item>
      <Form.Item
        name="amount"
        label={t.amount}
        rules={[{ required: true, message: t.amountRule(formatCount(maxGrant)) }]}
      >
        <InputNumber min={1} max={maxGrant} precision={0} style={{ width: '100%' }} />
      </Form.Item>
    </OperatorForm>
  )
}
