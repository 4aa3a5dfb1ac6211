// Templates: state, reason, and the way to write one.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { App, Button, Card, Input, Select, Tag } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes, type Template, templateStates } from '../../contract/console/sms.ts'
import { useAsk, useMe, useTell } from '../api/hooks.ts'
import { usePick, useText } from '../frame/text.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { Ago } from '../parts/figures.tsx'
import { List, Pager } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { ReviewState, reviewStateText } from './review-state.tsx'
import { TemplateEditor } from './template-editor.tsx'
import { smsText } from './text.ts'

const defaults = { q: '', state: '', page: '1', size: '20' }

export function Templates(): ReactNode {
  const words = useText(smsText)
  const pick = usePick()
  const me = useMe()
  const { message } = App.useApp()
  const [shown, show] = useUrlState(defaults)
  const [editing, setEditing] = useState<Template | 'new'>()
  const [deleting, setDeleting] = useState<Template>()
  const remove = useTell(smsRoutes.deleteTemplate)
  const state = templateStates.find((known) => known === shown.state)
  const templates = useAsk(smsRoutes.templates, {
    page: Number(shown.page),
    size: Number(shown.size),
    ...(shown.q === '' ? {} : { q: shown.q }),
    ...(state ? { state } : {}),
  })
  const canChange = me.data?.read_only === false
  const make = canChange && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setEditing('new')}>
      {words.newTemplate}
    </Button>
  )
  return (
    <>
      <div className="filters">
        <Input.Search
          key={shown.q}
          allowClear
          style={{ width: 240, maxWidth: '100%' }}
          placeholder={words.searchTemplate}
          aria-label={words.searchTemplate}
          defaultValue={shown.q}
          onSearch={(q) => show({ q: q.trim(), page: '1' })}
        />
        <Select
          aria-label={words.state}
          style={{ minWidth: 130 }}
          value={shown.state}
          onChange={(value) => show({ state: value, page: '1' })}
          options={[
            { value: '', label: words.allStates },
            ...templateStates.map((value) => ({ value, label: pick(reviewStateText(value)) })),
          ]}
        />
        {make}
      </div>
      <Card size="small">
        <List<Template, NonNullable<typeof templates.data>>
          asked={templates}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={words.templates}
          empty={{ text: words.emptyTemplates, action: make }}
          onClear={shown.q !== '' || state ? () => show(defaults) : undefined}
          columns={[
            {
              title: words.code,
              render: (_value, { code, shared }) => (
                <span className="row" style={{ flexWrap: 'nowrap' }}>
                  <Copyable text={code} what={words.code} />
                  {shared && <Tag>{words.shared}</Tag>}
                </span>
              ),
            },
            { title: words.name, dataIndex: 'name' },
            {
              title: words.content,
              render: (_value, { content }) => (
                <span className="clip" style={{ maxWidth: 'clamp(180px, 18vw, 400px)' }} title={content}>
                  {content}
                </span>
              ),
            },
            {
              title: words.state,
              render: (_value, template) => (
                <div>
                  <ReviewState state={template.state} />
                  {template.reason && (
                    <div className="small muted" style={{ maxWidth: 160, whiteSpace: 'normal' }}>
                      {template.reason}
                    </div>
                  )}
                </div>
              ),
            },
            { title: words.updated, render: (_value, { updated_at }) => <Ago at={updated_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, template) => (
                <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                  {template.state === '审核通过' && (
                    <Link to="/sms" search={{ tab: 'send', template: template.code }}>
                      {words.useIt}
                    </Link>
                  )}
                  {canChange && !template.shared && (
                    <>
                      <Button size="small" onClick={() => setEditing(template)}>
                        {words.edit}
                      </Button>
                      <Button size="small" danger onClick={() => setDeleting(template)}>
                        {words.delete}
                      </Button>
                    </>
                  )}
                </span>
              ),
            },
          ]}
          footer={({ page, size, total }) => (
            <Pager
              page={page}
              size={size}
              total={total}
              onChange={(next, length) => show({ page: String(next), size: String(length) })}
            />
          )}
        />
      </Card>
      <TemplateEditor editing={editing} onClose={() => setEditing(undefined)} />
      <Confirm
        open={deleting !== undefined}
        danger
        title={words.deleteTitle}
        consequence={words.deleteText(deleting?.code ?? '')}
        ok={words.delete}
        onClose={() => setDeleting(undefined)}
        onConfirm={async () => {
          if (!deleting) return
          await remove.mutateAsync({ sent: {}, parts: { id: deleting.id } })
          message.success(words.deleted)
        }}
      />
    </>
  )
}
