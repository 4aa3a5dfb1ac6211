// The fields of a new password: the password and its repetition.
import { Form, Input } from 'antd'
import type { ReactNode } from 'react'
import { minPasswordLength } from '../../contract/console/limits.ts'
import { useText } from '../frame/i18n.ts'
import { accountText } from './text.ts'

export interface NewPassword {
  readonly new_password: string
  readonly repeated: string
}

interface NewPasswordFieldsProps {
  readonly size?: 'large'
  readonly autoFocus?: boolean
}

export function NewPasswordFields({ size, autoFocus = false }: NewPasswordFieldsProps): ReactNode {
  const t = useText(accountText)
  const required = { required: true, message: t.required }
  const common = { autoComplete: 'new-password', ...(size && { size }) }
  return (
    <>
      <Form.Item
        name="new_password"
        label={t.newPassword}
        extra={t.passwordHint(minPasswordLength)}
        rules={[required, { min: minPasswordLength, message: t.passwordShort(minPasswordLength) }]}
      >
        <Input.Password {...common} autoFocus={autoFocus} />
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
        <Input.Password {...common} />
      </Form.Item>
    </>
  )
}
