// Invoice requests of all accounts: an operator uploads the invoice or rejects the request.
import { UploadOutlined } from '@ant-design/icons'
import { Alert, App, Button, Card, Drawer, Form, Input, Upload } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorPaymentRoutes } from '../../contract/console/payments.ts'
import type { Invoice } from '../../contract/console/responses/payments.ts'
import { type InvoiceState, invoiceStates, paymentLimits } from '../../contract/payments.ts'
import { routeUrl } from '../api/client.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { toBase64 } from '../parts/base64.ts'
import { Confirm } from '../parts/confirm.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { formatMoney } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { objectTitle, Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { InvoiceDetails, useInvoiceColumns } from '../payments/invoice-parts.tsx'
import { invoiceText } from '../payments/invoice-text.ts'
import { AccountByName } from './account-link.tsx'
import { OperatorForm } from './operator-form.tsx'

const states = Object.keys(invoiceStates) as InvoiceState[]
const filters = [...states, 'refunded'] as const
const maxKb = paymentLimits.invoiceFile / 1024

export function OperatorInvoicesPage(): ReactNode {
  const t = useText(invoiceText)
  const pick = usePick()
  const [params, setParams] = useUrlState({ before: '', open: '', state: '' })
  const state = states.find((value) => value === params.state)
  const refunded = params.state === 'refunded'
  const invoices = useApiQuery(
    operatorPaymentRoutes.invoices,
    { ...cursorQuery(params.before), ...(state && { state }), ...(refunded && { refunded }) },
    { refetchMs: 30_000 },
  )
  const columns = useInvoiceColumns()
  const shown = invoices.data?.items.find(({ id }) => String(id) === params.open)
  return (
    <Page title={t.invoices} lead={t.queueLead}>
      <div className="filters" style={{ marginBottom: 0 }}>
        <SelectFilter
          label={t.state}
          allLabel={t.allStates}
          value={params.state}
          values={filters}
          nameOf={(value) => (value === 'refunded' ? t.refundedOnly : pick(invoiceStates[value]))}
          onChange={(value) => setParams({ state: value, before: '' })}
        />
      </div>
      <Card size="small">
        <List<Invoice, NonNullable<typeof invoices.data>>
          query={invoices}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.invoices}
          empty={{ text: t.noneWaiting }}
          onClear={params.state !== '' ? () => setParams({ state: '', before: '' }) : undefined}
          onOpen={({ id }) => setParams({ open: String(id) })}
          columns={[
            columns.id,
            { title: t.account, render: (_value, { account }) => <AccountByName name={account} /> },
            columns.title,
            columns.kind,
            columns.amount,
            columns.state,
            columns.created,
          ]}
          footer={cursorFooter(params.before, setParams)}
        />
      </Card>
      <Drawer
        open={shown !== undefined}
        size={560}
        title={objectTitle(t.details, shown && `#${shown.id}`)}
        onClose={() => setParams({ open: '' })}
        destroyOnHidden
      >
        {shown && <OneInvoice key={shown.id} invoice={shown} />}
      </Drawer>
    </Page>
  )
}

interface IssueFields {
  readonly number?: string
  readonly file?: { readonly name: string; readonly content: string }
}

function OneInvoice({ invoice }: { invoice: Invoice }): ReactNode {
  const t = useText(invoiceText)
  const { message } = App.useApp()
  const [form] = Form.useForm<IssueFields & { note: string }>()
  const [action, setAction] = useState<'issue' | 'reject' | 'correct'>()
  const issue = useApiMutation(operatorPaymentRoutes.issueInvoice)
  const reject = useApiMutation(operatorPaymentRoutes.rejectInvoice)
  const correct = useApiMutation(operatorPaymentRoutes.correctInvoice)
  const params = { id: invoice.id }
  const hasChanged = invoice.state === 'open' && invoice.current_amount !== invoice.amount
  const left = formatMoney(invoice.current_amount ?? '0.00', invoice.currency)
  return (
    <div className="stack">
      {hasChanged && <Alert type="warning" showIcon title={t.changed(left)} />}
      {invoice.refunded_after_issue && (
        <>
          <Alert type="warning" showIcon title={t.refundedText(left)} />
          <May change="orders">
            <div className="row">
              <Button type="primary" onClick={() => setAction('correct')}>
                {t.correct}
              </Button>
            </div>
          </May>
        </>
      )}
      {invoice.state === 'open' && (
        <May change="orders">
          <div className="row">
            <Button type="primary" disabled={hasChanged} onClick={() => setAction('issue')}>
              {t.issue}
            </Button>
            <Button danger onClick={() => setAction('reject')}>
              {t.reject}
            </Button>
          </div>
        </May>
      )}
      <InvoiceDetails invoice={invoice} fileUrl={routeUrl(operatorPaymentRoutes.invoiceFile, {}, params)} />
      <OperatorForm<IssueFields>
        open={action === 'issue'}
        title={t.issueTitle}
        ok={t.issue}
        form={form}
        onClose={() => setAction(undefined)}
        onSubmit={async ({ number = '', file, note }) => {
          if (!file) return
          const body = { number, file_name: file.name, file: file.content, note }
          await issue.mutateAsync({ body, params })
          message.success(t.issued)
        }}
      >
        <Form.Item
          name="file"
          label={t.file}
          extra={t.fileHint(maxKb)}
          rules={[{ required: true, message: t.required }]}
        >
          <PdfChoice />
        </Form.Item>
        <Form.Item name="number" label={t.number}>
          <Input className="mono" maxLength={paymentLimits.invoiceNumber} autoComplete="off" />
        </Form.Item>
      </OperatorForm>
      <Confirm
        open={action === 'reject'}
        danger
        withNote
        title={t.rejectTitle}
        consequence={t.rejectText}
        ok={t.reject}
        onClose={() => setAction(undefined)}
        onConfirm={async ({ note }) => {
          await reject.mutateAsync({ body: { note }, params })
          message.success(t.rejected)
        }}
      />
      <Confirm
        open={action === 'correct'}
        withNote
        title={t.correctTitle}
        consequence={t.correctText}
        ok={t.correct}
        onClose={() => setAction(undefined)}
        onConfirm={async ({ note }) => {
          await correct.mutateAsync({ body: { note }, params })
          message.success(t.corrected)
        }}
      />
    </div>
  )
}

interface PdfChoiceProps {
  readonly id?: string
  readonly value?: IssueFields['file']
  readonly onChange?: (value: NonNullable<IssueFields['file']>) => void
}

function PdfChoice({ id, value, onChange }: PdfChoiceProps): ReactNode {
  const t = useText(invoiceText)
  const { message } = App.useApp()
  const choose = async (file: File) => {
    if (file.size > paymentLimits.invoiceFile) return void message.error(t.tooLarge(maxKb))
    onChange?.({ name: file.name.slice(0, 100), content: await toBase64(file) })
  }
  return (
    <Upload
      accept=".pdf"
      showUploadList={false}
      beforeUpload={(file) => {
        void choose(file)
        return false
      }}
    >
      <Button {...(id !== undefined && { id })} icon={<UploadOutlined />}>
        <span style={{ overflow: 'hidden', textOverflow: 'ellipsis', maxWidth: 320 }}>
          {value?.name ?? t.choose}
        </span>
      </Button>
    </Upload>
  )
}
