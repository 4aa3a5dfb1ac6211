// The form that changes the password.
import { App, Button, Card, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { minPasswordLength } from '../../contract/console/limits.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { accountText } from '../account/text.ts'

interface PasswordFields {
  readonly current_password: string
  readonly new_password: string
  readonly repeated: string
}

export function PasswordCard(): ReactNode {
  const t = useText(accountText)
  const { message } = App.useApp()
  const [form] = Form.useForm<PasswordFields>()
  const change = useApiMutation(sessionRoutes.changePassword)
  const required = { required: true, message: t.required }
  return (
    <Card title={<h2>{t.changePassword}</h2>}>
      <p style={{ marginTop: 0 }}>{t.passwordEffect}</p>
      <Form
        name="change-password"
        form={form}
        layout="vertical"
        style={{ maxWidth: 400 }}
        onFinish={({ current_password, new_password }) =>
          change.mutate(
            { body: { current_password, new_password } },
            {
              onSuccess: ({ ended }) => {
                form.resetFields()
                message.success(t.passwordChanged(ended))
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <Form.Item name="current_password" label={t.currentPassword} rules={[required]}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Form.Item
          name="new_password"
          label={t.newPassword}
          extra={t.passwordHint(minPasswordLength)}
          rules={[required, { min: minPasswordLength, message: t.passwordShort(minPasswordLength) }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <Form.Item
          name="repeated"
          label={t.repeatPassword}
          dependencies={['new_password']}
          rules={[
            required,
            ({ getFieldValue }) => ({
              validator: async (_rule, value: string) => {
                if (value && value !== getFieldValue('new_password')) throw new Error(t.mismatch)
              },
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <div className="stack">
          <ActionError error={change.error} />
          <div>
            <Button type="primary" htmlType="submit" loading={change.isPending}>
              {t.changePassword}
            </Button>
          </div>
        </div>
      </Form>
    </Card>
  )
}
