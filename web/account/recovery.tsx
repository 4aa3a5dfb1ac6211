// A forgotten password: ask for a link by mail, and set a new password with it.
import { Link } from '@tanstack/react-router'
import { Alert, Button, Form, Input } from 'antd'
import { type ReactNode, useState } from 'react'
import { maxMailLength } from '../../contract/console/limits.ts'
import { sessionRoutes } from '../../contract/console/session.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { showFieldErrors } from '../parts/form.ts'
import { type NewPassword, NewPasswordFields } from './new-password-fields.tsx'
import { VisitorPage } from './sign-in.tsx'
import { accountText } from './text.ts'

export function ForgottenPage(): ReactNode {
  const t = useText(accountText)
  const [form] = Form.useForm<{ mail: string }>()
  const request = useApiMutation(sessionRoutes.requestRecovery)
  return (
    <VisitorPage title={t.forgottenTitle}>
      {request.isSuccess ? (
        <Alert type="success" showIcon title={t.linkSent} />
      ) : (
        <Form
          name="forgotten"
          form={form}
          layout="vertical"
          className="stack"
          onFinish={(body) =>
            request.mutate({ body }, { onError: (error) => void showFieldErrors(form, error) })
          }
        >
          <div>
            <p style={{ marginTop: 0 }}>{t.forgottenText}</p>
            <Form.Item name="mail" label={t.mail} rules={[{ required: true, message: t.required }]}>
              <Input size="large" type="email" autoComplete="email" autoFocus maxLength={maxMailLength} />
            </Form.Item>
          </div>
          <ActionError error={request.error} />
          <Button type="primary" size="large" htmlType="submit" block loading={request.isPending}>
            {t.sendLink}
          </Button>
        </Form>
      )}
      <BackToSignIn />
    </VisitorPage>
  )
}

export function RecoverPage(): ReactNode {
  const t = useText(accountText)
  // In the fragment, which browsers send to no server.
  const [token] = useState(() => window.location.hash.slice(1))
  const [form] = Form.useForm<NewPassword>()
  const recover = useApiMutation(sessionRoutes.recover)
  if (token === '') {
    return (
      <VisitorPage title={t.recoverTitle}>
        <Alert type="error" showIcon title={t.recoverNoToken} />
        <BackToSignIn />
      </VisitorPage>
    )
  }
  return (
    <VisitorPage title={t.recoverTitle}>
      {recover.isSuccess ? (
        <Alert type="success" showIcon title={t.recovered} />
      ) : (
        <Form
          name="recover"
          form={form}
          layout="vertical"
          className="stack"
          onFinish={({ new_password }) =>
            recover.mutate(
              { body: { token, new_password } },
              { onError: (error) => void showFieldErrors(form, error) },
            )
          }
        >
          <div>
            <p style={{ marginTop: 0 }}>{t.recoverText}</p>
            <NewPasswordFields size="large" autoFocus />
          </div>
          <ActionError error={recover.error} />
          <Button type="primary" size="large" htmlType="submit" block loading={recover.isPending}>
            {t.setPassword}
          </Button>
        </Form>
      )}
      <BackToSignIn />
    </VisitorPage>
  )
}

function BackToSignIn(): ReactNode {
  const t = useText(accountText)
  return (
    <p style={{ margin: '16px 0 0' }}>
      <Link to="/sign-in">{t.backToSignIn}</Link>
    </p>
  )
}
