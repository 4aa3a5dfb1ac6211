// Single sign-on on the sign-in page: the button, and what came back from the OpenID provider.
import { Alert, Button } from 'antd'
import type { ReactNode } from 'react'
import { oidcRoutes } from '../../contract/console/oidc.ts'
import { useApiMutation } from '../api/hooks.ts'
import { useText } from '../frame/i18n.ts'
import { ActionError } from '../parts/action-error.tsx'
import { accountText } from './text.ts'

export function OidcButton({ next, primary }: { next: string | undefined; primary: boolean }): ReactNode {
  const t = useText(accountText)
  const begin = useApiMutation(oidcRoutes.signIn)
  // `next` may be a whole path with the base of the console.
  const path = next?.replace(/^\/console(?=\/)/, '')
  return (
    <div className="stack" style={{ marginTop: primary ? 0 : 16 }}>
      <Button
        block
        size="large"
        type={primary ? 'primary' : 'default'}
        loading={begin.isPending || begin.isSuccess}
        onClick={() =>
          begin.mutate(
            { body: path === undefined ? {} : { next: path } },
            { onSuccess: ({ url }) => window.location.assign(url) },
          )
        }
      >
        {t.oidc}
      </Button>
      <ActionError error={begin.error} />
    </div>
  )
}

export function OidcResult({ result, subject }: { result: string; subject: string }): ReactNode {
  const t = useText(accountText)
  const isUnlinked = result === 'unlinked'
  return (
    <Alert
      type={isUnlinked ? 'warning' : 'error'}
      showIcon
      style={{ marginBottom: 16 }}
      title={isUnlinked ? t.oidcUnlinked : t.oidcFailed(result)}
      {...(isUnlinked && { description: t.oidcUnlinkedText(subject) })}
    />
  )
}
