// The form that changes the password.
import { App, Button, Card, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { type NewPassword, NewPasswordFields } from '../account/new-password-fields.tsx'
import { accountText } from '../account/text.ts'

interface PasswordFields extends NewPassword {
  readonly current_password: string
}

export function PasswordCard(): ReactNode {
  const t = useText(accountText)
  const { message } = App.useApp()
  const [form] = Form.useForm<PasswordFields>()
  const change = useApiMutation(sessionRoutes.changePassword)
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
        <Form.Item
          name="current_password"
          label={t.currentPassword}
          rules={[{ required: true, message: t.required }]}
        >
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <NewPasswordFields />
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
