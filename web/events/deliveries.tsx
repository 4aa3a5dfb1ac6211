// The deliveries of one webhook, with every attempt.
import { App, Button, Card, Descriptions, Drawer, Form } from 'antd'
import { type ReactNode, useState } from 'react'
import { eventRoutes } from '../../contract/console/events.ts'
import type { WebhookDelivery } from '../../contract/console/responses/events.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { BreakableUrl, ExactTime, formatDuration, RelativeTime, StatusLabel } from '../parts/format.tsx'
import { cursorFooter, cursorQuery, List } from '../parts/list.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { objectTitle } from '../parts/page.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { readSince, SinceField, type SinceFields, yesterday } from './since-field.tsx'
import { eventsText } from './text.ts'

/** The holder's deliveries, with buttons that send them again. */
export function OwnDeliveries({ webhook }: { webhook: string }): ReactNode {
  const t = useText(eventsText)
  const { message } = App.useApp()
  const me = useMe()
  const failed = useApiMutation(eventRoutes.resendFailed)
  const one = useApiMutation(eventRoutes.resendDelivery)
  const [form] = Form.useForm<SinceFields>()
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Deliveries
        webhook={webhook}
        routes={eventRoutes}
        {...(me.data?.read_only === false && {
          resend: {
            isBusy: one.isPending,
            errorOf: (id) => (one.variables?.params?.['id'] === id ? one.error : null),
            failed: () => setAsking(true),
            one: (id) =>
              one.mutate(
                { body: {}, params: { id } },
                { onSuccess: () => void message.success(t.resent(1)) },
              ),
          },
        })}
      />
      <FormDialog<SinceFields>
        open={asking}
        title={t.resendFailed}
        ok={t.resend}
        danger={false}
        form={form}
        initial={yesterday()}
        onClose={() => setAsking(false)}
        onSubmit={async (fields) => {
          const body = { since: readSince(fields) }
          const { count } = await failed.mutateAsync({ body, params: { id: webhook } })
          message.success(t.resent(count))
        }}
      >
        <SinceField />
      </FormDialog>
    </>
  )
}

interface Resend {
  readonly isBusy: boolean
  readonly failed: () => void
  readonly one: (id: number) => void
  /** Why the last attempt to send this delivery again failed. */
  readonly errorOf: (id: number) => unknown
}

interface DeliveriesProps {
  readonly webhook: string
  readonly routes: Pick<typeof eventRoutes, 'deliveries' | 'delivery'>
  /** Left out for those who may not. */
  readonly resend?: Resend
}

export function Deliveries({ webhook, routes, resend }: DeliveriesProps): ReactNode {
  const t = useText(eventsText)
  const [params, setParams] = useUrlState({ before: '', delivery: '' })
  const deliveries = useApiQuery(routes.deliveries, cursorQuery(params.before), {
    params: { id: webhook },
    refetchMs: 5_000,
  })
  return (
    <Card
      title={<h2>{t.deliveries}</h2>}
      extra={
        resend && (
          <Button loading={resend.isBusy} onClick={resend.failed}>
            {t.resendFailed}
          </Button>
        )
      }
    >
      <List<WebhookDelivery, NonNullable<typeof deliveries.data>>
        query={deliveries}
        items={({ items }) => items}
        rowKey={({ id }) => id}
        label={t.deliveries}
        empty={{ text: t.emptyDeliveries }}
        onOpen={({ id }) => setParams({ delivery: String(id) })}
        columns={[
          {
            title: t.type,
            render: (_value, { id, type }) => (
              <OpenLink search={{ delivery: String(id) }} className="mono">
                {type}
              </OpenLink>
            ),
          },
          { title: t.time, render: (_value, { created_at }) => <ExactTime at={created_at} /> },
          {
            title: t.state,
            card: 'side',
            render: (_value, delivery) => <DeliveryState delivery={delivery} />,
          },
          { title: t.attempts, align: 'end', dataIndex: 'attempts' },
          {
            title: t.result,
            card: 'side',
            render: (_value, { last_status, last_error }) => last_status ?? last_error ?? '–',
          },
          {
            title: t.nextAttempt,
            render: (_value, { next_attempt_at }) => <RelativeTime at={next_attempt_at} />,
          },
        ]}
        footer={cursorFooter(params.before, setParams)}
      />
      <Drawer
        open={params.delivery !== ''}
        size={640}
        title={<h2>{objectTitle(t.delivery, params.delivery)}</h2>}
        onClose={() => setParams({ delivery: '' })}
        destroyOnHidden
      >
        {params.delivery !== '' && (
          <OneDelivery
            key={params.delivery}
            id={Number(params.delivery)}
            route={routes.delivery}
            resend={resend}
          />
        )}
      </Drawer>
    </Card>
  )
}

function DeliveryState({ delivery }: { delivery: WebhookDelivery }): ReactNode {
  const t = useText(eventsText)
  const tones = { pending: 'pending', delivered: 'success', failed: 'error' } as const
  return <StatusLabel tone={tones[delivery.state]}>{t[delivery.state]}</StatusLabel>
}

interface OneDeliveryProps {
  readonly id: number
  readonly route: DeliveriesProps['routes']['delivery']
  readonly resend: Resend | undefined
}

function OneDelivery({ id, route, resend }: OneDeliveryProps): ReactNode {
  const t = useText(eventsText)
  const delivery = useApiQuery(route, {}, { params: { id }, refetchMs: 5_000 })
  return (
    <Loaded query={delivery}>
      {(one) => (
        <div className="stack">
          <Descriptions
            column={1}
            size="small"
            items={[
              { key: 'id', label: 'webhook-id', children: <span className="mono">{one.event_id}</span> },
              {
                key: 'url',
                label: 'URL',
                children: (
                  <span className="mono">
                    <BreakableUrl url={one.url} />
                  </span>
                ),
              },
              { key: 'state', label: t.state, children: <DeliveryState delivery={one} /> },
            ]}
          />
          {resend && (
            <div className="stack-8">
              <Button loading={resend.isBusy} onClick={() => resend.one(id)}>
                {t.resend}
              </Button>
              <ActionError error={resend.errorOf(id)} />
            </div>
          )}
          <h3>{t.body}</h3>
          <div className="row">
            <CopyButton text={one.body} label={t.body}>
              {t.copyBody}
            </CopyButton>
          </div>
          <pre className="code" tabIndex={0} aria-label={t.body}>
            {JSON.stringify(JSON.parse(one.body), undefined, 2)}
          </pre>
          <h3>{t.attempts}</h3>
          {one.attempt_list.map((attempt) => (
            <div key={attempt.id} className="stack">
              <span>
                {formatTime(attempt.at)} · {attempt.status ?? attempt.error} ·{' '}
                {formatDuration(attempt.duration_ms)}
              </span>
              {attempt.response !== '' && (
                <pre className="code" tabIndex={0} aria-label={t.response}>
                  {attempt.response}
                </pre>
              )}
            </div>
          ))}
        </div>
      )}
    </Loaded>
  )
}
