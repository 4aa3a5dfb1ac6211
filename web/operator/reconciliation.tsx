// Reconciliation with payment providers: what both sides have by day, and the differences that an operator resolves.
import { SyncOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Alert, App, Button, Card, Form, Input, Select, Tabs } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorPaymentRoutes } from '../../contract/console/payments.ts'
import type { PaymentDifference, Reconciliation } from '../../contract/console/responses/payments.ts'
import {
  paymentDifferenceKinds,
  type PaymentProviderName,
  paymentProviderNames,
} from '../../contract/payments.ts'
import { dayMs, formatDay, formatTime } from '../../contract/time.ts'
import { type ApiQuery, useApiMutation, useApiQuery } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { May, useMay } from '../frame/rights.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { SelectFilter } from '../parts/filters.tsx'
import { formatMoney, StatusLabel } from '../parts/format.tsx'
import { CursorPager, cursorQuery, List } from '../parts/list.tsx'
import { Page } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { storedText } from '../payments/stored-text.ts'
import { OperatorForm } from './operator-form.tsx'
import { reconciliationText } from './reconciliation-text.ts'

export function ReconciliationPage(): ReactNode {
  const t = useText(reconciliationText)
  const [params, setParams] = useUrlState({ tab: '', before: '', shown: '' })
  const [isRunning, setRunning] = useState(false)
  const isDays = params.tab !== 'differences'
  const days = useApiQuery(operatorPaymentRoutes.reconciliations, cursorQuery(isDays ? params.before : ''), {
    refetchMs: 30_000,
  })
  const providers = days.data?.providers ?? []
  const run = providers.length > 0 && (
    <May change="orders">
      <Button type="primary" icon={<SyncOutlined />} onClick={() => setRunning(true)}>
        {t.run}
      </Button>
    </May>
  )
  return (
    <Page title={t.title} lead={t.lead} actions={run}>
      {days.data && providers.length === 0 && <Alert type="info" showIcon title={t.noProviders} />}
      <Card size="small">
        <Tabs
          activeKey={isDays ? 'days' : 'differences'}
          onChange={(tab) => setParams({ tab: tab === 'days' ? '' : tab, before: '' })}
          destroyOnHidden
          items={[
            {
              key: 'days',
              label: t.tabDays,
              children: (
                <Days query={days} before={params.before} onPage={(before) => setParams({ before })} />
              ),
            },
            {
              key: 'differences',
              label: t.tabDifferences,
              children: (
                <Differences
                  before={params.before}
                  shown={params.shown}
                  onChange={(change) => setParams(change)}
                />
              ),
            },
          ]}
        />
      </Card>
      {isRunning && <RunDialog providers={providers} onClose={() => setRunning(false)} />}
    </Page>
  )
}

interface ReconciledDays {
  readonly items: readonly Reconciliation[]
  readonly next: number | null
}

interface DaysProps {
  readonly query: ApiQuery<ReconciledDays>
  readonly before: string
  readonly onPage: (before: string) => void
}

function Days({ query, before, onPage }: DaysProps): ReactNode {
  const t = useText(reconciliationText)
  const pick = usePick()
  return (
    <List<Reconciliation, ReconciledDays>
      query={query}
      items={({ items }) => items}
      rowKey={({ id }) => id}
      label={t.days}
      empty={{ text: t.noDays }}
      columns={[
        { title: t.day, render: (_value, { day }) => <span className="nowrap">{day}</span> },
        { title: t.provider, render: (_value, { provider }) => pick(paymentProviderNames[provider]) },
        { title: t.ours, render: (_value, { ours }) => <Side side={ours} /> },
        {
          title: t.theirs,
          render: (_value, { theirs, state }) => (state === 'done' ? <Side side={theirs} /> : '–'),
        },
        { title: t.state, card: 'side', render: (_value, row) => <DayState row={row} /> },
        { title: t.at, render: (_value, { at }) => formatTime(at) },
      ]}
      footer={({ next }) => <CursorPager before={before} next={next} onChange={onPage} />}
    />
  )
}

function Side({ side }: { side: Reconciliation['ours'] }): ReactNode {
  const t = useText(reconciliationText)
  const sumsOf = (name: 'amount' | 'refund_amount') =>
    side.sums
      .filter((sum) => sum[name] !== '0.00')
      .map((sum) => formatMoney(sum[name], sum.currency))
      .join(' · ')
  return (
    <div style={{ whiteSpace: 'nowrap' }}>
      {t.side(side.orders, side.amount === null ? sumsOf('amount') : formatMoney(side.amount, '').trim())}
      {side.refunds > 0 && (
        <div className="muted">
          {t.sideRefunds(side.refunds, side.refund_amount ?? sumsOf('refund_amount'))}
        </div>
      )}
    </div>
  )
}

function DayState({ row }: { row: Reconciliation }): ReactNode {
  const t = useText(reconciliationText)
  if (row.state === 'running') {
    return (
      <div>
        <StatusLabel tone="pending">{t.waiting}</StatusLabel>
        {row.reason !== null && <div className="muted small">{t.reason(row.reason, row.attempts)}</div>}
        {row.next_attempt_at !== null && (
          <div className="muted small">
            {t.next} {formatTime(row.next_attempt_at)}
          </div>
        )}
      </div>
    )
  }
  if (row.open > 0) return <StatusLabel tone="error">{t.found(row.open)}</StatusLabel>
  if (row.differences > 0) return <StatusLabel tone="warning">{t.resolvedAll(row.differences)}</StatusLabel>
  return <StatusLabel tone="success">{t.done}</StatusLabel>
}

