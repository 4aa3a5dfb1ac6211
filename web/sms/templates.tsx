// The list of templates.
import { PlusOutlined } from '@ant-design/icons'
import { Link } from '@tanstack/react-router'
import { Button, Card, Tag } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes } from '../../contract/console/sms.ts'
import type { Template } from '../../contract/console/responses/sms.ts'
import { templateStates } from '../../contract/sms-text.ts'
import { useApiQuery, useMe, useApiMutation } from '../api/hooks.ts'
import { usePick, useText } from '../frame/i18n.ts'
import { ConfirmItem } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { SearchFilter, SelectFilter } from '../parts/filters.tsx'
import { List, pageFooter } from '../parts/list.tsx'
import { useUrlState } from '../parts/url-state.ts'
import { ReviewState, reviewStateText } from './review-state.tsx'
import { TemplateEditor } from './template-editor.tsx'
import { smsText } from './text.ts'
import { VendorStates } from './vendor-states.tsx'

const defaults = { q: '', state: '', page: '1', size: '20' }

export function Templates(): ReactNode {
  const t = useText(smsText)
  const pick = usePick()
  const me = useMe()
  const [params, setParams] = useUrlState(defaults)
  const [editing, setEditing] = useState<Template | 'new'>()
  const [deleting, setDeleting] = useState<Template>()
  const remove = useApiMutation(smsRoutes.deleteTemplate)
  const state = templateStates.find((value) => value === params.state)
  const templates = useApiQuery(smsRoutes.templates, {
    page: Number(params.page),
    size: Number(params.size),
    ...(params.q === '' ? {} : { q: params.q }),
    ...(state ? { state } : {}),
  })
  const canChange = me.data?.read_only === false
  const createButton = canChange && (
    <Button type="primary" icon={<PlusOutlined />} onClick={() => setEditing('new')}>
      {t.newTemplate}
    </Button>
  )
  return (
    <>
      <div className="filters">
        <SearchFilter
          label={t.searchTemplate}
          value={params.q}
          width={280}
          onSearch={(q) => setParams({ q, page: '1' })}
        />
        <SelectFilter
          label={t.status}
          allLabel={t.allStatuses}
          value={params.state}
          values={templateStates}
          nameOf={(value) => pick(reviewStateText(value))}
          onChange={(value) => setParams({ state: value, page: '1' })}
        />
        {createButton}
      </div>
      <Card size="small">
        <List<Template, NonNullable<typeof templates.data>>
          query={templates}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.templates}
          empty={{ text: t.emptyTemplates, action: createButton }}
          onClear={params.q !== '' || state ? () => setParams(defaults) : undefined}
          columns={[
            {
              title: t.code,
              render: (_value, { code, shared }) => (
                <span className="row" style={{ flexWrap: 'nowrap' }}>
                  <Copyable text={code} label={t.code} />
                  {shared && <Tag>{t.shared}</Tag>}
                </span>
              ),
            },
            { title: t.name, card: 'plain', dataIndex: 'name' },
            { title: t.type, card: 'plain', render: (_value, { type }) => t[type] },
            {
              title: t.content,
              card: 'plain',
              render: (_value, { content }) => (
                <span className="cell-text" title={content}>
                  {content}
                </span>
              ),
            },
            {
              title: t.status,
              card: 'side',
              render: (_value, template) => (
                <div>
                  <ReviewState state={template.state} />
                  {template.reason && (
                    <div className="small muted" style={{ maxWidth: 160, whiteSpace: 'normal' }}>
                      {template.reason}
                    </div>
                  )}
                  <VendorStates vendors={template.vendors} />
                </div>
              ),
            },
            {
              title: t.updated,
              card: 'hide',
              render: (_value, { updated_at }) => <RelativeTime at={updated_at} />,
            },
            {
              title: '',
              align: 'end',
              render: (_value, template) => (
                <span className="row" style={{ justifyContent: 'flex-end', flexWrap: 'nowrap' }}>
                  {template.state === '审核通过' && (
                    <Link to="/sms" search={{ tab: 'send', template: template.code }}>
                      {t.sendWithTemplate}
                    </Link>
                  )}
                  {canChange && !template.shared && (
                    <>
                      <Button size="small" onClick={() => setEditing(template)}>
                        {t.edit}
                      </Button>
                      <Button size="small" danger onClick={() => setDeleting(template)}>
                        {t.delete}
                      </Button>
                    </>
                  )}
                </span>
              ),
            },
          ]}
          footer={pageFooter(setParams)}
        />
      </Card>
      <TemplateEditor editing={editing} onClose={() => setEditing(undefined)} />
      <ConfirmItem
        item={deleting}
        danger
        title={t.deleteTitle}
        consequence={({ code }) => t.deleteText(code)}
        ok={t.delete}
        done={t.deleted}
        onClose={() => setDeleting(undefined)}
        onConfirm={({ id }) => remove.mutateAsync({ body: {}, params: { id } })}
      />
    </>
  )
}
