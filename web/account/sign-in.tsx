// The sign-in and sign-up pages. They load before anything else, so they import little.
import { Link, useLocation, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { docsAddress } from '../../contract/docs-address.ts'
import { useStart } from '../api/hooks.ts'
import { setPreferences } from '../frame/preferences.ts'
import { useLanguage, useText } from '../frame/i18n.ts'
import { PlainButton } from '../parts/plain-button.tsx'
import { parseSearch } from '../parts/url-state.ts'
import { OidcButton, OidcResult } from './oidc.tsx'
import { SignInForm } from './sign-in-form.tsx'
import { accountText } from './text.ts'

export function SignInPage(): ReactNode {
  return <SignInLayout signUp={false} />
}

export function SignUpPage(): ReactNode {
  return <SignInLayout signUp />
}

/** The page around the forms of visitors who are not signed in. */
export function VisitorPage({ title, children }: { title: string; children: ReactNode }): ReactNode {
  const t = useText(accountText)
  useEffect(() => {
    document.title = `${title} · Tollgate`
  }, [title])
  return (
    <main className="centered-page">
      <div className="centered-column">
        <div className="brand" style={{ padding: 0, marginBottom: 8 }}>
          <img src="/console/gate.svg" alt="" />
          Tollgate
        </div>
        <div className="sign-in-box">
          <h1 style={{ fontSize: 20, margin: '0 0 16px' }}>{title}</h1>
          {children}
        </div>
        <p className="muted small prose" style={{ marginTop: 16 }}>
          {t.about}
        </p>
      </div>
      <SignInFooter />
    </main>
  )
}

/** What the way back from the OpenID provider adds to the address. */
interface SignInSearch {
  readonly next?: string
  readonly step?: string
  readonly oidc?: string
  readonly subject?: string
}

function SignInLayout({ signUp }: { signUp: boolean }): ReactNode {
  const t = useText(accountText)
  const start = useStart()
  const navigate = useNavigate()
  const search = useLocation({ select: (location) => location.search as SignInSearch })
  // Stored once: the URL changes before this page unmounts.
  const [next] = useState(search.next)
  const role = start.data?.me?.user.role
  const title = signUp ? t.signUp : t.signIn
  useEffect(() => {
    if (role === undefined) return
    // Joined to the origin, so that `next` cannot lead to another site.
    const home = role === 'operator' ? '/operator/overview' : '/'
    const target = new URL(window.location.origin + (next?.startsWith('/') ? next : home))
    void navigate({ to: target.pathname, search: parseSearch(target.search), replace: true })
  }, [role, next, navigate])

  const closed = signUp && start.data?.sign_up === false
  return (
    <VisitorPage title={title}>
      {search.oidc !== undefined && <OidcResult result={search.oidc} subject={search.subject ?? ''} />}
      {closed && <p>{t.signUpClosed}</p>}
      {!closed && (start.data?.password_login !== false || search.step === 'code') && (
        <SignInForm signUp={signUp} afterOidc={search.step === 'code'} />
      )}
      {!signUp && start.data?.oidc === true && search.step !== 'code' && (
        <OidcButton next={next} primary={start.data.password_login === false} />
      )}
      {closed && (
        <p style={{ margin: '16px 0 0' }}>
          <Link to="/sign-in">{t.haveAccount}</Link>
        </p>
      )}
      {start.data?.sign_up === true && (
        <p style={{ margin: '16px 0 0' }}>
          {signUp ? <Link to="/sign-in">{t.haveAccount}</Link> : <Link to="/sign-up">{t.noAccount}</Link>}
        </p>
      )}
      {!signUp && start.data?.password_login === true && (
        <p className="muted" style={{ margin: '16px 0 0' }}>
          {start.data.recovery ? <Link to="/forgotten">{t.forgottenLink}</Link> : t.forgotten}
        </p>
      )}
    </VisitorPage>
  )
}

function SignInFooter(): ReactNode {
  const t = useText(accountText)
  const language = useLanguage()
  return (
    <div className="sign-in-footer">
      <PlainButton
        title={t.language}
        onClick={() => setPreferences({ language: language === 'zh' ? 'en' : 'zh' })}
      >
        {language === 'zh' ? 'English' : '中文'}
      </PlainButton>
      <a className="plain-button" href={docsAddress(language)}>
        {t.docs}
      </a>
    </div>
  )
}
