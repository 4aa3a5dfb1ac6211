// Every page and its path. Pages load when they are first opened; only the sign-in page is part of the first load.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router'
import { SignInPage, SignUpPage } from './account/sign-in.tsx'
import { lazyPage } from './lazy-page.tsx'
import { ErrorPage, NotFoundPage } from './frame/error-pages.tsx'
import { parseSearch, stringifySearch } from './parts/url-state.ts'

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFoundPage,
  validateSearch: (search: Record<string, unknown>) => search as Record<string, string>,
})

const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage })
const signUp = createRoute({ getParentRoute: () => root, path: '/sign-up', component: SignUpPage })
const forgotten = createRoute({
  getParentRoute: () => root,
  path: '/forgotten',
  component: lazyRouteComponent(() => import('./account/recovery.tsx'), 'ForgottenPage'),
})
const recover = createRoute({
  getParentRoute: () => root,
  path: '/recover',
  component: lazyRouteComponent(() => import('./account/recovery.tsx'), 'RecoverPage'),
})
const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: lazyRouteComponent(() => import('./frame/frame.tsx'), 'Frame'),
})

/** A page inside the frame: its path, its module and the name of its component. */
function page<const Path extends string, Module extends object, Name extends keyof Module>(
  path: Path,
  load: () => Promise<Module>,
  name: Name,
) {
  return createRoute({ getParentRoute: () => frame, path, component: lazyPage(load, name) })
}

const pages = [
  page('/', () => import('./home/page.tsx'), 'HomePage'),
  page('/shortlink', () => import('./shortlink/page.tsx'), 'ShortlinkPage'),
  page('/shortlink/new', () => import('./shortlink/builder.tsx'), 'NewLinkPage'),
  page('/shortlink/edit', () => import('./shortlink/builder.tsx'), 'EditLinkPage'),
  page('/shortlink/analytics', () => import('./shortlink/analytics.tsx'), 'AnalyticsPage'),
  page('/shortlink/imports', () => import('./shortlink/imports.tsx'), 'ImportsPage'),
  page('/shortlink/domains', () => import('./shortlink/domains.tsx'), 'OwnDomainsPage'),
  page('/sms', () => import('./sms/page.tsx'), 'SmsPage'),
  page('/identity', () => import('./identity/page.tsx'), 'IdentityPage'),
  page('/domain-check', () => import('./domain-check/page.tsx'), 'DomainCheckPage'),
  page('/credits', () => import('./credits/page.tsx'), 'CreditsPage'),
  page('/buy', () => import('./payments/buy.tsx'), 'BuyPage'),
  page('/orders', () => import('./payments/orders.tsx'), 'OrdersPage'),
  page('/statements', () => import('./payments/statements.tsx'), 'StatementsPage'),
  page('/invoices', () => import('./payments/invoices.tsx'), 'InvoicesPage'),
  page('/requests', () => import('./requests/page.tsx'), 'RequestsPage'),
  page('/events', () => import('./events/page.tsx'), 'EventsPage'),
  page('/keys', () => import('./keys/page.tsx'), 'KeysPage'),
  page('/security', () => import('./security/page.tsx'), 'SecurityPage'),
  page('/docs', () => import('./docs/page.tsx'), 'DocsPage'),
  page('/account', () => import('./account/page.tsx'), 'AccountPage'),
  page('/operator/overview', () => import('./operator/overview.tsx'), 'OverviewPage'),
  page('/operator/accounts', () => import('./operator/accounts.tsx'), 'AccountsPage'),
  page('/operator/accounts/$id/{-$tab}', () => import('./operator/account-page.tsx'), 'AccountPage'),
  page('/operator/reviews', () => import('./operator/reviews.tsx'), 'ReviewsPage'),
  page('/operator/sms', () => import('./operator/sms.tsx'), 'OperatorSmsPage'),
  page('/operator/codes', () => import('./operator/codes.tsx'), 'CodesPage'),
  page('/operator/orders', () => import('./operator/orders.tsx'), 'OperatorOrdersPage'),
  page('/operator/packages', () => import('./operator/packages.tsx'), 'PackagesPage'),
  page('/operator/reconciliation', () => import('./operator/reconciliation.tsx'), 'ReconciliationPage'),
  page('/operator/invoices', () => import('./operator/invoices.tsx'), 'OperatorInvoicesPage'),
  page('/operator/domains', () => import('./operator/domains.tsx'), 'DomainsPage'),
  page('/operator/abuse', () => import('./operator/abuse.tsx'), 'AbusePage'),
  page('/operator/gateways', () => import('./operator/gateways.tsx'), 'GatewaysPage'),
  page('/operator/webhooks', () => import('./operator/webhooks.tsx'), 'OperatorWebhooksPage'),
  page('/operator/audit', () => import('./operator/audit.tsx'), 'AuditPage'),
  page('/operator/tokens', () => import('./operator/tokens.tsx'), 'TokensPage'),
  page('/operator/settings', () => import('./operator/settings.tsx'), 'SettingsPage'),
]

export function createConsoleRouter() {
  return createRouter({
    routeTree: root.addChildren([signIn, signUp, forgotten, recover, frame.addChildren(pages)]),
    basepath: '/console',
    parseSearch,
    stringifySearch,
    defaultErrorComponent: ErrorPage,
    defaultPreload: 'intent',
    scrollRestoration: true,
  })
}
