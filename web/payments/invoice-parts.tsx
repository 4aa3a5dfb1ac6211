// What the pages about invoices share: the state, the columns and the details of a request.
import { DownloadOutlined } from '@ant-design/icons'
import { Button, Descriptions } from 'antd'
import type { ReactNode } from 'react'
import type { Invoice } from '../../contract/console/responses/payments.ts'
import { invoiceKinds, type InvoiceState, invoiceStates } from '../../contract/payments.ts'
import { formatTime } from '../../contract/time.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { formatMoney, StatusLabel, type Tone } from '../parts/format.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import type { ListColumn } from '../parts/row-cards.tsx'
import { invoiceText } from './invoice-text.ts'

const tones: Readonly<Record<InvoiceState, Tone>> = {
  open: 'pending',
  issued: 'success',
  rejected: 'muted',
  withdrawn: 'muted',
}

function InvoiceStateLabel({ state }: { state: InvoiceState }): ReactNode {
  const pick = usePick()
  return <StatusLabel tone={tones[state]}>{pick(invoiceStates[state])}</StatusLabel>
}

/** The columns that the lists of holders and of operators have in common. */
export function useInvoiceColumns(): Readonly<
  Record<'id' | 'title' | 'kind' | 'amount' | 'state' | 'created', ListColumn<Invoice>>
> {
  const t = useText(invoiceText)
  const pick = usePick()
  return {
    id: {
      title: t.id,
      card: 'title',
      render: (_value, { id, title }) => (
        <OpenLink search={{ open: String(id) }} label={`${t.id} ${id} ${title}`}>
          #{id}
        </OpenLink>
      ),
    },
    title: {
      title: t.title,
      card: 'title',
      render: (_value, { title }) => <span className="prose">{title}</span>,
    },
    kind: { title: t.kind, card: 'plain', render: (_value, { kind }) => pick(invoiceKinds[kind]) },
    amount: {
      title: t.amount,
      card: 'plain',
      align: 'end',
      render: (_value, { amount, currency }) => formatMoney(amount, currency),
    },
    state: {
      title: t.state,
      card: 'side',
      render: (_value, { state, refunded_after_issue: isRefunded }) => (
        <div>
          <InvoiceStateLabel state={state} />
          {isRefunded && (
            <div>
              <StatusLabel tone="warning">{t.refunded}</StatusLabel>
            </div>
          )}
        </div>
      ),
    },
    created: { title: t.created, render: (_value, { created_at }) => formatTime(created_at) },
  }
}

export function InvoiceDetails({ invoice, fileUrl }: { invoice: Invoice; fileUrl: string }): ReactNode {
  const t = useText(invoiceText)
  const pick = usePick()
  const text = (value: string) => (
    <span style={{ overflowWrap: 'anywhere' }}>{value === '' ? '–' : value}</span>
  )
  return (
    <div className="stack">
      {invoice.has_file && (
        <div>
          <Button icon={<DownloadOutlined />} href={fileUrl} download>
            {t.download}
          </Button>
        </div>
      )}
      <Descriptions
        column={1}
        size="small"
        items={[
          { key: 'state', label: t.state, children: <InvoiceStateLabel state={invoice.state} /> },
          { key: 'account', label: t.account, children: invoice.account },
          { key: 'kind', label: t.kind, children: pick(invoiceKinds[invoice.kind]) },
          { key: 'title', label: t.title, children: text(invoice.title) },
          { key: 'tax', label: t.taxNumber, children: text(invoice.tax_number) },
          { key: 'address', label: t.address, children: text(invoice.address) },
          { key: 'mail', label: t.mail, children: text(invoice.mail) },
          { key: 'note', label: t.note, children: text(invoice.note) },
          { key: 'amount', label: t.amount, children: formatMoney(invoice.amount, invoice.currency) },
          ...(invoice.corrected_amount === null
            ? []
            : [
                {
                  key: 'corrected',
                  label: t.correctedAmount,
                  children: formatMoney(invoice.corrected_amount, invoice.currency),
                },
              ]),
          {
            key: 'orders',
            label: t.orders,
            children: <span className="mono">{text(invoice.orders.join(' '))}</span>,
          },
          { key: 'number', label: t.number, children: text(invoice.number) },
          { key: 'reason', label: t.reason, children: text(invoice.reason) },
          { key: 'created', label: t.created, children: formatTime(invoice.created_at) },
        ]}
      />
    </div>
  )
}
