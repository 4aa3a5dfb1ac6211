// The watch list: current verdict, since when, and its history.
import { App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { domainCheckRoutes, type WatchInput } from '../../contract/console/domain-check.ts'
import type { Watch } from '../../contract/console/responses/domain-check.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery, useMe, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ConfirmItem } from '../parts/confirm.tsx'
import { BreakableUrl, RelativeTime } from '../parts/format.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { List } from '../parts/list.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { isDomainOrUrl } from './lines.ts'
import { domainText } from './text.ts'
import { stripClass, Verdict } from './verdict.tsx'

const intervals = [5, 15, 30, 60, 360, 1440, 10_080]

export function Watches(): ReactNode {
  const t = useText(domainText)
  const me = useMe()
  const watches = useApiQuery(domainCheckRoutes.watches, {}, { refetchMs: 30_000 })
  const change = useApiMutation(domainCheckRoutes.changeWatch)
  const remove = useApiMutation(domainCheckRoutes.removeWatch)
  const [removing, setRemoving] = useState<Watch>()
  const canChange = me.data?.read_only === false
  return (
    <div className="stack">
      {canChange && <AddWatch />}
      <Card size="small">
        <List<Watch, NonNullable<typeof watches.data>>
          query={watches}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.watches}
          empty={{ text: t.emptyWatches }}
          columns={[
            {
              title: t.url,
              render: (_value, { url }) => (
                <span className="mono host">
                  <BreakableUrl url={url} />
                </span>
              ),
            },
            { title: t.verdict, card: 'side', render: (_value, watch) => <CurrentVerdict watch={watch} /> },
            { title: t.history, width: 160, render: (_value, watch) => <Timeline watch={watch} /> },
            { title: t.since, render: (_value, { since }) => <RelativeTime at={since} /> },
            { title: t.checkedAt, render: (_value, { checked_at }) => <RelativeTime at={checked_at} /> },
            { title: t.interval, render: (_value, { every_minutes }) => t.minutes(every_minutes) },
            {
              title: '',
              align: 'end',
              render: (_value, watch) =>
                canChange && (
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button
                      size="small"
                      onClick={() =>
                        change.mutate({ body: { paused: !watch.paused }, params: { id: watch.id } })
                      }
                    >
                      {watch.paused ? t.resume : t.pause}
                    </Button>
                    <Button size="small" danger onClick={() => setRemoving(watch)}>
                      {t.remove}
                    </Button>
                  </span>
                ),
            },
          ]}
        />
        <ActionError error={change.error} />
      </Card>
      <ConfirmItem
        item={removing}
        danger
        title={t.removeTitle}
        consequence={({ url }) => t.removeText(url)}
        ok={t.remove}
        done={t.removed}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </div>
  )
}

function CurrentVerdict({ watch }: { watch: Watch }): ReactNode {
  const t = useText(domainText)
  if (watch.paused) return <span className="muted">{t.paused}</span>
  return (
    <div>
      {watch.verdict === null ? <span className="muted">–</span> : <Verdict verdict={watch.verdict} />}
      {watch.held_up && <div className="small tone-warning">{t[watch.held_up]}</div>}
    </div>
  )
}

function AddWatch(): ReactNode {
  const t = useText(domainText)
  const { message } = App.useApp()
  const [form] = Form.useForm<WatchInput>()
  const add = useApiMutation(domainCheckRoutes.addWatch)
  return (
    <Card size="small">
      <Form
        name="watch"
        form={form}
        layout="inline"
        className="inline-form"
        initialValues={{ every_minutes: 60 }}
        style={{ rowGap: 8 }}
        onFinish={(body) =>
          add.mutate(
            { body },
            {
              onSuccess: () => {
                form.resetFields()
                message.success(t.added)
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <Form.Item
          name="url"
          label={t.url}
          validateTrigger={['onBlur', 'onSubmit']}
          rules={[
            {
              validator: async (_rule, value: string | undefined) => {
                if (!isDomainOrUrl(value ?? '')) throw new Error(t.urlRule)
              },
            },
          ]}
        >
          <Input className="mono" style={{ width: 260 }} placeholder="example.com" />
        </Form.Item>
        <Form.Item name="every_minutes" label={t.interval}>
          <Select
            style={{ width: 120 }}
            options={intervals.map((value) => ({ value, label: t.minutes(value) }))}
          />
        </Form.Item>
        <Button type="primary" htmlType="submit" loading={add.isPending}>
          {t.addWatch}
        </Button>
      </Form>
      <p className="muted small" style={{ marginBottom: 0 }}>
        {t.watchPrice}
      </p>
      <ActionError error={add.error} />
    </Card>
  )
}

/** The newest verdicts as a strip, oldest on the left; the width shows how long each lasted. */
function Timeline({ watch }: { watch: Watch }): ReactNode {
  const t = useText(domainText)
  const history = useApiQuery(domainCheckRoutes.watchHistory, { size: 50 }, { params: { id: watch.id } })
  const items = [...(history.data?.items ?? [])].reverse()
  if (items.length === 0) return <span className="muted small">{t.noHistory}</span>
  const labels = items.map(({ at, verdict }) => `${formatTime(at)} ${t[verdict]}`)
  return (
    <div className="strip" role="img" aria-label={`${t.timeline(watch.url)}: ${labels.slice(-5).join(', ')}`}>
      {items.map(({ id, at, verdict }, index) => (
        <i
          key={id}
          className={stripClass(verdict)}
          style={{ flexGrow: Math.max(1, (items[index + 1]?.at ?? Date.now()) - at) }}
          title={labels[index]}
        />
      ))}
    </div>
  )
}
