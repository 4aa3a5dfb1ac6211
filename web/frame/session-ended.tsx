// The session ended while somebody worked: they sign in over the page, and nothing typed is lost.
import { useQueryClient } from '@tanstack/react-query'
import { Modal } from 'antd'
import type { ReactNode } from 'react'
import { SignInForm } from '../account/sign-in-form.tsx'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

export function SessionEnded({ username, onBack }: { username: string; onBack: () => void }): ReactNode {
  const t = useText(frameText)
  const client = useQueryClient()
  return (
    <Modal open closable={false} footer={null} title={t.lostTitle} width={400}>
      <p>{t.lostText}</p>
      <SignInForm
        username={username}
        onSignedIn={(me) => {
          // Somebody else must not see what is on the page.
          if (me.user.username !== username) window.location.assign('/console/')
          else void client.invalidateQueries().then(onBack, onBack)
        }}
      />
    </Modal>
  )
}
