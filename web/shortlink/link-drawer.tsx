// One link: its addresses, edit in place, statistics, former codes, refresh.
import { App, Button, Drawer, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { type LinkDetail, linkRoutes } from '../../contract/console/shortlink.ts'
import { useAsk, usePrices, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Ago, count } from '../parts/figures.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { StepError } from '../parts/step-error.tsx'
import { partsText } from '../parts/text.ts'
import { LinkStatistics } from './statistics.tsx'
import { Qr } from './qr.tsx'
import { shortlinkText } from './text.ts'
import { webAddress } from './create.tsx'

interface LinkDrawerProps {
  readonly id: string
  readonly canChange: boolean
  readonly onClose: () => void
}

export function LinkDrawer({ id, canChange, onClose }: LinkDrawerProps): ReactNode {
  const words = useText(shortlinkText)
  return (
    <Drawer open={id !== ''} size={800} title={words.detail} onClose={onClose} destroyOnHidden>
      {id !== '' && <OneLink key={id} id={id} canChange={canChange} />}
    </Drawer>
  )
}

function OneLink({ id, canChange }: { id: string; canChange: boolean }): ReactNode {
  const link = useAsk(linkRoutes.one, {}, { parts: { id } })
  return <Loaded asked={link}>{(got) => <Whole link={got} canChange={canChange} />}</Loaded>
}

function Whole({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const words = useText(shortlinkText)
  return (
    <div className="stack">
      <div className="row" style={{ alignItems: 'flex-start', gap: 24 }}>
        <div className="stack" style={{ flex: '1 1 320px' }}>
          <div>
            <div className="muted small">{words.aUrl}</div>
            <Copyable text={link.a_url} what={words.aUrl} />
            <div className="muted small" style={{ marginTop: 8 }}>
              {words.bUrl}
            </div>
            <Copyable text={link.b_url} what={words.bUrl} />
          </div>
          <EditLink link={link} canChange={canChange} />
        </div>
        <Qr url={link.a_url} name={link.title} />
      </div>
      <div className="muted">
        {words.clicks} <strong className="num">{count(link.clicks)}</strong> ·{' '}
        {words.botLine(count(link.bot_clicks), count(link.preview_clicks))} · {words.created}{' '}
        <Ago at={link.created_at} />
      </div>
      <LinkStatistics id={link.id} />
      <Retired link={link} canChange={canChange} />
    </div>
  )
}

function EditLink({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const words = useText(shortlinkText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ title: string; target_url: string }>()
  const [changed, setChanged] = useState(false)
  const change = useTell(linkRoutes.change)
  return (
    <Form
      name="edit-link"
      form={form}
      layout="vertical"
      requiredMark={false}
      disabled={!canChange}
      initialValues={{ title: link.title, target_url: link.target_url }}
      onValuesChange={() => setChanged(true)}
      onFinish={(sent) =>
        change.mutate(
          { sent, parts: { id: link.id } },
          {
            onSuccess: () => {
              setChanged(false)
              message.success(words.saved)
            },
            onError: (error) => void showFieldErrors(form, error),
          },
        )
      }
    >
      <Form.Item name="title" label={words.name} rules={[{ required: true, message: common.required }]}>
        <Input maxLength={200} />
      </Form.Item>
      <Form.Item
        name="target_url"
        label={words.target}
        extra={words.editNote}
        rules={[
          { required: true, message: words.targetRule },
          { pattern: webAddress, message: words.targetRule },
        ]}
      >
        <Input type="url" maxLength={2048} />
      </Form.Item>
      <div className="stack">
        <StepError error={change.error} />
        {changed && (
          <div className="row">
            <Button type="primary" htmlType="submit" loading={change.isPending}>
              {common.save}
            </Button>
            <Button
              onClick={() => {
                form.resetFields()
                setChanged(false)
              }}
            >
              {common.cancel}
            </Button>
          </div>
        )}
      </div>
    </Form>
  )
}

function Retired({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const words = useText(shortlinkText)
  const { message } = App.useApp()
  const prices = usePrices()
  const [asking, setAsking] = useState(false)
  const refresh = useTell(linkRoutes.refresh, { once: true })
  return (
    <section className="stack-8">
      <div className="row-between">
        <h3 style={{ margin: 0, fontSize: 14 }}>{words.history}</h3>
        {canChange && (
          <Button danger onClick={() => setAsking(true)}>
            {words.refresh}
          </Button>
        )}
      </div>
      {link.retired.length === 0 ? (
        <span className="muted">{words.noHistory}</span>
      ) : (
        <ul style={{ margin: 0, paddingInlineStart: 20 }}>
          {link.retired.map(({ short_code, retired_at }) => (
            <li key={short_code}>
              <span className="mono">{short_code}</span>{' '}
              <span className="muted">
                {words.retired} <Ago at={retired_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <Confirm
        open={asking}
        danger
        title={words.refreshTitle}
        consequence={words.refreshText(link.short_code, prices.execute_update)}
        ok={words.refresh}
        onClose={() => setAsking(false)}
        onConfirm={async () => {
          await refresh.mutateAsync({ sent: {}, parts: { id: link.id } })
          message.success(words.refreshed)
        }}
      />
    </section>
  )
}
