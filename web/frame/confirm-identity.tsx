// The dialog that confirms who the user is before a sensitive change; the call is then repeated.
import { Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { maxFactorCodeLength } from '../../contract/console/limits.ts'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import type { Me } from '../../contract/console/responses/session.ts'
import { securityRoutes } from '../../contract/console/security.ts'
import { callApi } from '../api/client.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

interface IdentityFields {
  readonly password?: string
  readonly code?: string
}

interface ConfirmIdentityProps {
  readonly open: boolean
  readonly confirmWith: Me['confirm_with']
  readonly onClose: (confirmed: boolean) => void
}

export function ConfirmIdentity({ open, confirmWith, onClose }: ConfirmIdentityProps): ReactNode {
  const t = useText(frameText)
  const [form] = Form.useForm<IdentityFields>()
  const isPassword = confirmWith === 'password'
  if (confirmWith === 'oidc') {
    return (
      <FormDialog<IdentityFields>
        open={open}
        title={t.confirmTitle}
        ok={t.confirmOidc}
        danger={false}
        onTop
        form={form}
        header={<span>{`${t.confirmText} ${t.confirmOidcText}`}</span>}
        onClose={() => onClose(false)}
        onSubmit={async () => {
          const { pathname, search } = window.location
          const next = pathname.replace(/^\/console/, '') + search
          const { url } = await callApi(oidcRoutes.confirm, { next })
          window.location.assign(url)
        }}
      >
        {null}
      </FormDialog>
    )
  }
  return (
    <FormDialog<IdentityFields>
      open={open}
      title={t.confirmTitle}
      ok={t.confirm}
      danger={false}
      onTop
      form={form}
      header={<span>{t.confirmText}</span>}
      onClose={() => onClose(false)}
      onSubmit={async (fields) => {
        await callApi(securityRoutes.confirm, fields)
        onClose(true)
      }}
    >
      <Form.Item
        name={isPassword ? 'password' : 'code'}
        label={isPassword ? t.confirmPassword : t.confirmCode}
        rules={[{ required: true, message: t.required }]}
      >
        {isPassword ? (
          <Input.Password autoComplete="current-password" />
        ) : (
          <Input className="mono" autoComplete="one-time-code" maxLength={maxFactorCodeLength} />
        )}
      </Form.Item>
    </FormDialog>
  )
}
