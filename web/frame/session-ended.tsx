// The dialog after a session has ended: the user signs in over the page and keeps what they entered.
import { useQueryClient } from '@tanstack/react-query'
import { Button, Modal } from 'antd'
import type { ReactNode } from 'react'
import { SignInForm } from '../account/sign-in-form.tsx'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

export function SessionEnded({
  username,
  other,
  onSignedIn,
}: {
  username: string
  /** Who is signed in with this browser now. */
  other: string | undefined
  onSignedIn: () => void
}): ReactNode {
  const t = useText(frameText)
  const client = useQueryClient()
  return (
    <Modal open closable={false} footer={null} title={t.sessionEndedTitle} width={400}>
      <p>{t.sessionEndedText}</p>
      <SignInForm
        username={username}
        onSignedIn={(me) => {
          // Another user must not see what is on the page.
          if (me.user.username !== username) window.location.assign('/console/')
          else void client.invalidateQueries().then(onSignedIn, onSignedIn)
        }}
      />
      {other !== undefined && (
        // Loads a new document, so that no data of the earlier account stays in memory.
        <Button type="link" block href="/console/" style={{ marginTop: 12 }}>
          {t.continueAs(other)}
        </Button>
      )}
    </Modal>
  )
}
