// The list of webhooks: add, test, rotate the secret, enable, disable, remove.
import { Alert, App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { eventRoutes, type WebhookInput } from '../../contract/console/events.ts'
import type { Webhook } from '../../contract/console/responses/events.ts'
import { eventTypes, type EventType, webhookLimits } from '../../contract/events.ts'
import { dayMs, hourMs } from '../../contract/time.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { BreakableUrl, RelativeTime, StatusLabel } from '../parts/format.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { List } from '../parts/list.tsx'
import { OpenLink } from '../parts/open-link.tsx'
import { eventsText } from './text.ts'

export function Webhooks({ onOpen }: { onOpen: (id: number) => void }): ReactNode {
  const t = useText(eventsText)
  const me = useMe()
  const webhooks = useApiQuery(eventRoutes.webhooks, {}, { refetchMs: 30_000 })
  const [editing, setEditing] = useState<Webhook | 'new'>()
  const [secret, setSecret] = useState<string>()
  const canChange = me.data?.read_only === false
  return (
    <Card
      title={<h2>{t.webhooks}</h2>}
      extra={
        canChange && (
          <Button type="primary" onClick={() => setEditing('new')}>
            {t.addWebhook}
          </Button>
        )
      }
    >
      <div className="stack">
        {secret !== undefined && <SecretBox secret={secret} onSaved={() => setSecret(undefined)} />}
        <List<Webhook, NonNullable<typeof webhooks.data>>
          query={webhooks}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.webhooks}
          empty={{ text: t.emptyWebhooks }}
          onOpen={({ id }) => onOpen(id)}
          columns={[
            {
              title: 'URL',
              render: (_value, { id, url }) => (
                <OpenLink search={{ webhook: String(id) }} className="mono">
                  <BreakableUrl url={url} />
                </OpenLink>
              ),
            },
            { title: t.types, render: (_value, { events }) => <WebhookTypes events={events} /> },
            { title: t.state, card: 'side', render: (_value, webhook) => <WebhookState webhook={webhook} /> },
            { title: t.created, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, webhook) =>
                canChange && <Actions webhook={webhook} onEdit={setEditing} onSecret={setSecret} />,
            },
          ]}
        />
      </div>
      <WebhookDialog editing={editing} onClose={() => setEditing(undefined)} onSecret={setSecret} />
    </Card>
  )
}

/** The secret exists only here, until the user confirms that it is saved. */
function SecretBox({ secret, onSaved }: { secret: string; onSaved: () => void }): ReactNode {
  const t = useText(eventsText)
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={t.secretOnce} description={t.secretText} />
      <div className="key-box" data-testid="webhook-secret">
        {secret}
      </div>
      <div className="row">
        <CopyButton text={secret} label={t.secret} primary>
          {t.copySecret}
        </CopyButton>
        <Button onClick={onSaved}>{t.saved}</Button>
      </div>
      <LeaveGuard title={t.secretUnsaved} text={t.secretLeave} />
    </div>
  )
}

export function WebhookTypes({ events }: { events: readonly string[] }): ReactNode {
  const t = useText(eventsText)
  if (events.includes('*')) return t.allTypes
  return events.length > 2 ? t.typeCount(events.length) : events.join(', ')
}

export function WebhookState({ webhook }: { webhook: Webhook }): ReactNode {
  const t = useText(eventsText)
  if (webhook.state === 'disabled') {
    const reasons: Readonly<Record<string, string>> = {
      gone: t.gone,
      failing: t.failingLong(webhookLimits.disableAfterMs / dayMs),
      by_user: t.byUser,
    }
    return (
      <StatusLabel tone="error">{`${t.disabled} · ${reasons[webhook.disabled_reason ?? ''] ?? ''}`}</StatusLabel>
    )
  }
  return webhook.failing_since === null ? (
    <StatusLabel tone="success">{t.active}</StatusLabel>
  ) : (
    <StatusLabel tone="warning">
      {t.failingSince} <RelativeTime at={webhook.failing_since} />
    </StatusLabel>
  )
}

interface ActionsProps {
  readonly webhook: Webhook
  readonly onEdit: (webhook: Webhook) => void
  readonly onSecret: (secret: string) => void
}