interface DifferencesProps {
  readonly before: string
  readonly shown: string
  readonly onChange: (change: { before?: string; shown?: string }) => void
}

function Differences({ before, shown, onChange }: DifferencesProps): ReactNode {
  const t = useText(reconciliationText)
  const pick = usePick()
  const mayResolve = useMay('orders')
  const [resolving, setResolving] = useState<PaymentDifference>()
  const resolve = useApiMutation(operatorPaymentRoutes.resolveDifference)
  const isOpenOnly = shown === 'open'
  const differences = useApiQuery(operatorPaymentRoutes.differences, {
    ...cursorQuery(before),
    ...(isOpenOnly && { open: true }),
  })
  return (
    <div className="stack">
      <div className="filters" style={{ marginBottom: 0 }}>
        <SelectFilter
          label={t.state}
          allLabel={t.all}
          value={shown}
          values={['open'] as const}
          nameOf={() => t.onlyOpen}
          onChange={(value) => onChange({ shown: value, before: '' })}
        />
      </div>
      <List<PaymentDifference, NonNullable<typeof differences.data>>
        query={differences}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.differences}
        empty={{ text: isOpenOnly ? t.noOpen : t.noDifferences }}
        columns={[
          {
            title: t.day,
            render: (_value, { day, provider }) => (
              <div style={{ whiteSpace: 'nowrap' }}>
                {day}
                <div className="muted small">{pick(paymentProviderNames[provider])}</div>
              </div>
            ),
          },
          {
            title: t.order,
            render: (_value, { order_number: number }) => (
              <Link to="/operator/orders" search={{ open: number }} className="mono">
                {number}
              </Link>
            ),
          },
          {
            title: t.kind,
            render: (_value, { kind, ours, theirs }) => (
              <div style={{ whiteSpace: 'normal' }}>
                {pick(paymentDifferenceKinds[kind])}
                <Detail text={t.sideOf(t.ours, pick(storedText(ours)))} />
                <Detail text={t.sideOf(t.theirs, pick(storedText(theirs)))} />
              </div>
            ),
          },
          {
            title: t.resolved,
            render: (_value, row) => {
              if (row.resolved_at !== null)
                return (
                  <Detail
                    text={t.resolvedBy(
                      row.resolved_by === 'system' ? t.system : (row.resolved_by ?? ''),
                      pick(storedText(row.resolution)),
                    )}
                  />
                )
              if (!mayResolve) return <StatusLabel tone="error">{t.open}</StatusLabel>
              return (
                <Button
                  size="small"
                  aria-label={`${t.resolve} ${row.order_number}`}
                  onClick={() => setResolving(row)}
                >
                  {t.resolve}
                </Button>
              )
            },
          },
        ]}
        footer={({ next }) => (
          <CursorPager before={before} next={next} onChange={(value) => onChange({ before: value })} />
        )}
      />
      <ConfirmItem
        item={resolving}
        withNote
        title={t.resolve}
        consequence={() => t.resolveText}
        ok={t.resolve}
        done={t.marked}
        onClose={() => setResolving(undefined)}
        onConfirm={({ id }, { note }) => resolve.mutateAsync({ body: { note }, params: { id } })}
      />
    </div>
  )
}

function Detail({ text }: { text: string }): ReactNode {
  return (
    <div className="muted small" style={{ overflowWrap: 'anywhere', whiteSpace: 'normal', maxWidth: 320 }}>
      {text}
    </div>
  )
}

interface RunFields {
  readonly provider: PaymentProviderName
  readonly day: string
}

function RunDialog({
  providers,
  onClose,
}: {
  providers: readonly PaymentProviderName[]
  onClose: () => void
}): ReactNode {
  const t = useText(reconciliationText)
  const pick = usePick()
  const { message } = App.useApp()
  const [form] = Form.useForm<RunFields & { note: string }>()
  const run = useApiMutation(operatorPaymentRoutes.reconcile)
  const yesterday = formatDay(Date.now() - dayMs)
  return (
    <OperatorForm<RunFields>
      open
      title={t.runTitle}
      ok={t.run}
      form={form}
      initial={{ ...(providers[0] && { provider: providers[0] }), day: yesterday }}
      onClose={onClose}
      onSubmit={async (body) => {
        const { result, reason, differences } = await run.mutateAsync({ body })
        if (result === 'done') message.success(t.runDone(differences))
        else message.warning(result === 'busy' ? t.runBusy : t.runPostponed(reason ?? ''))
      }}
    >
      <Form.Item name="provider" label={t.provider}>
        <Select options={providers.map((value) => ({ value, label: pick(paymentProviderNames[value]) }))} />
      </Form.Item>
      <Form.Item name="day" label={t.day} extra={t.runHint} rules={[{ required: true, message: t.required }]}>
        <Input type="date" max={yesterday} />
      </Form.Item>
    </OperatorForm>
  )
}
