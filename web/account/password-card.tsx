// Changing the password ends all other sessions.
import { App, Button, Card, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { showFieldErrors } from '../parts/form.ts'
import { StepError } from '../parts/step-error.tsx'
import { accountText } from './text.ts'

interface Typed {
  readonly current_password: string
  readonly new_password: string
  readonly repeated: string
}

export function PasswordCard(): ReactNode {
  const words = useText(accountText)
  const { message } = App.useApp()
  const [form] = Form.useForm<Typed>()
  const change = useTell(sessionRoutes.changePassword)
  const required = { required: true, message: words.required }
  return (
    <Card title={<h2>{words.changePassword}</h2>}>
      <p style={{ marginTop: 0 }}>{words.passwordEffect}</p>
      <Form
        name="change-password"
        form={form}
        layout="vertical"
        requiredMark={false}
        style={{ maxWidth: 400 }}
        onFinish={({ current_password, new_password }) =>
          change.mutate(
            { sent: { current_password, new_password } },
            {
              onSuccess: ({ ended }) => {
                form.resetFields()
                message.success(words.passwordChanged(ended))
              },
              onError: (error) => void showFieldErrors(form, error),
            },
          )
        }
      >
        <Form.Item name="current_password" label={words.currentPassword} rules={[required]}>
          <Input.Password autoComplete="current-password" />
        </Form.Item>
        <Form.Item
          name="new_password"
          label={words.newPassword}
          extra={words.passwordHint}
          rules={[required, { min: 8, message: words.passwordShort }]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <Form.Item
          name="repeated"
          label={words.repeatPassword}
          dependencies={['new_password']}
          rules={[
            required,
            ({ getFieldValue }) => ({
              validator: async (_rule, value: string) => {
                if (value && value !== getFieldValue('new_password')) throw new Error(words.notSame)
              },
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" />
        </Form.Item>
        <div className="stack">
          <StepError error={change.error} />
          <div>
            <Button type="primary" htmlType="submit" loading={change.isPending}>
              {words.changePassword}
            </Button>
          </div>
        </div>
      </Form>
    </Card>
  )
}
