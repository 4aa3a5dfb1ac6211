// A dialog with a new password, shown once: it closes only when the operator says that it is saved.
import { Alert, Button, Modal } from 'antd'
import type { ReactNode } from 'react'
import { useText } from '../frame/i18n.ts'
import { CopyButton } from '../parts/copy.tsx'
import { LeaveGuard } from '../parts/leave-guard.tsx'
import { operatorText } from './text.ts'

interface OnceDialogProps {
  readonly open: boolean
  readonly title: string
  readonly username: string
  readonly password: string
  readonly onSaved: () => void
}

export function OnceDialog({ open, title, username, password, onSaved }: OnceDialogProps): ReactNode {
  const t = useText(operatorText)
  const address = `${window.location.origin}/console/`
  return (
    <>
      <Modal
        open={open}
        title={title}
        closable={false}
        keyboard={false}
        mask={{ closable: false }}
        footer={<Button onClick={onSaved}>{t.savedIt}</Button>}
      >
        <div className="stack">
          <Alert type="warning" showIcon title={t.passwordOnce} />
          <div className="key-box">
            {username}
            <br />
            <span data-testid="fresh-password">{password}</span>
          </div>
          <div className="row">
            <CopyButton text={t.signInText(address, username, password)} label={t.signInData} primary>
              {t.copySignIn}
            </CopyButton>
            <CopyButton text={password} label={t.password}>
              {t.copyPassword}
            </CopyButton>
          </div>
        </div>
      </Modal>
      {/* Not inside: a dialog keeps its content when it closes. */}
      {open && <LeaveGuard title={t.passwordUnsaved} text={t.passwordLeave} />}
    </>
  )
}
