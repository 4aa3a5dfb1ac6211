// User name and password, used on the sign-in page and where a session has ended.
import { Button, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import type { Me, SignIn } from '../../contract/console/session.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useSetSession, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { accountText } from './text.ts'

interface SignInFormProps {
  readonly username?: string
  /** Makes a new account instead. */
  readonly signUp?: boolean
  readonly onSignedIn?: (me: Me) => void
}

export function SignInForm({ username, signUp = false, onSignedIn }: SignInFormProps): ReactNode {
  const t = useText(accountText)
  const [form] = Form.useForm<SignIn>()
  const takeSession = useSetSession()
  const enter = useApiMutation(signUp ? sessionRoutes.signUp : sessionRoutes.signIn)
  const submit = (body: SignIn) =>
    enter.mutate(
      { body },
      {
        onSuccess: (me) => {
          takeSession(me)
          onSignedIn?.(me)
        },
        onError: (error) => void showFieldErrors(form, error),
      },
    )
  const required = { required: true, message: t.required }
  return (
    <Form
      name="enter"
      form={form}
      layout="vertical"
      requiredMark={false}
      initialValues={{ username }}
      onFinish={submit}
      className="stack"
    >
      <div>
        <Form.Item name="username" label={t.username} rules={[required]}>
          <Input size="large" autoComplete="username" autoFocus={username === undefined} maxLength={64} />
        </Form.Item>
        <Form.Item
          name="password"
          label={t.password}
          rules={signUp ? [required, { min: 8, message: t.passwordShort }] : [required]}
          extra={signUp ? t.passwordHint : undefined}
        >
          <Input.Password
            size="large"
            autoComplete={signUp ? 'new-password' : 'current-password'}
            autoFocus={username !== undefined}
          />
        </Form.Item>
      </div>
      <ActionError error={enter.error} />
      <Button type="primary" size="large" htmlType="submit" block loading={enter.isPending}>
        {signUp ? t.signUp : t.signIn}
      </Button>
    </Form>
  )
}
