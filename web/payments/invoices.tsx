// The account's invoices: requests with their state, and a form for a new one.
import { FileDoneOutlined } from '@ant-design/icons'
import { App, Button, Card, Checkbox, Drawer, Form, Input, Radio } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxMailLength } from '../../contract/console/limits.ts'
import { paymentRoutes } from '../../contract/console/payments.ts'
import type { Invoice, InvoiceableOrder } from '../../contract/console/responses/payments.ts'
import {
  formatMinor,
  type InvoiceKind,
  invoiceKinds,
  parseMinor,
  paymentLimits,
} from '../../contract/payments.ts'
import { formatDay } from '../../contract/time.ts'
import { routeUrl } from '../api/client.ts'
import { type ApiQuery, useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { formatMoney } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { InvoiceDetails, useInvoiceColumns } from './invoice-parts.tsx'
import { invoiceText } from './invoice-text.ts'

export function InvoicesPage(): ReactNode {
  const t = useText(invoiceText)
  const me = useMe()
  const canChange = me.data?.read_only === false
  const [params, setParams] = useUrlState({ before: '', open: '', request: '' })
  const invoices = useApiQuery(paymentRoutes.invoices, cursorQuery(params.before))
  const columns = useInvoiceColumns()
  const shown = invoices.data?.items.find(({ id }) => String(id) === params.open)
  const request = (
    <Button
      type="primary"
      icon={<FileDoneOutlined />}
      disabled={!canChange}
      onClick={() => setParams({ request: '1' })}
    >
      {t.request}
    </Button>
  )
  return (
    <Page title={t.invoices} lead={t.lead} actions={request}>
      <Card size="small">
        <List<Invoice, NonNullable<typeof invoices.data>>
          query={invoices}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.invoices}
          empty={{ text: t.none }}
          onOpen={({ id }) => setParams({ open: String(id) })}
          columns={[columns.id, columns.title, columns.kind, columns.amount, columns.state, columns.created]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <Drawer
        open={shown !== undefined}
        size={520}
        title={objectTitle(t.details, shown && `#${shown.id}`)}
        onClose={() => setParams({ open: '' })}
        destroyOnHidden
      >
        {shown && <OneInvoice invoice={shown} readOnly={me.data?.read_only !== false} />}
      </Drawer>
      {canChange && params.request !== '' && <RequestDialog onClose={() => setParams({ request: '' })} />}
    </Page>
  )
}

function OneInvoice({ invoice, readOnly }: { invoice: Invoice; readOnly: boolean }): ReactNode {
  const t = useText(invoiceText)
  const { message } = App.useApp()
  const [isWithdrawing, setWithdrawing] = useState(false)
  const withdraw = useApiMutation(paymentRoutes.withdrawInvoice)
  const params = { id: invoice.id }
  return (
    <div className="stack">
      {invoice.state === 'open' && (
        <div>
          <Button danger disabled={readOnly} onClick={() => setWithdrawing(true)}>
            {t.withdraw}
          </Button>
        </div>
      )}
      <InvoiceDetails invoice={invoice} fileUrl={routeUrl(paymentRoutes.invoiceFile, {}, params)} />
      <Confirm
        open={isWithdrawing}
        danger
        title={t.withdraw}
        consequence={t.withdrawText}
        ok={t.withdraw}
        onClose={() => setWithdrawing(false)}
        onConfirm={async () => {
          await withdraw.mutateAsync({ body: {}, params })
          message.success(t.withdrawn)
        }}
      />
    </div>
  )
}

interface RequestFields {
  readonly kind: InvoiceKind
  readonly title: string
  readonly tax_number?: string
  readonly address?: string
  readonly mail: string
  readonly note?: string
  readonly orders: string[]
}

function RequestDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText(invoiceText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<RequestFields>()
  const orders = useApiQuery(paymentRoutes.invoiceableOrders, {})
  const request = useApiMutation(paymentRoutes.requestInvoice)
  const [kind, setKind] = useState<InvoiceKind>('normal')
  const needed = [{ required: true, whitespace: true, message: t.required }]
  const forSpecial = kind === 'special' ? needed : []
  return (
    <FormDialog<RequestFields>
      open
      title={t.requestTitle}
      ok={t.submit}
      danger={false}
      form={form}
      initial={{ kind: 'normal', orders: [] }}
      onClose={onClose}
      onSubmit={async (body) => {
        await request.mutateAsync({ body })
        message.success(t.requested)
      }}
    >
      <Form.Item
        name="orders"
        label={t.orders}
        extra={t.ordersHint(paymentLimits.invoiceOrders)}
        rules={[{ required: true, message: t.required }]}
      >
        <OrderChoice orders={orders} />
      </Form.Item>
      <Form.Item name="kind" label={t.kind}>
        <Radio.Group
          onChange={(event) => setKind(event.target.value as InvoiceKind)}
          options={Object.entries(invoiceKinds).map(([value, text]) => ({ value, label: pick(text) }))}
        />
      </Form.Item>
      <Form.Item name="title" label={t.title} extra={t.titleHint} rules={needed}>
        <Input maxLength={paymentLimits.invoiceTitle} autoComplete="organization" />
      </Form.Item>
      <Form.Item
        name="tax_number"
        label={t.taxNumber}
        extra={t.taxHint(paymentLimits.minTaxNumber, paymentLimits.taxNumber)}
        rules={forSpecial}
      >
        <Input className="mono" maxLength={paymentLimits.taxNumber} autoComplete="off" />
      </Form.Item>
      <Form.Item name="address" label={t.address} extra={t.addressHint} rules={forSpecial}>
        <Input.TextArea maxLength={paymentLimits.invoiceAddress} autoSize={{ minRows: 2 }} />
      </Form.Item>
      <Form.Item name="mail" label={t.mail} rules={needed}>
        <Input type="email" maxLength={maxMailLength} autoComplete="email" />
      </Form.Item>
      <Form.Item name="note" label={t.note}>
        <Input maxLength={paymentLimits.note} />
      </Form.Item>
    </FormDialog>
  )
}

interface OrderChoiceProps {
  readonly orders: ApiQuery<{ readonly items: readonly InvoiceableOrder[] }>
  readonly value?: string[]
  readonly onChange?: (value: string[]) => void
  readonly id?: string
}

function OrderChoice({ orders, value = [], onChange, id }: OrderChoiceProps): ReactNode {
  const t = useText(invoiceText)
  return (
    <Loaded query={orders}>
      {({ items }) => {
        if (items.length === 0) return <span className="muted prose">{t.noOrders}</span>
        const chosen = items.filter(({ number }) => value.includes(number))
        const total = chosen.reduce((sum, { amount }) => sum + (parseMinor(amount) ?? 0), 0)
        const currency = chosen[0]?.currency ?? ''
        return (
          <div className="stack-8">
            <Checkbox.Group
              {...(id !== undefined && { id })}
              style={{ display: 'flex', flexDirection: 'column', gap: 8, maxHeight: 220, overflowY: 'auto' }}
              value={value}
              onChange={(next) => onChange?.(next)}
              options={items.map((one) => ({
                value: one.number,
                label: (
                  <span style={{ overflowWrap: 'anywhere' }}>
                    {formatMoney(one.amount, one.currency)} · {one.package_name} · {formatDay(one.paid_at)}{' '}
                    <span className="mono muted small">{one.number}</span>
                  </span>
                ),
              }))}
            />
            <strong aria-live="polite">{t.total(formatMoney(formatMinor(total), currency))}</strong>
          </div>
        )
      }}
    </Loaded>
  )
}
