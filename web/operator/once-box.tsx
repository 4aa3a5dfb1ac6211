// A new password that is shown once, with its user name.
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { operatorText } from './text.ts'

export function OnceBox({ username, password }: { username: string; password: string }): ReactNode {
  const t = useText(operatorText)
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={t.passwordOnce} />
      <div className="key-box">
        {username}
        <br />
        <span data-testid="fresh-password">{password}</span>
      </div>
      <div>
        <CopyButton text={password} label={t.password} primary>
          {t.password}
        </CopyButton>
      </div>
    </div>
  )
}
