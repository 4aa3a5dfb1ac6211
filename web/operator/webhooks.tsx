// The deliveries of all accounts: their state, webhooks in trouble, and the webhooks of one account with their deliveries.
import { Link } from '@tanstack/react-router'
import { App, Card, Form, Skeleton } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorEventRoutes } from '../../contract/console/events.ts'
import type { Webhook, WebhookHealth } from '../../contract/console/responses/events.ts'
import { webhookLimits } from '../../contract/events.ts'
import { dayMs } from '../../contract/time.ts'
import { type ApiQuery, useApiMutation, useApiQuery } from '../api/hooks.ts'
import { Deliveries } from '../events/deliveries.tsx'
import { readSince, SinceField, type SinceFields, yesterday } from '../events/since-field.tsx'
import { eventsText } from '../events/text.ts'
import { WebhookState, WebhookTypes } from '../events/webhooks.tsx'
import { useText } from '../frame/i18n.ts'
import { useMay } from '../frame/rights.tsx'
import { formatCount, formatPercent, RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { Page } from '../parts/page.tsx'
import type { ListColumn } from '../parts/row-cards.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { Figure } from './figure.tsx'
import { OperatorForm } from './operator-form.tsx'
import { webhooksText } from './webhooks-text.ts'

const healthMs = 15_000

export function useWebhookHealth(): ApiQuery<WebhookHealth> {
  return useApiQuery(operatorEventRoutes.health, {}, { refetchMs: healthMs })
}

export function OperatorWebhooksPage(): ReactNode {
  const t = useText(webhooksText)
  const [params] = useUrlState({ account: '', webhook: '' })
  return (
    <Page title={t.title} lead={t.lead(webhookLimits.disableAfterMs / dayMs)}>
      {params.account === '' ? <AllAccounts /> : <OneAccount key={params.account} id={params.account} />}
      {params.webhook !== '' && <AccountDeliveries key={params.webhook} webhook={params.webhook} />}
    </Page>
  )
}

function AllAccounts(): ReactNode {
  const t = useText(webhooksText)
  const health = useWebhookHealth()
  const [, setParams] = useUrlState({ account: '', webhook: '' })
  const columns = useWebhookColumns<WebhookHealth['troubled'][number]>()
  return (
    <>
      <Loaded query={health} skeleton={<Skeleton active paragraph={{ rows: 3 }} />}>
        {(data) => <HealthFigures health={data} />}
      </Loaded>
      <Card size="small" title={<h2>{t.troubled}</h2>}>
        <List<WebhookHealth['troubled'][number], WebhookHealth>
          query={health}
          items={({ troubled }) => troubled}
          rowKey={({ id }) => id}
          label={t.troubled}
          empty={{ text: t.noTroubled }}
          onOpen={({ id, account_id }) => setParams({ account: String(account_id), webhook: String(id) })}
          columns={[
            {
              title: t.account,
              render: (_value, { id, account_id, username }) => (
                <OpenLink search={{ account: String(account_id), webhook: String(id) }}>{username}</OpenLink>
              ),
            },
            ...columns,
          ]}
        />
      </Card>
    </>
  )
}

/** Backlog, oldest waiting delivery, failure rate and disabled webhooks. */
export function HealthFigures({ health }: { health: WebhookHealth }): ReactNode {
  const t = useText(webhooksText)
  const { pending, oldest_due_at, attempts_hour, failed_hour } = health
  return (
    <div className="grid-4">
      <Figure
        label={t.pending}
        value={formatCount(pending)}
        more={
          oldest_due_at === null ? (
            t.nothingWaits
          ) : (
            <>
              {t.oldest} <RelativeTime at={oldest_due_at} />
            </>
          )
        }
      />
      <Figure
        label={t.failureRate}
        value={attempts_hour === 0 ? '–' : formatPercent(failed_hour / attempts_hour)}
        more={t.failures(formatCount(failed_hour), formatCount(attempts_hour))}
      />
      <Figure label={t.disabled} value={formatCount(health.disabled)} />
      <Figure label={t.failing} value={formatCount(health.failing)} />
    </div>
  )
}

function OneAccount({ id }: { id: string }): ReactNode {
  const t = useText(webhooksText)
  const [, setParams] = useUrlState({ webhook: '' })
  const webhooks = useApiQuery(operatorEventRoutes.webhooks, {}, { params: { id }, refetchMs: healthMs })
  const columns = useWebhookColumns<Webhook>()
  return (
    <Card
      size="small"
      title={<h2>{t.of(webhooks.data?.username ?? '')}</h2>}
      extra={
        <Link to="/operator/webhooks" search={{}}>
          {t.all}
        </Link>
      }
    >
      <List<Webhook, NonNullable<typeof webhooks.data>>
        query={webhooks}
        items={({ items }) => items}
        rowKey={(webhook) => webhook.id}
        label={t.of('')}
        empty={{ text: t.none }}
        onOpen={(webhook) => setParams({ webhook: String(webhook.id) })}
        columns={columns}
      />
    </Card>
  )
}

function useWebhookColumns<Item extends Webhook>(): readonly ListColumn<Item>[] {
  const t = useText(eventsText)
  return [
    {
      title: 'URL',
      card: 'plain',
      render: (_value, { id, url }) => (
        <OpenLink search={{ webhook: String(id) }} className="mono cell-text">
          {url}
        </OpenLink>
      ),
    },
    { title: t.types, render: (_value, { events }) => <WebhookTypes events={events} /> },
    { title: t.state, card: 'side', render: (_value, webhook) => <WebhookState webhook={webhook} /> },
    { title: t.created, card: 'hide', render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
  ]
}

/** The holder's view; sending again asks for a note. */
function AccountDeliveries({ webhook }: { webhook: string }): ReactNode {
  const t = useText(webhooksText)
  const events = useText(eventsText)
  const { message } = App.useApp()
  const mayResend = useMay('accounts')
  const [form] = Form.useForm<SinceFields & { note: string }>()
  /** A delivery, or all that failed. */
  const [asking, setAsking] = useState<number | 'failed'>()
  const failed = useApiMutation(operatorEventRoutes.resendFailed)
  const one = useApiMutation(operatorEventRoutes.resendDelivery)
  return (
    <>
      <Deliveries
        webhook={webhook}
        routes={operatorEventRoutes}
        {...(mayResend && {
          resend: {
            isBusy: false,
            failed: () => setAsking('failed'),
            one: (id: number) => setAsking(id),
            // The form shows it.
            errorOf: () => null,
          },
        })}
      />
      <OperatorForm<SinceFields>
        open={asking !== undefined}
        title={asking === 'failed' ? events.resendFailed : t.resendTitle}
        ok={events.resend}
        form={form}
        initial={yesterday()}
        onClose={() => setAsking(undefined)}
        onSubmit={async ({ note, ...fields }) => {
          if (asking === undefined) return
          const count =
            asking === 'failed'
              ? (
                  await failed.mutateAsync({
                    body: { note, since: readSince(fields) },
                    params: { id: webhook },
                  })
                ).count
              : await one.mutateAsync({ body: { note }, params: { id: asking } }).then(() => 1)
          message.success(events.resent(count))
        }}
      >
        <p>{t.resendText}</p>
        {asking === 'failed' && <SinceField />}
      </OperatorForm>
    </>
  )
}
