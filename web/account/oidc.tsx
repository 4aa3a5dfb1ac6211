// Single sign-on on the sign-in page: the button, and what came back from the OpenID provider.
import type { ReactNode } from 'react'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { PlainAlert, PlainError } from '../parts/plain-alert.tsx'
import { PlainButton } from '../parts/plain-button.tsx'
import { accountText } from './text.ts'

export function OidcButton({ next, primary }: { next: string | undefined; primary: boolean }): ReactNode {
  const t = useText(accountText)
  const begin = useApiMutation(oidcRoutes.signIn)
  // `next` may be a whole path with the base of the console.
  const path = next?.replace(/^\/console(?=\/)/, '')
  return (
    <div className="stack" style={{ marginTop: primary ? 0 : 16 }}>
      <PlainButton
        block
        primary={primary}
        busy={begin.isPending || begin.isSuccess}
        onClick={() =>
          begin.mutate(
            { body: path === undefined ? {} : { next: path } },
            { onSuccess: ({ url }) => window.location.assign(url) },
          )
        }
      >
        {t.oidc}
      </PlainButton>
      <PlainError error={begin.error} />
    </div>
  )
}

export function OidcResult({ result, subject }: { result: string; subject: string }): ReactNode {
  const t = useText(accountText)
  const isUnlinked = result === 'unlinked'
  return (
    <div style={{ marginBottom: 16 }}>
      <PlainAlert
        tone={isUnlinked ? 'warning' : 'error'}
        title={isUnlinked ? t.oidcUnlinked : t.oidcFailed(result)}
      >
        {isUnlinked && <span>{t.oidcUnlinkedText(subject)}</span>}
      </PlainAlert>
    </div>
  )
}
