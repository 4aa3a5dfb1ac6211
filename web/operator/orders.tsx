// All orders: income, search, confirmation of transfers, refunds.
import { App, Button, Card, Drawer, Form, Input } from 'antd'
import { type ReactNode, useMemo, useState } from 'react'
import { maxAmountLength } from '../../contract/console/limits.ts'
import { operatorPaymentRoutes } from '../../contract/console/payments.ts'
import type { Order } from '../../contract/console/responses/payments.ts'
import {
  amountPattern,
  orderStateNames,
  orderStates,
  paymentProviderNames,
  paymentProviders,
} from '../../contract/payments.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { Chart } from '../parts/chart.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { OrderDetails, useOrderColumns } from '../payments/parts.tsx'
import { storedText } from '../payments/stored-text.ts'
import { paymentsText } from '../payments/text.ts'
import { AccountByName } from './account-link.tsx'
import { OperatorForm } from './operator-form.tsx'

const amountRegExp = new RegExp(amountPattern)

const defaults = { before: '', open: '', state: '', provider: '', q: '' }

export function OperatorOrdersPage(): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const [params, setParams] = useUrlState(defaults)
  const columns = useOrderColumns()
  const state = orderStates.find((value) => value === params.state)
  const provider = paymentProviders.find((value) => value === params.provider)
  const orders = useApiQuery(
    operatorPaymentRoutes.orders,
    {
      ...cursorQuery(params.before),
      ...(state && { state }),
      ...(provider && { provider }),
      ...(params.q !== '' && { q: params.q }),
    },
    { refetchMs: 10_000 },
  )
  const income = useApiQuery(operatorPaymentRoutes.income, {})
  const figures = useMemo(
    () => ({
      labels: income.data?.days.map(({ day }) => day) ?? [],
      series: [
        { name: `${t.amount} (CNY)`, values: income.data?.days.map(({ paid }) => paid) ?? [] },
        { name: t.refundedAmount, values: income.data?.days.map(({ refunded }) => refunded) ?? [] },
      ],
    }),
    [income.data, t],
  )
  const isFiltered = params.state !== '' || params.provider !== '' || params.q !== ''
  return (
    <Page title={t.orders} lead={t.operatorLead}>
      <Chart title={t.income} loading={income.isPending} file="income" {...figures} />
      <div className="filters" style={{ marginBottom: 0 }}>
        <SearchFilter
          label={t.search}
          value={params.q}
          width={260}
          onSearch={(q) => setParams({ q, before: '' })}
        />
        <SelectFilter
          label={t.state}
          allLabel={t.allStates}
          value={params.state}
          values={orderStates}
          nameOf={(value) => pick(orderStateNames[value])}
          onChange={(value) => setParams({ state: value, before: '' })}
        />
        <SelectFilter
          label={t.provider}
          allLabel={t.allProviders}
          value={params.provider}
          values={paymentProviders}
          nameOf={(value) => pick(paymentProviderNames[value])}
          onChange={(value) => setParams({ provider: value, before: '' })}
        />
      </div>
      <Card size="small">
        <List<Order, NonNullable<typeof orders.data>>
          query={orders}
          items={({ items }) => items}
          rowKey={({ number }) => number}
          label={t.orders}
          empty={{ text: t.noOrders }}
          onClear={isFiltered ? () => setParams({ ...defaults }) : undefined}
          onOpen={({ number }) => setParams({ open: number })}
          columns={[
            columns.number,
            {
              title: t.account,
              card: 'plain',
              render: (_value, { account }) => <AccountByName name={account} />,
            },
            { title: t.package, card: 'plain', dataIndex: 'package' },
            columns.amount,
            { title: t.refundedAmount, card: 'hide', align: 'end', dataIndex: 'refunded' },
            columns.provider,
            columns.state,
            columns.created,
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <Drawer
        open={params.open !== ''}
        size={560}
        title={<h2>{objectTitle(t.order, params.open)}</h2>}
        onClose={() => setParams({ open: '' })}
        destroyOnHidden
      >
        {params.open !== '' && <OneOrder key={params.open} number={params.open} />}
      </Drawer>
    </Page>
  )
}

function OneOrder({ number }: { number: string }): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<{ amount: string; note: string }>()
  const [action, setAction] = useState<'refund' | 'confirm'>()
  const order = useApiQuery(operatorPaymentRoutes.order, {}, { params: { number }, refetchMs: 5_000 })
  const refund = useApiMutation(operatorPaymentRoutes.refundOrder, { idempotent: true })
  const confirm = useApiMutation(operatorPaymentRoutes.confirmOrder)
  return (
    <Loaded query={order}>
      {(detail) => {
        const canConfirm = detail.provider === 'transfer' && ['pending', 'closed'].includes(detail.state)
        const canRefund = ['granted', 'partly_refunded', 'paid'].includes(detail.state)
        return (
          <div className="stack">
            <May change="orders">
              {' '}
              <div className="row">
                {canConfirm && (
                  <Button type="primary" onClick={() => setAction('confirm')}>
                    {t.confirm}
                  </Button>
                )}
                {canRefund && (
                  <Button danger onClick={() => setAction('refund')}>
                    {t.refund}
                  </Button>
                )}
              </div>
            </May>
            <OrderDetails order={detail} />
            <OperatorForm<{ amount: string }>
              open={action === 'refund'}
              title={t.refundTitle}
              ok={t.refund}
              form={form}
              initial={{ amount: detail.refundable }}
              onClose={() => setAction(undefined)}
              onSubmit={async (body) => {
                const { refunds } = await refund.mutateAsync({ body, params: { number } })
                const last = refunds.at(-1)
                if (last?.state === 'failed')
                  message.error(t.refundRefused(pick(storedText(last.reason ?? ''))))
                else message.success(t.refundDone)
              }}
            >
              <Form.Item
                name="amount"
                label={`${t.amount} (${detail.currency})`}
                extra={t.refundHint(detail.refundable)}
                rules={[{ required: true, pattern: amountRegExp, message: t.required }]}
              >
                <Input inputMode="decimal" maxLength={maxAmountLength} />
              </Form.Item>
            </OperatorForm>
            <Confirm
              open={action === 'confirm'}
              withNote
              title={t.confirm}
              consequence={t.confirmText}
              ok={t.confirm}
              onClose={() => setAction(undefined)}
              onConfirm={async ({ note }) => {
                const { state } = await confirm.mutateAsync({ body: { note }, params: { number } })
                if (state === 'granted') message.success(t.confirmed)
                else message.warning(t.confirmedRemoved, 10)
              }}
            />
          </div>
        )
      }}
    </Loaded>
  )
}
