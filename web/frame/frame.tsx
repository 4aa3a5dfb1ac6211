// The frame around every page: navigation, top bar, banners. Redirects to the sign-in page without a session.
import { MenuFoldOutlined, MenuUnfoldOutlined } from '@ant-design/icons'
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { Alert, App, Button, ConfigProvider } from 'antd'
import enUS from 'antd/es/locale/en_US'
import zhCN from 'antd/es/locale/zh_CN'
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import type { Me, Start } from '../../contract/console/responses/session.ts'
import { onConfirmationRequired, onSessionEnded } from '../api/client.ts'
import { useMe, useStart } from '../api/hooks.ts'
import { leaveViewAs } from '../api/view-as.ts'
import { lazyDialog } from '../parts/lazy-dialog.tsx'
import { Loaded, LoadError } from '../parts/loaded.tsx'
import { useIsMedium } from '../parts/narrow.ts'
import { ForbiddenPage } from './error-pages.tsx'
import { mayOpenPath, Navigation } from './navigation.tsx'
import { setPreferences, usePreferences } from './preferences.ts'
import { useOperatorRole } from './rights.tsx'
import { useLanguage, useText } from './i18n.ts'
import { TopBar } from './top-bar.tsx'
import { frameText } from './text.ts'

const MenuDrawer = lazyDialog(async () => (await import('./menu-drawer.tsx')).MenuDrawer, {
  isOpen: ({ open }) => open,
  close: ({ onClose }) => onClose(),
})
const ConfirmIdentity = lazyDialog(async () => (await import('./confirm-identity.tsx')).ConfirmIdentity, {
  isOpen: ({ open }) => open,
  close: ({ onClose }) => onClose(false),
})
/** Loaded when they are first needed. */
const SessionEnded = lazy(async () => ({ default: (await import('./session-ended.tsx')).SessionEnded }))
const SecurityPage = lazy(async () => ({ default: (await import('../security/page.tsx')).SecurityPage }))

export function Frame(): ReactNode {
  const start = useStart()
  const language = useLanguage()
  if (start.data?.me === null) return <RedirectToSignIn />
  if (start.isError) {
    return (
      <main className="frame-main">
        <LoadError error={start.error} onRetry={() => void start.refetch()} />
      </main>
    )
  }
  return (
    <ConfigProvider locale={language === 'zh' ? zhCN : enUS}>
      <App component={false}>{start.data ? <SignedIn start={start.data} /> : <FrameSkeleton />}</App>
    </ConfigProvider>
  )
}

/** `next` leads back to the requested page after signing in. */
function RedirectToSignIn(): ReactNode {
  const navigate = useNavigate()
  useEffect(() => {
    const { pathname, search } = window.location
    const next = pathname.replace(/^\/console/, '') + search
    void navigate({ to: '/sign-in', search: next === '/' ? {} : { next }, replace: true })
  }, [navigate])
  return <FrameSkeleton />
}

function FrameSkeleton(): ReactNode {
  return (
    <div className="frame">
      <div className="frame-side hide-narrow">
        <div className="brand">Tollgate</div>
      </div>
      <div className="frame-body">
        <div className="frame-top" />
        <div className="frame-main">
          <div className="bones" aria-busy="true" />
        </div>
      </div>
    </div>
  )
}

/** A question who the user is. It stays after the answer, so that closing is animated. */
interface Confirmation {
  readonly isOpen: boolean
  readonly finish: (confirmed: boolean) => void
}

