// The dialog after a session has ended: the user signs in over the page and keeps what they entered.
import { useQueryClient } from '@tanstack/react-query'
import { Button, Modal } from 'antd'
import { type ReactNode, useEffect, useState } from 'react'
import { SignInForm } from '../account/sign-in-form.tsx'
import { useMe, useStart } from '../api/hooks.ts'
import { useText } from './i18n.ts'
import { frameText } from './text.ts'

interface SessionEndedProps {
  readonly username: string
  /** Who is signed in with this browser now. */
  readonly other: string | undefined
  readonly onSignedIn: () => void
}

export function SessionEnded({ username, other, onSignedIn }: SessionEndedProps): ReactNode {
  const t = useText(frameText)
  const client = useQueryClient()
  const start = useStart().data
  const me = useMe()
  const [openedAt] = useState(Date.now)
  // Another tab has signed in again.
  const isBack = me.isSuccess && me.dataUpdatedAt > openedAt && me.data.user.username === username
  useEffect(() => {
    if (isBack) void client.invalidateQueries().then(onSignedIn, onSignedIn)
  }, [isBack])
  return (
    // Above every other dialog, also the one that confirms who the user is.
    <Modal open closable={false} footer={null} title={t.sessionEndedTitle} width={400} zIndex={3_000}>
      <p>{t.sessionEndedText}</p>
      {start?.password_login !== false && (
        <SignInForm
          username={username}
          onSignedIn={(signedIn) => {
            // Another user must not see what is on the page.
            if (signedIn.user.username !== username) window.location.assign('/console/')
            else void client.invalidateQueries().then(onSignedIn, onSignedIn)
          }}
        />
      )}
      {start?.oidc === true && (
        // The provider is another site: in this tab, what was entered would be lost.
        <Button
          block
          type={start.password_login ? 'default' : 'primary'}
          href="/console/sign-in"
          target="_blank"
          style={{ marginTop: start.password_login ? 12 : 0 }}
        >
          {t.signInNewTab}
        </Button>
      )}
      {other !== undefined && (
        // Loads a new document, so that no data of the earlier account stays in memory.
        <Button type="link" block href="/console/" style={{ marginTop: 12 }}>
          {t.continueAs(other)}
        </Button>
      )}
    </Modal>
  )
}
