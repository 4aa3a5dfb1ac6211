// The templates that the operator shares with all accounts.
import { PlusOutlined } from '@ant-design/icons'
import { App, Button, Card, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { operatorSmsRoutes } from '../../contract/console/operator-sms.ts'
import type { SharedTemplate } from '../../contract/console/responses/operator-sms.ts'
import type { TemplateInput } from '../../contract/console/sms.ts'
import {
  maxSmsLength,
  maxTemplateCodeLength,
  maxTemplateNameLength,
  maxVariableLength,
  templateTypes,
} from '../../contract/sms-text.ts'
import { useApiMutation, useApiQuery } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { May } from '../frame/rights.tsx'
import { ActionError } from '../parts/action-error.tsx'
import { ConfirmItem } from '../parts/confirm.tsx'
import { Copyable } from '../parts/copy.tsx'
import { RelativeTime } from '../parts/format.tsx'
import { List } from '../parts/list.tsx'
import { partsText } from '../parts/text.ts'
import { smsText } from '../sms/text.ts'
import { OperatorForm } from './operator-form.tsx'
import { operatorSmsText } from './sms-text.ts'

export function SharedTemplates(): ReactNode {
  const t = useText(operatorSmsText)
  const words = useText(smsText)
  const { message } = App.useApp()
  const templates = useApiQuery(operatorSmsRoutes.sharedTemplates, {})
  const addStarters = useApiMutation(operatorSmsRoutes.addStarterTemplates)
  const remove = useApiMutation(operatorSmsRoutes.removeSharedTemplate)
  const [isAdding, setAdding] = useState(false)
  const [removing, setRemoving] = useState<SharedTemplate>()
  return (
    <div className="stack">
      <div className="filters" style={{ marginBottom: 0 }}>
        <span className="muted prose">{t.templatesLead}</span>
        <May change="reviews">
          <Button
            loading={addStarters.isPending}
            onClick={() =>
              addStarters.mutate({ body: {} }, { onSuccess: () => void message.success(t.startersAdded) })
            }
          >
            {t.addStarters}
          </Button>
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setAdding(true)}>
            {t.addTemplate}
          </Button>
        </May>
      </div>
      <ActionError error={addStarters.error} />
      <Card size="small">
        <List<SharedTemplate, NonNullable<typeof templates.data>>
          query={templates}
          items={({ items }) => items}
          rowKey={({ id }) => id}
          label={t.templates}
          empty={{ text: t.noTemplates }}
          columns={[
            { title: words.code, render: (_value, { code }) => <Copyable text={code} label={words.code} /> },
            { title: words.name, dataIndex: 'name' },
            { title: words.type, render: (_value, { type }) => words[type] },
            {
              title: words.content,
              render: (_value, { content }) => (
                <div style={{ maxWidth: 'clamp(200px, 28vw, 480px)', whiteSpace: 'normal' }}>{content}</div>
              ),
            },
            { title: words.updated, render: (_value, { updated_at }) => <RelativeTime at={updated_at} /> },
            {
              title: '',
              align: 'end',
              render: (_value, template) => (
                <May change="reviews">
                  <Button size="small" danger onClick={() => setRemoving(template)}>
                    {words.delete}
                  </Button>
                </May>
              ),
            },
          ]}
        />
      </Card>
      {isAdding && <AddDialog onClose={() => setAdding(false)} />}
      <ConfirmItem
        item={removing}
        danger
        withNote
        title={words.deleteTitle}
        consequence={({ code }) => words.deleteText(code)}
        ok={words.delete}
        done={words.deleted}
        onClose={() => setRemoving(undefined)}
        onConfirm={({ id }, { note }) => remove.mutateAsync({ body: { note }, params: { id } })}
      />
    </div>
  )
}

function AddDialog({ onClose }: { onClose: () => void }): ReactNode {
  const t = useText(operatorSmsText)
  const words = useText(smsText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<TemplateInput & { note: string }>()
  const add = useApiMutation(operatorSmsRoutes.addSharedTemplate)
  const required = [{ required: true, whitespace: true, message: common.required }]
  return (
    <OperatorForm<TemplateInput>
      open
      title={t.addTemplate}
      ok={t.addTemplate}
      form={form}
      initial={{ type: 'notification' }}
      onClose={onClose}
      onSubmit={async (fields) => {
        await add.mutateAsync({ body: fields })
        message.success(t.added)
      }}
    >
      <Form.Item name="code" label={words.code} extra={words.codeHint(maxTemplateCodeLength)}>
        <Input maxLength={maxTemplateCodeLength} />
      </Form.Item>
      <Form.Item name="name" label={words.name} rules={required}>
        <Input maxLength={maxTemplateNameLength} />
      </Form.Item>
      <Form.Item name="type" label={words.type}>
        <Select options={templateTypes.map((type) => ({ value: type, label: words[type] }))} />
      </Form.Item>
      <Form.Item
        name="content"
        label={words.content}
        extra={words.contentHint(maxVariableLength)}
        rules={required}
      >
        <Input.TextArea maxLength={maxSmsLength} autoSize={{ minRows: 3 }} />
      </Form.Item>
    </OperatorForm>
  )
}
