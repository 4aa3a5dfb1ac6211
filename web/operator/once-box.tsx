// A password that is shown once, with the name it belongs to.
import { Alert } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/text.ts'
import { CopyButton } from '../parts/copy.tsx'
import { operatorText } from './text.ts'

export function OnceBox({ username, password }: { username: string; password: string }): ReactNode {
  const words = useText(operatorText)
  return (
    <div className="stack">
      <Alert type="warning" showIcon title={words.passwordOnce} />
      <div className="key-box">
        {username}
        <br />
        <span data-testid="fresh-password">{password}</span>
      </div>
      <div>
        <CopyButton text={password} what={words.passwordWord} primary>
          {words.passwordWord}
        </CopyButton>
      </div>
    </div>
  )
}
