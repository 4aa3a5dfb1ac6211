// The account's orders; an open one shows how to pay it and updates by itself.
import { ShoppingCartOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card, Drawer } from 'antd'
import type { ReactNode } from 'react'
import { paymentRoutes } from '../../contract/console/payments.ts'
import type { Order } from '../../contract/console/responses/payments.ts'
import { useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Cashier, OrderDetails, useOrderColumns } from './parts.tsx'
import { paymentsText } from './text.ts'

export function OrdersPage(): ReactNode {
  const t = useText(paymentsText)
  const [params, setParams] = useUrlState({ before: '', open: '' })
  const columns = useOrderColumns()
  const orders = useApiQuery(paymentRoutes.orders, cursorQuery(params.before), { refetchMs: 10_000 })
  const buy = (
    <Link to="/buy">
      <Button type="primary" icon={<ShoppingCartOutlined />} tabIndex={-1}>
        {t.buy}
      </Button>
    </Link>
  )
  return (
    <Page title={t.orders} lead={t.ordersLead} actions={buy}>
      <Card size="small">
        <List<Order, NonNullable<typeof orders.data>>
          query={orders}
          items={({ items }) => items}
          rowKey={({ number }) => number}
          label={t.orders}
          empty={{ text: t.noOrders, action: buy }}
          onOpen={({ number }) => setParams({ open: number })}
          columns={[
            columns.number,
            { title: t.package, card: 'plain', dataIndex: 'package_name' },
            columns.amount,
            columns.provider,
            columns.state,
            columns.created,
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <Drawer
        open={params.open !== ''}
        size={520}
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
  const order = useApiQuery(paymentRoutes.order, {}, { params: { number }, refetchMs: 2_000 })
  return (
    <Loaded query={order}>
      {(detail) => (
        <div className="stack">
          <Cashier order={detail} />
          <OrderDetails order={detail} />
        </div>
      )}
    </Loaded>
  )
}
