// User name and password, used on the sign-in page and where a session has ended.
import { Button, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import type { Me, SignIn } from '../../contract/console/session.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useTakeSession, useTell } from '../api/hooks.ts'
import { useText } from '../frame/text.ts'
import { showFieldErrors } from '../parts/form.ts'
import { StepError } from '../parts/step-error.tsx'
import { accountText } from './text.ts'

interface SignInFormProps {
  readonly username?: string
  /** Makes a new account instead. */
  readonly signUp?: boolean
  readonly onSignedIn?: (me: Me) => void
}

export function SignInForm({ username, signUp = false, onSignedIn }: SignInFormProps): ReactNode {
  const words = useText(accountText)
  const [form] = Form.useForm<SignIn>()
  const takeSession = useTakeSession()
  const enter = useTell(signUp ? sessionRoutes.signUp : sessionRoutes.signIn)
  const submit = (sent: SignIn) =>
    enter.mutate(
      { sent },
      {
        onSuccess: (me) => {
          takeSession(me)
          onSignedIn?.(me)
        },
        onError: (error) => void showFieldErrors(form, error),
      },
    )
  const required = { required: true, message: words.required }
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
        <Form.Item name="username" label={words.username} rules={[required]}>
          <Input size="large" autoComplete="username" autoFocus={username === undefined} maxLength={64} />
        </Form.Item>
        <Form.Item
          name="password"
          label={words.password}
          rules={signUp ? [required, { min: 8, message: words.passwordShort }] : [required]}
          extra={signUp ? words.passwordHint : undefined}
        >
          <Input.Password
            size="large"
            autoComplete={signUp ? 'new-password' : 'current-password'}
            autoFocus={username !== undefined}
          />
        </Form.Item>
      </div>
      <StepError error={enter.error} />
      <Button type="primary" size="large" htmlType="submit" block loading={enter.isPending}>
        {signUp ? words.signUp : words.signIn}
      </Button>
    </Form>
  )
}
