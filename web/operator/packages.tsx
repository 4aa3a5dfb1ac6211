// The packages that accounts can buy.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, InputNumber, Select, Switch } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxAmountLength } from '../../contract/console/limits.ts'
import { operatorPaymentRoutes, type PackageChange } from '../../contract/console/payments.ts'
import type { CreditPackage } from '../../contract/console/responses/payments.ts'
import { type ApiType, apiTypeNames, apiTypes, maxGrant } from '../../contract/credits.ts'
import { amountPattern, currencies, packageCodePattern, paymentLimits } from '../../contract/payments.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { formatMoney } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { CreditList } from '../payments/parts.tsx'
import { paymentsText } from '../payments/text.ts'
import { OperatorForm } from './operator-form.tsx'

const amountRegExp = new RegExp(amountPattern)

export function PackagesPage(): ReactNode {
  const t = useText(paymentsText)
  const { message } = App.useApp()
  const packages = useApiQuery(operatorPaymentRoutes.packages, {})
  const remove = useApiMutation(operatorPaymentRoutes.removePackage)
  const [editing, setEditing] = useState<CreditPackage | 'new'>()
  const [removing, setRemoving] = useState<CreditPackage>()
  const add = (
    <May change="orders">
      <Button type="primary" icon={<PlusOutlined />} onClick={() => setEditing('new')}>
        {t.addPackage}
      </Button>
    </May>
  )
  return (
    <Page title={t.packages} lead={t.packagesLead} actions={add}>
      <Card size="small">
        <List<CreditPackage, NonNullable<typeof packages.data>>
          query={packages}
          items={({ items }) => items}
          rowKey={({ code }) => code}
          label={t.packages}
          empty={{ text: t.noPackagesYet, action: add }}
          columns={[
            { title: t.code, render: (_value, { code }) => <span className="mono">{code}</span> },
            { title: t.name, dataIndex: 'name' },
            { title: t.credits, render: (_value, { credits }) => <CreditList credits={credits} /> },
            { title: t.price, align: 'end', render: (_value, one) => formatMoney(one.price, one.currency) },
            { title: t.hidden, render: (_value, { hidden }) => (hidden ? '✓' : '–') },
            {
              title: '',
              align: 'end',
              render: (_value, one) => (
                <May change="orders">
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button size="small" onClick={() => setEditing(one)}>
                      {t.change}
                    </Button>
                    <Button size="small" danger onClick={() => setRemoving(one)}>
                      {t.remove}
                    </Button>
                  </span>
                </May>
              ),
            },
          ]}
        />
      </Card>
      {editing !== undefined && <EditPackage edited={editing} onClose={() => setEditing(undefined)} />}
      <Confirm
        open={removing !== undefined}
        danger
        withNote
        title={t.removePackage}
        consequence={t.removeText(removing?.name ?? '')}
        ok={t.remove}
        onClose={() => setRemoving(undefined)}
        onConfirm={async ({ note }) => {
          if (!removing) return
          await remove.mutateAsync({ body: { note }, params: { code: removing.code } })
          message.success(t.removed)
        }}
      />
    </Page>
  )
}

interface PackageFields {
  readonly code: string
  readonly name: string
  readonly credits: Partial<Record<ApiType, number | null>>
  readonly price: string
  readonly currency: string
  readonly hidden: boolean
}

function EditPackage({ edited, onClose }: { edited: CreditPackage | 'new'; onClose: () => void }): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<PackageFields & { note: string }>()
  const add = useApiMutation(operatorPaymentRoutes.addPackage)
  const change = useApiMutation(operatorPaymentRoutes.changePackage)
  const isNew = edited === 'new'
  return (
    <OperatorForm<PackageFields>
      open
      title={isNew ? t.addPackage : t.changePackage}
      ok={isNew ? t.addPackage : t.changePackage}
      form={form}
      initial={isNew ? { currency: 'CNY', hidden: false, credits: {} } : edited}
      onClose={onClose}
      onSubmit={async ({ code, credits, ...fields }) => {
        const given = Object.fromEntries(
          Object.entries(credits).filter(([, amount]) => typeof amount === 'number'),
        )
        const body = { ...fields, credits: given as Partial<Record<ApiType, number>> }
        if (isNew) await add.mutateAsync({ body: { ...body, code } })
        else await change.mutateAsync({ body: changedFields(edited, body), params: { code: edited.code } })
        message.success(t.saved)
      }}
    >
      {isNew && (
        <Form.Item
          name="code"
          label={t.code}
          rules={[
            {
              required: true,
              pattern: new RegExp(packageCodePattern),
              message: t.codeRule(paymentLimits.packageCode),
            },
          ]}
        >
          <Input className="mono" maxLength={paymentLimits.packageCode} />
        </Form.Item>
      )}
      <Form.Item name="name" label={t.name} rules={[{ required: true, message: t.required }]}>
        <Input maxLength={paymentLimits.packageName} />
      </Form.Item>
      <fieldset className="plain-fieldset">
        <legend>{t.packageCredits}</legend>
        <div className="grid-half">
          {apiTypes.map((type) => (
            <Form.Item key={type} name={['credits', type]} label={pick(apiTypeNames[type])}>
              <InputNumber min={1} max={maxGrant} precision={0} style={{ width: '100%' }} placeholder="0" />
            </Form.Item>
          ))}
        </div>
      </fieldset>
      <div className="grid-half">
        <Form.Item
          name="price"
          label={t.price}
          rules={[{ required: true, pattern: amountRegExp, message: t.priceRule }]}
        >
          <Input inputMode="decimal" maxLength={maxAmountLength} />
        </Form.Item>
        <Form.Item name="currency" label={t.currency}>
          <Select options={currencies.map((value) => ({ value, label: value }))} />
        </Form.Item>
      </div>
      <Form.Item name="hidden" label={t.hidden} extra={t.hiddenText} valuePropName="checked">
        <Switch />
      </Form.Item>
    </OperatorForm>
  )
}

/** Sends only the changed fields, so that two operators do not overwrite each other's changes. */
function changedFields(before: CreditPackage, { note, ...fields }: PackageChange): PackageChange {
  const { name, credits, price, currency, hidden } = fields
  const isSameCredits = apiTypes.every((type) => credits?.[type] === before.credits[type])
  return {
    note,
    ...(name !== before.name && { name }),
    ...(!isSameCredits && { credits, credits_before: before.credits }),
    ...(price !== before.price && { price }),
    ...(currency !== before.currency && { currency }),
    ...(hidden !== before.hidden && { hidden }),
  }
}
