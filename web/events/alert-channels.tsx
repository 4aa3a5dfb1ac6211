// Alert channels: mail and chat robots that receive alerts after they are confirmed.
import { App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { type AlertChannelInput, type ConfirmInput, eventRoutes } from '../../contract/console/events.ts'
import type { AlertChannel } from '../../contract/console/responses/events.ts'
import { alertLimits, maxAlertPercents, webhookLimits } from '../../contract/events.ts'
import { dayMs } from '../../contract/time.ts'
import { useApiMutation, useApiQuery, useMe } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ConfirmItem } from '../parts/confirm.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { RelativeTime, StatusLabel } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { eventsText } from './text.ts'

export function AlertChannels(): ReactNode {
  const t = useText(eventsText)
  const me = useMe()
  const channels = useApiQuery(eventRoutes.alertChannels, {})
  const remove = useApiMutation(eventRoutes.removeAlertChannel)
  const [isAdding, setAdding] = useState(false)
  const [isChangingPercents, setChangingPercents] = useState(false)
  const [confirming, setConfirming] = useState<AlertChannel>()
  const [removing, setRemoving] = useState<AlertChannel>()
  // Before the list has been read, a form would begin empty and save that.
  const canChange = me.data?.read_only === false && channels.data !== undefined
  return (
    <Card
      title={<h2>{t.alerts}</h2>}
      extra={
        canChange && (
          <Button type="primary" onClick={() => setAdding(true)}>
            {t.addChannel}
          </Button>
        )
      }
    >
      <div className="stack">
        <span className="muted">{t.alertsText}</span>
        {channels.data && (
          <span className="row">
            {t.percents(channels.data.percents)}
            {canChange && (
              <Button size="small" onClick={() => setChangingPercents(true)}>
                {t.change}
              </Button>
            )}
          </span>
        )}
        <List<AlertChannel, NonNullable<typeof channels.data>>
          query={channels}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.alerts}
          empty={{ text: t.emptyChannels }}
          columns={[
            { title: t.kind, render: (_value, { kind }) => t[kind] },
            { title: t.target, render: (_value, { target }) => <span className="mono">{target}</span> },
            { title: t.state, card: 'side', render: (_value, channel) => <ChannelState channel={channel} /> },
            { title: t.created, render: (_value, { created_at }) => <RelativeTime at={created_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, channel) =>
                canChange && (
                  <span className="row">
                    {channel.state === 'unconfirmed' && (
                      <Button size="small" onClick={() => setConfirming(channel)}>
                        {t.confirm}
                      </Button>
                    )}
                    <Button size="small" danger onClick={() => setRemoving(channel)}>
                      {t.remove}
                    </Button>
                  </span>
                ),
            },
          ]}
        />
      </div>
      <AddDialog
        open={isAdding}
        kinds={channels.data?.kinds ?? []}
        onClose={() => setAdding(false)}
        onAdded={setConfirming}
      />
      <PercentsDialog
        open={isChangingPercents}
        percents={channels.data?.percents ?? []}
        onClose={() => setChangingPercents(false)}
      />
      <ConfirmDialog channel={confirming} onClose={() => setConfirming(undefined)} />
      <ConfirmItem
        item={removing}
        danger
        title={t.removeChannelTitle}
        consequence={({ target }) => t.removeChannelText(target)}
        ok={t.remove}
        done={t.removed}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </Card>
  )
}

function ChannelState({ channel }: { channel: AlertChannel }): ReactNode {
  const t = useText(eventsText)
  if (channel.state === 'active') return <StatusLabel tone="success">{t.active}</StatusLabel>
  if (channel.state === 'unconfirmed') return <StatusLabel tone="warning">{t.unconfirmed}</StatusLabel>
  const reasons: Readonly<Record<string, string>> = {
    rejected: t.rejected,
    failing: t.failingLong(webhookLimits.disableAfterMs / dayMs),
    unsubscribed: t.unsubscribed,
  }
  return (
    <StatusLabel tone="error">{`${t.disabled} · ${reasons[channel.disabled_reason ?? ''] ?? ''}`}</StatusLabel>
  )
}

