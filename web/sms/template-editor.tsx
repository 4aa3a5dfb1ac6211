// The template form, with a live preview.
import { App, Button, Drawer, Form, Input, Select } from 'antd'
import { type ReactNode, useState } from 'react'
import { smsRoutes, type TemplateInput } from '../../contract/console/sms.ts'
import type { Template } from '../../contract/console/responses/sms.ts'
import {
  isTemplateCode,
  maxSmsLength,
  maxTemplateCodeLength,
  maxTemplateNameLength,
  maxVariableLength,
  templateTypes,
} from '../../contract/sms-text.ts'
import { useApiQuery, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { objectTitle } from '../parts/page.tsx'
import { partsText } from '../parts/text.ts'
import { findVariables, messageLength, splitTemplate } from './message.ts'
import { Phone } from './phone.tsx'
import { smsText } from './text.ts'

interface TemplateEditorProps {
  readonly editing: Template | 'new' | undefined
  readonly onClose: () => void
}

export function TemplateEditor({ editing, onClose }: TemplateEditorProps): ReactNode {
  const t = useText(smsText)
  return (
    <Drawer
      open={editing !== undefined}
      size={800}
      title={editing === 'new' ? t.newTemplate : objectTitle(t.editTemplate, editing?.name)}
      onClose={onClose}
      destroyOnHidden
    >
      {editing !== undefined && (
        <Editor template={editing === 'new' ? undefined : editing} onDone={onClose} />
      )}
    </Drawer>
  )
}

function Editor({ template, onDone }: { template: Template | undefined; onDone: () => void }): ReactNode {
  const t = useText(smsText)
  const common = useText(partsText)
  const { message } = App.useApp()
  const [form] = Form.useForm<TemplateInput>()
  const content = Form.useWatch('content', form) ?? template?.content ?? ''
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const signature = useApiQuery(smsRoutes.signature, {})
  const sign = signature.data?.sign_name ?? signature.data?.platform_sign_name ?? 'Tollgate'
  const create = useApiMutation(smsRoutes.createTemplate)
  const change = useApiMutation(smsRoutes.changeTemplate)
  const variables = findVariables(content)
  const done = {
    onSuccess: () => {
      message.success(t.submitted)
      onDone()
    },
    onError: (error: Error) => void showFieldErrors(form, error),
  }
  const codeRule = t.codeHint(maxTemplateCodeLength)
  const required = { required: true, whitespace: true, message: common.required }
  return (
    <div className="editor">
      <Form
        name="template"
        form={form}
        layout="vertical"
        initialValues={template ?? { type: 'notification' }}
        onFinish={({ name, type = 'notification', content: text, code }) =>
          template
            ? change.mutate({ body: { name, type, content: text }, params: { id: template.id } }, done)
            : create.mutate({ body: { name, type, content: text, ...(code ? { code } : {}) } }, done)
        }
      >
        <Form.Item name="name" label={t.name} rules={[required]}>
          <Input maxLength={maxTemplateNameLength} />
        </Form.Item>
        <Form.Item name="type" label={t.type} extra={t.marketingHint}>
          <Select options={templateTypes.map((type) => ({ value: type, label: t[type] }))} />
        </Form.Item>
        {!template && (
          <Form.Item
            name="code"
            label={t.code}
            extra={codeRule}
            rules={[
              {
                validator: async (_rule, code: string | undefined) => {
                  if (code && !isTemplateCode(code)) throw new Error(codeRule)
                },
              },
            ]}
          >
            <Input className="mono" maxLength={maxTemplateCodeLength} />
          </Form.Item>
        )}
        <Form.Item
          name="content"
          label={t.content}
          extra={t.contentHint(maxVariableLength)}
          rules={[
            required,
            {
              validator: async (_rule, text: string | undefined) => {
                if (messageLength(sign, [{ text: text ?? '' }]) > maxSmsLength)
                  throw new Error(t.contentTooLong(maxSmsLength))
              },
            },
          ]}
        >
          <Input.TextArea autoSize={{ minRows: 4, maxRows: 12 }} />
        </Form.Item>
        <fieldset className="plain-fieldset">
          <legend>{t.variables}</legend>
          {variables.length === 0 ? (
            <p className="muted">{t.noVariables}</p>
          ) : (
            <>
              <p className="muted">{t.variablesHint}</p>
              <div className="grid-half">
                {variables.map((name) => (
                  <label key={name} className="stack-8" style={{ gap: 4, marginBottom: 8 }}>
                    <span className="mono">{name}</span>
                    <Input
                      value={values[name] ?? ''}
                      onChange={(event) => setValues({ ...values, [name]: event.target.value })}
                    />
                  </label>
                ))}
              </div>
            </>
          )}
        </fieldset>
        <div className="stack">
          {template && <span className="muted">{t.reviewHint}</span>}
          <ActionError error={create.error ?? change.error} />
          <div>
            <Button type="primary" htmlType="submit" loading={create.isPending || change.isPending}>
              {t.submit}
            </Button>
          </div>
        </div>
      </Form>
      <Phone sign={sign} pieces={splitTemplate(content, values)} />
    </div>
  )
}
