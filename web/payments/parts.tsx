// What the pages about orders share: the state of an order, its credits, and its details with the cashier.
import { Button, Card, Descriptions, QRCode, Timeline } from 'antd'
import type { ReactNode } from 'react'
import type { Order, OrderDetail } from '../../contract/console/responses/payments.ts'
import { apiTypeNames, apiTypes } from '../../contract/credits.ts'
import { type OrderState, orderStateNames, paymentProviderNames } from '../../contract/payments.ts'
import { formatTime } from '../../contract/time.ts'
import { useLanguage, usePick, useText } from '../frame/i18n.ts'
import { formatCount, formatMoney, StatusLabel, type Tone } from '../parts/format.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import type { ListColumn } from '../parts/row-cards.tsx'
import { orderEventNames } from './order-events.ts'
import { storedText } from './stored-text.ts'
import { paymentsText } from './text.ts'

const tones: Readonly<Record<OrderState, Tone>> = {
  pending: 'pending',
  paid: 'warning',
  granted: 'success',
  closed: 'muted',
  refunded: 'muted',
  partly_refunded: 'warning',
}

function OrderStateLabel({ state }: { state: OrderState }): ReactNode {
  const pick = usePick()
  return <StatusLabel tone={tones[state]}>{pick(orderStateNames[state])}</StatusLabel>
}

/** The columns that the lists of holders and of operators have in common. */
export function useOrderColumns(): Readonly<
  Record<'number' | 'amount' | 'provider' | 'state' | 'created', ListColumn<Order>>
> {
  const t = useText(paymentsText)
  const pick = usePick()
  return {
    number: {
      title: t.number,
      render: (_value, { number }) => (
        <OpenLink search={{ open: number }} className="mono">
          {/* The time of the order and its random part. */}
          {number.slice(0, 15)}
          <wbr />
          {number.slice(15)}
        </OpenLink>
      ),
    },
    amount: {
      title: t.amount,
      card: 'plain',
      align: 'end',
      render: (_value, { amount, currency }) => <span className="num">{formatMoney(amount, currency)}</span>,
    },
    provider: {
      title: t.provider,
      card: 'plain',
      render: (_value, { provider }) => pick(paymentProviderNames[provider]),
    },
    state: { title: t.state, card: 'side', render: (_value, { state }) => <OrderStateLabel state={state} /> },
    created: { title: t.created, card: 'hide', render: (_value, { created_at }) => formatTime(created_at) },
  }
}

export function CreditList({ credits }: { credits: OrderDetail['credits'] }): ReactNode {
  const pick = usePick()
  return (
    <ul style={{ margin: 0, paddingInlineStart: 18 }}>
      {apiTypes.map((type) => {
        const amount = credits[type]
        if (amount === undefined) return null
        return (
          <li key={type}>
            {pick(apiTypeNames[type])} {formatCount(amount)}
          </li>
        )
      })}
    </ul>
  )
}

/** How to pay; nothing once the order is settled. */
export function Cashier({ order }: { order: OrderDetail }): ReactNode {
  const t = useText(paymentsText)
  const language = useLanguage()
  if (order.state !== 'pending') return null
  return (
    <Card size="small">
      <div className="stack" style={{ alignItems: 'center', textAlign: 'center' }}>
        <span className="figure">{formatMoney(order.amount, order.currency)}</span>
        {order.code_url !== null && (
          <>
            <QRCode value={order.code_url} size={220} bgColor="#fff" color="#000" />
            <span>{t.scan}</span>
          </>
        )}
        {order.pay_url !== null && (
          <Button
            type="primary"
            // Our own cashier page is shown in the language of the console.
            href={order.provider === 'sandbox' ? `${order.pay_url}?lang=${language}` : order.pay_url}
            target="_blank"
            rel="noreferrer"
          >
            {t.openCashier}
          </Button>
        )}
        {order.provider === 'transfer' && (
          <div style={{ textAlign: 'start' }}>
            <p>{t.transfer}</p>
            <p style={{ whiteSpace: 'pre-wrap' }}>{order.transfer_details}</p>
            <p className="mono">{order.number}</p>
          </div>
        )}
        <span className="muted small">{t.waitingPayment}</span>
      </div>
    </Card>
  )
}

export function OrderDetails({ order }: { order: OrderDetail }): ReactNode {
  const t = useText(paymentsText)
  const pick = usePick()
  const refundState = { pending: t.refundPending, succeeded: t.refundSucceeded, failed: t.refundFailed }
  return (
    <div className="stack">
      <Descriptions
        column={1}
        size="small"
        items={[
          { key: 'number', label: t.number, children: <span className="mono">{order.number}</span> },
          { key: 'state', label: t.state, children: <OrderStateLabel state={order.state} /> },
          { key: 'account', label: t.account, children: order.account },
          { key: 'package', label: t.package, children: order.package_name },
          { key: 'amount', label: t.amount, children: formatMoney(order.amount, order.currency) },
          { key: 'refunded', label: t.refundedAmount, children: formatMoney(order.refunded, order.currency) },
          { key: 'provider', label: t.provider, children: pick(paymentProviderNames[order.provider]) },
          { key: 'credits', label: t.credits, children: <CreditList credits={order.credits} /> },
          { key: 'created', label: t.created, children: formatTime(order.created_at) },
          { key: 'expires', label: t.expires, children: formatTime(order.expires_at) },
          {
            key: 'paid',
            label: t.paidAt,
            children: order.paid_at === null ? '–' : formatTime(order.paid_at),
          },
        ]}
      />
      {order.refunds.length > 0 && (
        <>
          <h3>{t.refunds}</h3>
          <ul style={{ margin: 0, paddingInlineStart: 18 }}>
            {order.refunds.map((refund) => (
              <li key={refund.number}>
                {formatMoney(refund.amount, order.currency)} · {refundState[refund.state]}{' '}
                {pick(storedText(refund.reason ?? ''))}
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>{t.history}</h3>
      <Timeline
        items={order.history.map((entry, index) => ({
          key: index,
          content: (
            <>
              <EventName event={entry.event} /> <span className="muted">{formatTime(entry.at)}</span>
              <div className="small" style={{ overflowWrap: 'anywhere' }}>
                {pick(storedText(entry.note))}
              </div>
            </>
          ),
        }))}
      />
    </div>
  )
}

function EventName({ event }: { event: string }): ReactNode {
  const pick = usePick()
  const name = orderEventNames[event]
  return name ? pick(name) : <span className="mono">{event}</span>
}