interface PercentsDialogProps {
  readonly open: boolean
  readonly percents: readonly number[]
  readonly onClose: () => void
}

function PercentsDialog({ open, percents, onClose }: PercentsDialogProps): ReactNode {
  const t = useText(eventsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ percents: string[] }>()
  const set = useApiMutation(eventRoutes.setAlertPercents)
  return (
    <FormDialog<{ percents: string[] }>
      open={open}
      title={t.percentsTitle}
      ok={t.save}
      danger={false}
      form={form}
      initial={{ percents: percents.map(String) }}
      header={<span>{t.percentsText(maxAlertPercents)}</span>}
      onClose={onClose}
      onSubmit={async (fields) => {
        await set.mutateAsync({ body: { percents: fields.percents.map(Number) } })
        message.success(t.percentsSaved)
      }}
    >
      <Form.Item
        name="percents"
        label={t.percentsTitle}
        rules={[
          {
            validator: async (_rule, values: string[]) => {
              const isValid =
                values.every((value) => /^[1-9]\d?$/.test(value)) && values.length <= maxAlertPercents
              if (!isValid) throw new Error(t.percentsText(maxAlertPercents))
            },
          },
        ]}
      >
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', '，', ' ']} />
      </Form.Item>
    </FormDialog>
  )
}

interface AddDialogProps {
  readonly open: boolean
  readonly kinds: readonly AlertChannelInput['kind'][]
  readonly onClose: () => void
  readonly onAdded: (channel: AlertChannel) => void
}

function AddDialog({ open, kinds, onClose, onAdded }: AddDialogProps): ReactNode {
  const t = useText(eventsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<AlertChannelInput>()
  const kind = Form.useWatch('kind', form) ?? kinds[0]
  const add = useApiMutation(eventRoutes.addAlertChannel)
  const takesSecret = kind === 'dingtalk' || kind === 'feishu'
  return (
    <FormDialog<AlertChannelInput>
      open={open}
      title={t.addChannel}
      ok={t.sendCode}
      danger={false}
      form={form}
      initial={{ kind: kinds[0] ?? 'dingtalk', target: '', secret: '' }}
      onClose={onClose}
      onSubmit={async (body) => {
        const added = await add.mutateAsync({ body })
        if (!added.sent) message.warning(t.notSent)
        onAdded(added)
      }}
    >
      <Form.Item name="kind" label={t.kind}>
        <Select options={kinds.map((value) => ({ value, label: t[value] }))} />
      </Form.Item>
      <Form.Item
        name="target"
        label={kind === 'mail' ? t.mailAddress : t.robotUrl}
        rules={[{ required: true, message: t.targetRule }]}
      >
        <Input className="mono" maxLength={alertLimits.targetLength} />
      </Form.Item>
      {takesSecret && (
        <Form.Item name="secret" label={t.robotSecret} extra={t.robotSecretHint}>
          <Input.Password className="mono" autoComplete="off" maxLength={alertLimits.secretLength} />
        </Form.Item>
      )}
    </FormDialog>
  )
}

function ConfirmDialog({
  channel,
  onClose,
}: {
  channel: AlertChannel | undefined
  onClose: () => void
}): ReactNode {
  const t = useText(eventsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<ConfirmInput>()
  const confirm = useApiMutation(eventRoutes.confirmAlertChannel)
  return (
    <FormDialog<ConfirmInput>
      open={channel !== undefined}
      title={t.confirmTitle}
      ok={t.confirm}
      danger={false}
      form={form}
      initial={{ code: '' }}
      header={<span>{t.confirmText(channel?.target ?? '')}</span>}
      onClose={onClose}
      onSubmit={async (body) => {
        if (!channel) return
        await confirm.mutateAsync({ body, params: { id: channel.id } })
        message.success(t.confirmed)
      }}
    >
      <Form.Item name="code" label={t.code} rules={[{ required: true, message: t.codeRule }]}>
        <Input
          className="mono"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={alertLimits.codeLength}
        />
      </Form.Item>
    </FormDialog>
  )
}
