// The watch list: verdict now, since when, and its timeline.
import { App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { domainCheckRoutes, type Watch, type WatchWish } from '../../contract/console/domain-check.ts'
import { formatTime } from '../../contract/time.ts'
import { useAsk, useMe, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Ago } from '../parts/figures.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { List } from '../parts/list.tsx'
import { StepError } from '../parts/step-error.tsx'
import { looksLikeAddress } from './lines.ts'
import { domainText } from './text.ts'
import { stripClass, Verdict, verdictWord } from './verdict.tsx'

const intervals = [5, 15, 30, 60, 360, 1440, 10_080]

export function Watches(): ReactNode {
  const words = useText(domainText)
  const { message } = App.useApp()
  const me = useMe()
  const watches = useAsk(domainCheckRoutes.watches, {}, { refetchMs: 30_000 })
  const change = useTell(domainCheckRoutes.changeWatch)
  const remove = useTell(domainCheckRoutes.removeWatch)
  const [removing, setRemoving] = useState<Watch>()
  const canChange = me.data?.read_only === false
  return (
    <div className="stack">
      {canChange && <AddWatch />}
      <Card size="small">
        <List<Watch, NonNullable<typeof watches.data>>
          asked={watches}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.watch}
          empty={{ text: words.emptyWatch }}
          columns={[
            {
              title: words.url,
              render: (_value, { url }) => (
                <span className="mono" style={{ overflowWrap: 'anywhere' }}>
                  {url}
                </span>
              ),
            },
            { title: words.verdict, render: (_value, watch) => <NowVerdict watch={watch} /> },
            { title: words.history, width: 160, render: (_value, watch) => <Timeline watch={watch} /> },
            { title: words.since, render: (_value, { since }) => <Ago at={since} /> },
            { title: words.checked, render: (_value, { checked_at }) => <Ago at={checked_at} /> },
            { title: words.every, render: (_value, { every_minutes }) => words.everyMinutes(every_minutes) },
            {
              title: '',
              align: 'end',
              render: (_value, watch) =>
                canChange && (
                  <span className="row" style={{ flexWrap: 'nowrap', justifyContent: 'flex-end' }}>
                    <Button
                      size="small"
                      onClick={() =>
                        change.mutate({ sent: { paused: !watch.paused }, parts: { id: watch.id } })
                      }
                    >
                      {watch.paused ? words.resume : words.pause}
                    </Button>
                    <Button size="small" danger onClick={() => setRemoving(watch)}>
                      {words.remove}
                    </Button>
                  </span>
                ),
            },
          ]}
        />
        <StepError error={change.error} />
      </Card>
      <Confirm
        open={removing !== undefined}
        danger
        title={words.removeTitle}
        consequence={words.removeText(removing?.url ?? '')}
        ok={words.remove}
        onClose={() => setRemoving(undefined)}
        onConfirm={async () => {
          if (!removing) return
          await remove.mutateAsync({ sent: {}, parts: { id: removing.id } })
          message.success(words.removed)
        }}
      />
    </div>
  )
}

function NowVerdict({ watch }: { watch: Watch }): ReactNode {
  const words = useText(domainText)
  if (watch.paused) return <span className="muted">{words.paused}</span>
  return (
    <div>
      {watch.verdict === null ? <span className="muted">–</span> : <Verdict verdict={watch.verdict} />}
      {watch.held_up && <div className="small tone-warning">{words[watch.held_up]}</div>}
    </div>
  )
}

function AddWatch(): ReactNode {
  const words = useText(domainText)
  const { message } = App.useApp()
  const [form] = Form.useForm<WatchWish>()
  const add = useTell(domainCheckRoutes.addWatch)
  return (
    <Card size="small">
      <Form
        name="watch"
        form={form}
        layout="inline"
        className="inline-form"
        requiredMark={false}
        initialValues={{ every_minutes: 60 }}
        style={{ rowGap: 8 }}
        onFinish={(sent) =>
          add.mutate(
            { sent },
            {
              onSuccess: () => {
                form.resetFields()
                message.success(words.added)
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <Form.Item
          name="url"
          label={words.url}
          validateTrigger={['onBlur', 'onSubmit']}
          rules={[
            {
              validator: async (_rule, value: string | undefined) => {
                if (!looksLikeAddress(value ?? '')) throw new Error(words.urlRule)
              },
            },
          ]}
        >
          <Input className="mono" style={{ width: 260 }} placeholder="example.com" />
        </Form.Item>
        <Form.Item name="every_minutes" label={words.every}>
          <Select
            style={{ width: 120 }}
            options={intervals.map((value) => ({ value, label: words.everyMinutes(value) }))}
          />
        </Form.Item>
        <Button type="primary" htmlType="submit" loading={add.isPending}>
          {words.addWatch}
        </Button>
      </Form>
      <p className="muted small" style={{ marginBottom: 0 }}>
        {words.watchCost}
      </p>
      <StepError error={add.error} />
    </Card>
  )
}

/** The newest verdicts as a strip, oldest on the left; each as wide as it lasted. */
function Timeline({ watch }: { watch: Watch }): ReactNode {
  const words = useText(domainText)
  const history = useAsk(domainCheckRoutes.watchHistory, { size: 50 }, { parts: { id: watch.id } })
  const items = [...(history.data?.items ?? [])].reverse()
  if (items.length === 0) return <span className="muted small">{words.noHistory}</span>
  const told = items.map(({ at, verdict }) => `${formatTime(at)} ${words[verdictWord(verdict)]}`)
  return (
    <div
      className="strip"
      role="img"
      aria-label={`${words.timeline(watch.url)}: ${told.slice(-5).join(', ')}`}
    >
      {items.map(({ id, at, verdict }, index) => (
        <i
          key={id}
          className={stripClass(verdict)}
          style={{ flexGrow: Math.max(1, (items[index + 1]?.at ?? Date.now()) - at) }}
          title={told[index]}
        />
      ))}
    </div>
  )
}
