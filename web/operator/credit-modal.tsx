// Granting credits, or taking some back.
import { App, Form, InputNumber, Segmented, Select } from 'antd'
import type { ReactNode } from 'react'
import { type AccountDetail, operatorRoutes } from '../../contract/console/operator.ts'
import { type ApiType, apiTypeNames, apiTypes, largestGrant } from '../../contract/credits.ts'
import { useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { count } from '../parts/figures.tsx'
import { OperatorForm } from './operator-form.tsx'
import { operatorText } from './text.ts'

interface Typed {
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
  const words = useText(operatorText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<Typed & { note: string }>()
  const isTaking = Form.useWatch('direction', form) === 'take'
  const change = useTell(operatorRoutes.changeCredits)
  return (
    <OperatorForm<Typed>
      open={open}
      title={`${words.grantTitle} · ${account.username}`}
      ok={isTaking ? words.take : words.grant}
      warning={isTaking ? words.takeText(account.username) : undefined}
      form={form}
      initial={{ direction: 'grant', api_type: 'sms' }}
      onClose={onClose}
      onSubmit={async (sent) => {
        const { remaining } = await change.mutateAsync({ sent, parts: { id: account.id } })
        message.success(words.granted(count(remaining)))
      }}
    >
      <Form.Item name="direction" label={words.direction}>
        <Segmented
          options={[
            { value: 'grant', label: words.grant },
            { value: 'take', label: words.take },
          ]}
        />
      </Form.Item>
      <Form.Item name="api_type" label={words.type}>
        <Select options={apiTypes.map((value) => ({ value, label: pick(apiTypeNames[value]) }))} />
      </Form.Item>
      <Form.Item name="amount" label={words.amount} rules={[{ required: true, message: words.amountRule }]}>
        <InputNumber min={1} max={largestGrant} precision={0} style={{ width: '100%' }} />
      </Form.Item>
    </OperatorForm>
  )
}
