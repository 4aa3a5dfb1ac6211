// Composes the web console: its pages, its static files, the request log and its background jobs.
import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { consoleApi } from '../../contract/console/route.ts'
import { describeDevice } from '../../contract/device.ts'
import { reportLimits } from '../../contract/link-abuse.ts'
import { hourMs } from '../../contract/time.ts'
import project from '../../package.json' with { type: 'json' }
import type { CompletedCall } from '../http/endpoint.ts'
import { decodeInTurn } from '../http/fastify-bodies.ts'
import { decodeBytes } from '../http/form.ts'
import { parseJsonObject } from '../http/json.ts'
import type { Services } from '../services.ts'
import type { Shortlink } from '../shortlink/api.ts'
import { type Api, createApi } from './routes.ts'
import { recordChange } from '../audit/audit.ts'
import { deleteOldAudit } from '../audit/store.ts'
import { creditPages } from '../credits/console.ts'
import { eventPages } from '../events/console.ts'
import { webhookHealthPages } from '../events/health-console.ts'
import type { EventDelivery } from '../events/delivery.ts'
import { domainCheckPages } from '../domain-check/console.ts'
import { guessLimits } from './guess-limits.ts'
import { homePages } from './account/home.ts'
import { identityPages } from '../identity/console.ts'
import { keyPages } from './account/keys.ts'
import { linkBulkPages } from '../shortlink/bulk-console.ts'
import { linkPages } from '../shortlink/console.ts'
import { accountPages } from './operator/accounts.ts'
import { auditPages } from '../audit/console.ts'
import { linkAbusePages } from '../shortlink/bans/operator-console.ts'
import { linkImportPages } from '../shortlink/import/console.ts'
import { linkQrPages } from '../shortlink/qr/console.ts'
import { linkAnalyticsPages } from '../shortlink/shares/console.ts'
import { ownDomainPages } from '../shortlink/own-domains/console.ts'
import { linkDomainPages } from '../shortlink/domains/operator-console.ts'
import { type GatewayProducts, gatewayPages } from './operator/gateways.ts'
import { operatorPages } from './operator/operators.ts'
import { overviewPages } from './operator/overview.ts'
import { redeemBatchPages } from '../credits/redeem/operator-console.ts'
import { reviewPages } from '../sms/review-console.ts'
import { contactPages } from './operator/contacts.ts'
import { waitingPages } from './operator/waiting.ts'
import { countPendingReviews } from '../sms/review-store.ts'
import { countReports } from '../shortlink/bans/report-store.ts'
import { listDomains } from '../shortlink/domains/store.ts'
import { settingPages } from './operator/settings.ts'
import { consoleFiles, securityHeaders } from './static-files.ts'
import { createPasswordChecks } from './password-check.ts'
import { redeemPages } from '../credits/redeem/console.ts'
import { createRequestLog, type RequestLog } from '../request-log/recorder.ts'
import { paymentPages } from '../payments/console.ts'
import { invoicePages } from '../payments/invoice-console.ts'
import { countInvoices } from '../payments/invoice-store.ts'
import { reconciliationPages } from '../payments/reconciliation-console.ts'
import { countOpenDifferences } from '../payments/reconciliation-store.ts'
import type { Payments } from '../payments/payments.ts'
import { statementPages } from '../statements/console.ts'
import type { Statements } from '../statements/statements.ts'
import { requestPages } from '../request-log/console.ts'
import { createAccountMail } from '../accounts/mail.ts'
import { deleteOldMailTokens } from '../accounts/mail-store.ts'
import { createOidc } from '../accounts/oidc.ts'
import { createSecondFactors } from '../accounts/second-factor.ts'
import { deleteExpiredSessions } from '../accounts/session-store.ts'
import { deleteOldOperatorCalls } from '../audit/operator-call-store.ts'
import { deleteOldSignIns } from '../accounts/sign-in-store.ts'
import { oidcPages } from './account/oidc.ts'
import { securityPages } from './account/security.ts'
import { createSecondStep } from './second-step.ts'
import { agentOf, createSessions } from './sessions.ts'
import { createLocator } from '../places/places.ts'
import { placeCode } from '../places/names.ts'
import { createTouches } from './touches.ts'
import { createUserLimits, userRate } from './user-limits.ts'
import { sessionPages } from './account/sign-in.ts'
import { batchPages } from '../sms/batches/console.ts'
import { smsPages } from '../sms/console.ts'
import { signaturePages } from '../sms/signature-console.ts'
import { sharedTemplatePages } from '../sms/shared-template-console.ts'
import { statisticsPages } from '../sms/statistics-console.ts'
import { templatePages } from '../sms/template-console.ts'

