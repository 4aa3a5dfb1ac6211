// One short link: its URLs, an edit form, statistics, previous codes and the refresh button.
import { Link } from '@tanstack/react-router'
import { App, Button, Drawer, Form, Input, Tag } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { linkRoutes } from '../../contract/console/shortlink.ts'
import type { LinkDetail } from '../../contract/console/responses/shortlink.ts'
import { formatTime } from '../../contract/time.ts'
import { useApiQuery, usePrices, useApiMutation } from '../api/hooks.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { BreakableUrl, RelativeTime, formatCount } from '../parts/format.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { Loaded } from '../parts/loaded.tsx'
import { objectTitle } from '../parts/page.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { partsText } from '../parts/text.ts'
import { valuesOf } from './link-form.ts'
import { LinkStateLabel } from './link-state.tsx'
import { describeConditions } from './rule-names.ts'
import { LinkStatistics } from './statistics.tsx'
import { DesignQr } from './design-qr.tsx'
import { Qr } from './qr.tsx'
import { shortlinkText } from './text.ts'
import { TargetField, titleLimits } from './target-field.tsx'

interface LinkDrawerProps {
  readonly id: string
  readonly canChange: boolean
  readonly onClose: () => void
}

export function LinkDrawer({ id, canChange, onClose }: LinkDrawerProps): ReactNode {
  const t = useText(shortlinkText)
  const link = useApiQuery(linkRoutes.one, {}, { params: { id }, enabled: id !== '' })
  return (
    <Drawer
      open={id !== ''}
      size={800}
      title={objectTitle(t.detail, link.data?.title)}
      onClose={onClose}
      destroyOnHidden
    >
      {id !== '' && <LoadedLink key={id} id={id} canChange={canChange} />}
    </Drawer>
  )
}

function LoadedLink({ id, canChange }: { id: string; canChange: boolean }): ReactNode {
  const query = useApiQuery(linkRoutes.one, {}, { params: { id } })
  return <Loaded query={query}>{(link) => <Detail link={link} canChange={canChange} />}</Loaded>
}

