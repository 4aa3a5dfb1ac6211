// The second step of signing in: a code of the authenticator app, or a recovery code.
import { Button, Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { maxFactorCodeLength } from '../../contract/console/limits.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import type { CodeInput } from '../../contract/console/security.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useApiMutation, useSetSession } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { accountText } from './text.ts'

interface SecondStepFormProps {
  readonly onBack: () => void
  readonly onSignedIn: ((me: Me) => void) | undefined
}

export function SecondStepForm({ onBack, onSignedIn }: SecondStepFormProps): ReactNode {
  const t = useText(accountText)
  const [form] = Form.useForm<CodeInput>()
  const setSession = useSetSession()
  const verify = useApiMutation(sessionRoutes.secondStep)
  const submit = (body: CodeInput) =>
    verify.mutate(
      { body },
      {
        onSuccess: (me) => {
          setSession(me)
          onSignedIn?.(me)
        },
        onError: (error) => void showFieldErrors(form, error),
      },
    )
  return (
    <Form name="second-step" form={form} layout="vertical" className="stack" onFinish={submit}>
      <div>
        <p style={{ marginTop: 0 }}>{t.codeText}</p>
        <Form.Item name="code" label={t.codeLabel} rules={[{ required: true, message: t.required }]}>
          <Input
            size="large"
            className="mono"
            autoComplete="one-time-code"
            autoFocus
            maxLength={maxFactorCodeLength}
          />
        </Form.Item>
      </div>
      <ActionError error={verify.error} />
      <Button type="primary" size="large" htmlType="submit" block loading={verify.isPending}>
        {t.verify}
      </Button>
      <Button type="link" onClick={onBack}>
        {t.startAgain}
      </Button>
    </Form>
  )
}