function SignedIn({ start }: { start: Start }): ReactNode {
  const me = useMe()
  const [sessionEnded, setSessionEnded] = useState(false)
  useEffect(() => onSessionEnded(() => setSessionEnded(true)), [])
  const [confirmation, setConfirmation] = useState<Confirmation>()
  useEffect(
    () =>
      onConfirmationRequired(
        () => new Promise((resolve) => setConfirmation({ isOpen: true, finish: resolve })),
      ),
    [],
  )
  // Another account has signed in with another tab.
  const other =
    start.me && me.data && me.data.user.id !== start.me.user.id ? me.data.user.username : undefined
  return (
    <>
      {/* The page stays mounted behind the dialog, with everything the user entered. */}
      {me.data ? (
        <Layout start={start} me={me.data} />
      ) : (
        <Loaded query={me} skeleton={<FrameSkeleton />}>
          {() => null}
        </Loaded>
      )}
      {me.data && confirmation && (
        <ConfirmIdentity
          open={confirmation.isOpen}
          confirmWith={me.data.confirm_with}
          onClose={(confirmed) => {
            setConfirmation({ ...confirmation, isOpen: false })
            confirmation.finish(confirmed)
          }}
        />
      )}
      {(sessionEnded || other !== undefined) && start.me && (
        <Suspense fallback={null}>
          <SessionEnded
            username={start.me.user.username}
            other={other}
            onSignedIn={() => setSessionEnded(false)}
          />
        </Suspense>
      )}
    </>
  )
}

function Layout({ start, me }: { start: Start; me: Me }): ReactNode {
  const t = useText(frameText)
  const { folded: foldedWide, foldedMedium } = usePreferences()
  const isMedium = useIsMedium()
  const folded = isMedium ? foldedMedium : foldedWide
  const [drawer, setDrawer] = useState(false)
  const path = useLocation({ select: ({ pathname }) => pathname.replace(/^\/console/, '') })
  const role = useOperatorRole()
  const isOperator = me.user.role === 'operator' && !me.read_only
  const isForbidden = path.startsWith('/operator/') && !(isOperator && mayOpenPath(role, path))
  const pageContent = isForbidden ? <ForbiddenPage isOperator={isOperator} /> : <Outlet />
  return (
    <div className="frame">
      <a className="skip" href="#content">
        {t.skip}
      </a>
      <aside aria-label="Tollgate" className="frame-side hide-narrow" style={{ width: folded ? 64 : 208 }}>
        <Brand folded={folded} />
        <Navigation operator={isOperator} folded={folded} />
        <Button
          className="fold"
          type="text"
          icon={folded ? <MenuUnfoldOutlined /> : <MenuFoldOutlined />}
          aria-label={folded ? t.unfold : t.fold}
          aria-expanded={!folded}
          onClick={() => setPreferences(isMedium ? { foldedMedium: !folded } : { folded: !folded })}
        />
      </aside>
      <MenuDrawer open={drawer} operator={isOperator} onClose={() => setDrawer(false)} />
      <div className="frame-body">
        <TopBar me={me} onMenu={() => setDrawer(true)} />
        <Banners start={start} me={me} />
        <main id="content" className="frame-main" tabIndex={-1}>
          {me.user.must_enrol ? (
            <Suspense fallback={<div className="bones" />}>
              <SecurityPage />
            </Suspense>
          ) : (
            pageContent
          )}
        </main>
      </div>
    </div>
  )
}

function Brand({ folded }: { folded: boolean }): ReactNode {
  return (
    <Link to="/" className="brand" aria-label="Tollgate" style={folded ? { padding: '0 18px' } : undefined}>
      <img src="/console/gate.svg" alt="" />
      {!folded && 'Tollgate'}
    </Link>
  )
}

function Banners({ start, me }: { start: Start; me: Me }): ReactNode {
  const t = useText(frameText)
  const names = { sms: t.sms, identity: t.identity, domain_check: t.domainCheck }
  const { account } = me
  return (
    <>
      {me.user.must_enrol && <Alert className="banner" banner type="warning" title={t.mustEnrol} />}
      {me.read_only && (
        <Alert
          className="banner"
          banner
          type="warning"
          title={t.viewing(account.username)}
          action={
            <Button size="small" onClick={leaveViewAs}>
              {t.leaveView}
            </Button>
          }
        />
      )}
      {account.suspended ? (
        <Alert className="banner" banner type="error" title={t.suspended} />
      ) : (
        account.expired && <Alert className="banner" banner type="warning" title={t.expired} />
      )}
      {start.sandbox.length > 0 && (
        <Alert
          className="banner"
          banner
          type="info"
          title={t.sandbox(start.sandbox.map((group) => names[group]).join(t.separator))}
        />
      )}
    </>
  )
}