/** Secrets derived for this purpose key CSRF tokens and the tags of session tokens. */
export const csrfPurpose = 'csrf'

const apiPolicy = `default-src 'none'; frame-ancestors 'none'`

export interface Console {
  routes(app: FastifyInstance): void
  start(): void
  /** `productsStop` resolves when the products have stopped: a check that ends until then is in the request log too. */
  stop(productsStop: Promise<unknown>): Promise<void>
  /** Called with every completed API call. */
  readonly onResponse: (completed: CompletedCall) => void
  readonly requestLog: RequestLog
}

/** The products whose pages the console shows. */
export interface ConsoleProducts extends GatewayProducts {
  readonly shortlink: Shortlink
  readonly events: EventDelivery
  readonly payments: Payments
  readonly statements: Statements
}

/** Signing in works without the location data. */
function createPlaces({ config, log }: Services): (address: string) => string {
  const locate = createLocator({ v4: config.GEO_FILE, v6: config.GEO_FILE_V6 })
  return (address) => {
    try {
      return placeCode(locate(address))
    } catch (error) {
      log.warn({ err: error }, 'failed to find the place of a sign-in')
      return ''
    }
  }
}

export function createConsole(services: Services, products: ConsoleProducts): Console {
  const { db, config, secretKey, jobs } = services
  const isSecure = config.PUBLIC_URL?.startsWith('https:') ?? false
  const { mailer } = products.events
  const mail = createAccountMail({
    db,
    secretKey,
    publicUrl: services.publicUrl,
    send: mailer && (async (to, text) => (await mailer.send(to, text)).kind === 'sent'),
    onError: (error) => services.log.error({ err: error }, 'failed to send a mail'),
  })
  const placeOf = createPlaces(services)
  const touches = createTouches(db, (error) =>
    services.log.warn({ err: error }, 'failed to record the use of a session'),
  )
  const sessions = createSessions(db, {
    secret: services.secretFor(csrfPurpose),
    isSecure,
    passwordLogin: config.PASSWORD_LOGIN === 'on',
    operatorFactor: config.OPERATOR_2FA === 'required',
    onNewPlace: (account, { address, place, agent }) =>
      mail.reportNewPlace(account, { address, place, device: describeDevice(agent) }),
    placeOf,
    touches,
  })
  const secondFactors = createSecondFactors(db, secretKey)
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = config
  const oidc =
    issuer && clientId && clientSecret
      ? createOidc({
          issuer,
          clientId,
          clientSecret,
          redirectUri: () => `${services.publicUrl()}${consoleApi}/oidc/callback`,
        })
      : undefined
  const { attempts } = services.limits
  const secondStep = createSecondStep({
    db,
    secretKey,
    isSecure,
    attempts,
    secondFactors,
    onRecoveryCode: (account, request) => {
      const address = services.http.addressOf(request.raw)
      const device = describeDevice(agentOf(request))
      mail.reportRecoveryCode(account, { address, place: placeOf(address), device })
    },
  })
  const passwords = createPasswordChecks(db, guessLimits(services.limits.attempts, 'password'))
  const redeemSecret = services.secretFor('redeem codes')
  const requestLog = createRequestLog({
    db,
    secret: services.secretFor('request terms'),
    days: config.REQUEST_LOG_DAYS,
    unpaidBytesPerDay: config.REQUEST_LOG_FREE_MB * 1_000_000,
    log: services.log,
    metrics: services.metrics,
  })

  /** Pages read as reports, so that paid calls never wait for a list or an export. */
  const pageServices: Services = { ...services, db: { ...db, ...db.reports } }

  function pages(api: Api, app: FastifyInstance): void {
    const { version } = project
    sessionPages(api, services, { sessions, passwords, secondStep, secondFactors, mail, version })
    securityPages(api, services, { passwords, secondFactors, secondStep, mail })
    oidcPages(api, app, services, { oidc, sessions, secondFactors, secondStep, isSecure })
    homePages(api, pageServices)
    keyPages(api, pageServices, passwords)
    creditPages(api, pageServices)
    redeemPages(api, pageServices, redeemSecret)
    requestPages(api, pageServices, requestLog)
    linkPages(api, pageServices, products.shortlink)
    linkBulkPages(api, pageServices, products.shortlink)
    linkAnalyticsPages(api, pageServices, products.shortlink)
    ownDomainPages(api, pageServices, products.shortlink)
    linkQrPages(api, products.shortlink)
    linkImportPages(api, pageServices, products.shortlink)
    linkAbusePages(api, pageServices, products.shortlink)
    smsPages(api, pageServices, products.sms)
    batchPages(api, pageServices, products.sms)
    statisticsPages(api, pageServices)
    sharedTemplatePages(api, pageServices)
    templatePages(api, pageServices)
    signaturePages(api, pageServices)
    identityPages(api, pageServices, products.identity)
    domainCheckPages(api, pageServices, products.domainCheck)
    eventPages(api, pageServices, products.events)
    webhookHealthPages(api, pageServices, products.events)
    paymentPages(api, pageServices, products.payments)
    reconciliationPages(api, pageServices, products.payments)
    invoicePages(api, pageServices)
    statementPages(api, pageServices, products.statements)
    overviewPages(api, pageServices, products, requestLog, version)
    accountPages(api, pageServices)
    contactPages(api, pageServices)
    operatorPages(api, pageServices)
    redeemBatchPages(api, pageServices, redeemSecret)
    auditPages(api, pageServices)
    settingPages(api, pageServices)
    reviewPages(api, pageServices, products.sms)
    linkDomainPages(api, pageServices, products.shortlink.domains, products.domainCheck.probe)
    gatewayPages(api, pageServices, products)
    waitingPages(api, {
      reviews: () => countPendingReviews(pageServices.db),
      reports: () => countReports(pageServices.db, reportLimits.open),
      invoices: () => countInvoices(pageServices.db, { state: 'open' }),
      refundedInvoices: () => countInvoices(pageServices.db, { refundedOnly: true }),
      paymentDifferences: () => countOpenDifferences(pageServices.db),
      blockedDomains: async () =>
        (await listDomains(pageServices.db)).filter(({ blocked }) => blocked === 1).map(({ host }) => host),
    })
  }

  async function apiScope(app: FastifyInstance): Promise<void> {
    await app.register(fastifyCookie)
    app.addHook('onRequest', async (_request, reply) => {
      securityHeaders(reply, apiPolicy, isSecure)
      reply.header('cache-control', 'no-store')
    })
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      (request: FastifyRequest, body: Buffer) =>
        decodeInTurn(services.http, request, body, (bytes) =>
          bytes.length === 0 ? {} : parseJsonObject(decodeBytes(bytes, 'utf-8')),
        ),
    )
    pages(
      createApi(app, {
        services,
        sessions,
        touches,
        limits: createUserLimits(config.RATE_LIMIT && userRate),
        onView: ({ user }, account) =>
          db.write((tx) =>
            recordChange(tx, { kind: 'operator', name: user.username }, 'account.view', account.username),
          ),
      }),
      app,
    )
  }

  async function flushRequestLog(): Promise<void> {
    await requestLog.flush().catch((error: unknown) => {
      services.log.error({ err: error }, 'failed to write the request log')
    })
  }

  return {
    requestLog,
    onResponse: requestLog.record,
    routes(app) {
      app.register(apiScope, { prefix: consoleApi })
      app.register(async (files) => consoleFiles(files, isSecure))
    },
    start() {
      requestLog.start(jobs)
      jobs.every(hourMs, 'prune_operator_calls', (signal) => deleteOldOperatorCalls(db, signal))
      jobs.every(hourMs, 'delete_expired_sessions', (signal) => deleteExpiredSessions(db, signal))
      jobs.every(hourMs, 'delete_old_sign_ins', (signal) => deleteOldSignIns(db, signal))
      jobs.every(hourMs, 'delete_old_mail_tokens', (signal) => deleteOldMailTokens(db, signal))
      if (config.AUDIT_KEEP_DAYS > 0) {
        jobs.every(hourMs, 'prune_audit_log', (signal) => deleteOldAudit(db, config.AUDIT_KEEP_DAYS, signal))
      }
    },
    async stop(productsStop) {
      await Promise.all([mail.idle(), touches.idle(), flushRequestLog(), productsStop.then(flushRequestLog)])
    },
  }
}