function Detail({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const t = useText(shortlinkText)
  return (
    <div className="stack">
      <div className="row" style={{ alignItems: 'flex-start', gap: 24 }}>
        <div className="stack" style={{ flex: '1 1 320px' }}>
          <div>
            <div className="muted small">{t.aUrl}</div>
            <Copyable text={link.a_url} label={t.aUrl} />
            <div className="muted small" style={{ marginTop: 8 }}>
              {t.bUrl}
            </div>
            <Copyable text={link.b_url} label={t.bUrl} />
          </div>
          <LinkState link={link} canChange={canChange} />
          <EditLink link={link} canChange={canChange} />
        </div>
        <div className="stack-8">
          <Qr url={link.a_url} name={link.title} />
          {canChange && <DesignQr target={{ id: link.id }} />}
        </div>
      </div>
      <div className="muted">
        {t.clicks} <strong className="num">{formatCount(link.clicks)}</strong> ·{' '}
        {t.botLine(formatCount(link.bot_clicks), formatCount(link.preview_clicks))} · {t.created}{' '}
        <RelativeTime at={link.created_at} />
      </div>
      <div>
        <Link to="/shortlink/analytics" search={{ link: String(link.id) }}>
          {t.analytics}
        </Link>
      </div>
      <LinkStatistics id={link.id} />
      <PreviousCodes link={link} canChange={canChange} />
    </div>
  )
}

function LinkState({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const t = useText(shortlinkText)
  const language = useLanguage()
  const lines = [
    ...(link.expires_at === null ? [] : [t.expires(formatTime(link.expires_at))]),
    ...(link.max_clicks === null
      ? []
      : [t.visitsLeft(formatCount(link.remaining_clicks ?? 0), formatCount(link.max_clicks))]),
    ...(link.has_password ? [t.hasPassword] : []),
    ...valuesOf(link).rules.map(
      (rule, index) => `${index + 1}. ${describeConditions(rule, language)} → ${rule.target_url}`,
    ),
  ]
  return (
    <div className="stack-8">
      <div className="row">
        <LinkStateLabel link={link} />
        {link.tags.map((tag) => (
          <Tag key={tag}>{tag}</Tag>
        ))}
      </div>
      {lines.length > 0 && (
        <ul className="summary">
          {lines.map((line) => (
            <li key={line}>
              <BreakableUrl url={line} />
            </li>
          ))}
        </ul>
      )}
      {canChange && (
        <Link to="/shortlink/edit" search={{ link: String(link.id) }}>
          {t.editAll}
        </Link>
      )}
    </div>
  )
}

function EditLink({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const t = useText(shortlinkText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<{ title: string; target_url: string }>()
  const [changed, setChanged] = useState(false)
  // What the user began with: only what differs is sent, so that a change of another tab or call stays.
  const [before, setBefore] = useState({ title: link.title, target_url: link.target_url })
  const change = useApiMutation(linkRoutes.change)
  const begin = () => {
    form.resetFields()
    setBefore({ title: link.title, target_url: link.target_url })
    setChanged(false)
  }
  useEffect(() => {
    if (!changed) begin()
  }, [link.title, link.target_url])
  return (
    <Form
      name="edit-link"
      form={form}
      layout="vertical"
      disabled={!canChange}
      initialValues={{ title: link.title, target_url: link.target_url }}
      onValuesChange={() => setChanged(true)}
      onFinish={({ title, target_url }) => {
        const body = {
          ...(title === before.title ? {} : { title }),
          ...(target_url === before.target_url ? {} : { target_url }),
        }
        if (Object.keys(body).length === 0) return begin()
        change.mutate(
          { body, params: { id: link.id } },
          {
            onSuccess: () => {
              setBefore({ title, target_url })
              setChanged(false)
              message.success(t.saved)
            },
            onError: (error) => void showFieldErrors(form, error),
          },
        )
      }}
    >
      <Form.Item name="title" label={t.name} rules={[{ required: true, message: common.required }]}>
        <Input maxLength={titleLimits.maxLength} />
      </Form.Item>
      <TargetField hint={t.editHint} />
      <div className="stack">
        <ActionError error={change.error} />
        {changed && (
          <div className="row">
            <Button type="primary" htmlType="submit" loading={change.isPending}>
              {common.save}
            </Button>
            <Button onClick={begin}>{common.cancel}</Button>
          </div>
        )}
      </div>
    </Form>
  )
}

function PreviousCodes({ link, canChange }: { link: LinkDetail; canChange: boolean }): ReactNode {
  const t = useText(shortlinkText)
  const { message } = App.useApp()
  const prices = usePrices()
  const [confirming, setConfirming] = useState(false)
  const refresh = useApiMutation(linkRoutes.refresh, { idempotent: true })
  return (
    <section className="stack-8">
      <div className="row-between">
        <h3 style={{ margin: 0, fontSize: 14 }}>{t.previousCodes}</h3>
        {canChange && (
          <Button danger onClick={() => setConfirming(true)}>
            {t.refresh}
          </Button>
        )}
      </div>
      {link.retired.length === 0 ? (
        <span className="muted">{t.noPreviousCodes}</span>
      ) : (
        <ul style={{ margin: 0, paddingInlineStart: 20 }}>
          {link.retired.map(({ short_code, retired_at }) => (
            <li key={short_code}>
              <span className="mono">{short_code}</span>{' '}
              <span className="muted">
                {t.retired} <RelativeTime at={retired_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      <Confirm
        open={confirming}
        danger
        title={t.refreshTitle}
        consequence={t.refreshText(link.short_code, prices.execute_update)}
        ok={t.refresh}
        onClose={() => setConfirming(false)}
        onConfirm={async () => {
          await refresh.mutateAsync({ body: {}, params: { id: link.id } })
          message.success(t.refreshed)
        }}
      />
    </section>
  )
}
