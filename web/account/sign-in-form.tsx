// The form with user name and password: on the sign-in page and in the dialog after a session has ended.
import { Button, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxUsernameLength, minPasswordLength } from '../../contract/console/limits.ts'
import { sessionRoutes, type SignIn } from '../../contract/console/session.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import { ApiError } from '../api/client.ts'
import { useSetSession, useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { showFieldErrors } from '../parts/form.ts'
import { ActionError } from '../parts/action-error.tsx'
import { SecondStepForm } from './second-step-form.tsx'
import { accountText } from './text.ts'

interface SignInFormProps {
  readonly username?: string
  /** Creates an account instead. */
  readonly signUp?: boolean
  /** The user comes back from the OpenID provider, and the second factor is missing. */
  readonly afterOidc?: boolean
  readonly onSignedIn?: (me: Me) => void
}

export function SignInForm(props: SignInFormProps): ReactNode {
  const { username, signUp = false, afterOidc = false, onSignedIn } = props
  const t = useText(accountText)
  const [form] = Form.useForm<SignIn>()
  const [isBack, setBack] = useState(false)
  const setSession = useSetSession()
  const signIn = useApiMutation(signUp ? sessionRoutes.signUp : sessionRoutes.signIn)
  const submit = (body: SignIn) =>
    signIn.mutate(
      { body },
      {
        onSuccess: (me) => {
          setSession(me)
          onSignedIn?.(me)
        },
        onError: (error) => void showFieldErrors(form, error),
      },
    )
  const required = { required: true, message: t.required }
  const needsCode = signIn.error instanceof ApiError && signIn.error.code === 'second_factor_required'
  if (needsCode || (afterOidc && !isBack)) {
    const back = () => {
      setBack(true)
      signIn.reset()
    }
    return <SecondStepForm onBack={back} onSignedIn={onSignedIn} />
  }
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
          <Input
            size="large"
            autoComplete="username"
            autoFocus={username === undefined}
            maxLength={maxUsernameLength}
          />
        </Form.Item>
        <Form.Item
          name="password"
          label={t.password}
          rules={
            signUp
              ? [required, { min: minPasswordLength, message: t.passwordShort(minPasswordLength) }]
              : [required]
          }
          extra={signUp ? t.passwordHint(minPasswordLength) : undefined}
        >
          <Input.Password
            size="large"
            autoComplete={signUp ? 'new-password' : 'current-password'}
            autoFocus={username !== undefined}
          />
        </Form.Item>
      </div>
      <ActionError error={signIn.error} />
      <Button type="primary" size="large" htmlType="submit" block loading={signIn.isPending}>
        {signUp ? t.signUp : t.signIn}
      </Button>
    </Form>
  )
}