function Actions({ webhook, onEdit, onSecret }: ActionsProps): ReactNode {
  const t = useText(eventsText)
  const { message } = App.useApp()
  const [confirming, setConfirming] = useState<'rotate' | 'remove'>()
  const test = useApiMutation(eventRoutes.testWebhook)
  const setState = useApiMutation(eventRoutes.setWebhookState)
  const rotate = useApiMutation(eventRoutes.rotateWebhook)
  const remove = useApiMutation(eventRoutes.removeWebhook)
  const params = { id: webhook.id }
  const isActive = webhook.state === 'active'
  return (
    // The row opens the deliveries; its buttons do not.
    <span className="row" role="presentation" onClick={(event) => event.stopPropagation()}>
      {isActive && (
        <Button
          size="small"
          loading={test.isPending}
          onClick={() =>
            test.mutate({ body: {}, params }, { onSuccess: () => void message.success(t.testQueued) })
          }
        >
          {t.test}
        </Button>
      )}
      <Button size="small" onClick={() => onEdit(webhook)}>
        {t.edit}
      </Button>
      <Button
        size="small"
        onClick={() => setState.mutate({ body: { state: isActive ? 'disabled' : 'active' }, params })}
      >
        {isActive ? t.disable : t.enable}
      </Button>
      <Button size="small" onClick={() => setConfirming('rotate')}>
        {t.rotate}
      </Button>
      <Button size="small" danger onClick={() => setConfirming('remove')}>
        {t.remove}
      </Button>
      <ActionError error={test.error ?? setState.error} />
      <Confirm
        open={confirming === 'rotate'}
        title={t.rotateTitle}
        consequence={t.rotateText(webhookLimits.rotationMs / hourMs)}
        ok={t.rotate}
        onClose={() => setConfirming(undefined)}
        onConfirm={async () => onSecret((await rotate.mutateAsync({ body: {}, params })).secret)}
      />
      <Confirm
        open={confirming === 'remove'}
        danger
        title={t.removeTitle}
        consequence={t.removeText(webhook.url)}
        ok={t.remove}
        onClose={() => setConfirming(undefined)}
        onConfirm={async () => {
          await remove.mutateAsync({ body: {}, params })
          message.success(t.removed)
        }}
      />
    </span>
  )
}

interface WebhookDialogProps {
  readonly editing: Webhook | 'new' | undefined
  readonly onClose: () => void
  readonly onSecret: (secret: string) => void
}

function WebhookDialog({ editing, onClose, onSecret }: WebhookDialogProps): ReactNode {
  const t = useText(eventsText)
  const pick = usePick()
  const [form] = Form.useForm<WebhookInput>()
  const add = useApiMutation(eventRoutes.addWebhook)
  const change = useApiMutation(eventRoutes.changeWebhook)
  const webhook = editing === 'new' ? undefined : editing
  const known = webhook?.events.filter((type) => type !== '*') as EventType[] | undefined
  return (
    <FormDialog<WebhookInput>
      open={editing !== undefined}
      title={webhook ? t.editWebhook : t.addWebhook}
      ok={t.save}
      danger={false}
      form={form}
      initial={{ url: webhook?.url ?? '', events: known ?? [] }}
      onClose={onClose}
      onSubmit={async ({ url, events }) => {
        const body = { url, events }
        if (webhook) await change.mutateAsync({ body, params: { id: webhook.id } })
        else onSecret((await add.mutateAsync({ body })).secret)
      }}
    >
      <Form.Item
        name="url"
        label="URL"
        rules={[{ required: true, message: t.urlRule }]}
        extra={t.urlHint(webhookLimits.timeoutMs / 1000)}
      >
        <Input
          className="mono"
          maxLength={webhookLimits.urlLength}
          placeholder="https://example.com/webhook"
        />
      </Form.Item>
      <Form.Item name="events" label={t.types} extra={t.typesHint}>
        <Select
          mode="multiple"
          placeholder={t.allTypes}
          options={Object.entries(eventTypes).map(([value, text]) => ({
            value,
            label: `${value} · ${pick(text)}`,
          }))}
        />
      </Form.Item>
    </FormDialog>
  )
}
