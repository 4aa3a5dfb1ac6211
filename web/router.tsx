// Every page and where it stands. Pages are loaded when they are first opened; only the sign-in page comes at once.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { SignInPage, SignUpPage } from './account/sign-in.tsx'
import { ErrorPage, NotFoundPage } from './frame/error-pages.tsx'
import { parseSearch, stringifySearch } from './parts/url-state.ts'

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFoundPage,
  // Every page reads its own fields; all of them are texts.
  validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
})

const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage })
const signUp = createRoute({ getParentRoute: () => root, path: '/sign-up', component: SignUpPage })
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
})

/** A page inside the frame. */
function page<const Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) {
  return createRoute({ getParentRoute: () => frame, path, component })
}

const pages = [
  page(
    '/',
    lazyRouteComponent(() => import('./home/page.tsx'), 'HomePage'),
  ),
  page(
    '/shortlink',
    lazyRouteComponent(() => import('./shortlink/page.tsx'), 'ShortlinkPage'),
  ),
  page(
    '/sms',
    lazyRouteComponent(() => import('./sms/page.tsx'), 'SmsPage'),
  ),
  page(
    '/identity',
    lazyRouteComponent(() => import('./identity/page.tsx'), 'IdentityPage'),
  ),
  page(
    '/domain-check',
    lazyRouteComponent(() => import('./domain-check/page.tsx'), 'DomainCheckPage'),
  ),
  page(
    '/credits',
    lazyRouteComponent(() => import('./credits/page.tsx'), 'CreditsPage'),
  ),
  page(
    '/requests',
    lazyRouteComponent(() => import('./requests/page.tsx'), 'RequestsPage'),
  ),
  page(
    '/keys',
    lazyRouteComponent(() => import('./keys/page.tsx'), 'KeysPage'),
  ),
  page(
    '/docs',
    lazyRouteComponent(() => import('./docs/page.tsx'), 'DocsPage'),
  ),
  page(
    '/account',
    lazyRouteComponent(() => import('./account/page.tsx'), 'AccountPage'),
  ),
  page(
    '/operator/overview',
    lazyRouteComponent(() => import('./operator/overview.tsx'), 'OverviewPage'),
  ),
  page(
    '/operator/accounts',
    lazyRouteComponent(() => import('./operator/accounts.tsx'), 'AccountsPage'),
  ),
  page(
    '/operator/reviews',
    lazyRouteComponent(() => import('./operator/reviews.tsx'), 'ReviewsPage'),
  ),
  page(
    '/operator/codes',
    lazyRouteComponent(() => import('./operator/codes.tsx'), 'CodesPage'),
  ),
  page(
    '/operator/domains',
    lazyRouteComponent(() => import('./operator/domains.tsx'), 'DomainsPage'),
  ),
  page(
    '/operator/gateways',
    lazyRouteComponent(() => import('./operator/gateways.tsx'), 'GatewaysPage'),
  ),
  page(
    '/operator/audit',
    lazyRouteComponent(() => import('./operator/audit.tsx'), 'AuditPage'),
  ),
  page(
    '/operator/settings',
    lazyRouteComponent(() => import('./operator/settings.tsx'), 'SettingsPage'),
  ),
]

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([signIn, signUp, frame.addChildren(pages)]),
    basepath: '/console',
    parseSearch,
    stringifySearch,
    defaultErrorComponent: ErrorPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}
