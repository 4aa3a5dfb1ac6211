// The web console's server: put together from its pages, with the log of API calls that feeds the inspector.
import { readFileSync } from 'node:fs'
import fastifyCookie from '@fastify/cookie'
import type { FastifyInstance } from 'fastify'
import { consoleApi } from '../../contract/console/route.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import { deriveSecret } from '../runtime/installation.ts'
import type { Services } from '../services.ts'
import type { Shortlink } from '../shortlink/api.ts'
import { type Api, createApi } from './routes.ts'
import { deleteOldAudit, insertAudit } from '../audit/store.ts'
import { creditPages } from '../credits/console.ts'
import { domainCheckPages } from '../domain-check/console.ts'
import { guessLimits } from './guess-limits.ts'
import { homePages } from './account/home.ts'
import { identityPages } from '../identity/console.ts'
import { keyPages } from './account/keys.ts'
import { linkPages } from '../shortlink/console.ts'
import { accountPages } from './operator/accounts.ts'
import { auditPages } from '../audit/console.ts'
import { domainPages } from './operator/domains.ts'
import { type GatewayProducts, gatewayPages } from './operator/gateways.ts'
import { overviewPages } from './operator/overview.ts'
import { redeemBatchPages } from '../credits/redeem/operator-console.ts'
import { reviewPages } from '../sms/review-console.ts'
import { settingPages } from './operator/settings.ts'
import { consoleFiles, securityHeaders } from './static-files.ts'
import { passwordChecks } from './password-check.ts'
import { redeemPages } from '../credits/redeem/console.ts'
import { openRequestLog, type RequestLog } from '../request-log/recorder.ts'
import { requestPages } from '../request-log/console.ts'
import { deleteExpiredSessions } from '../accounts/session-store.ts'
import { openSessions } from './sessions.ts'
import { sessionPages } from './account/sign-in.ts'
import { smsPages } from '../sms/console.ts'
import { templatePages } from '../sms/template-console.ts'

const apiPolicy = `default-src 'none'; frame-ancestors 'none'`

const sweepSessionsMs = 3_600_000

export interface Console {
  routes(app: FastifyInstance): void
  start(): void
  stop(): Promise<void>
  /** Told of every answered API call. */
  readonly onResponse: (answered: CompletedCall) => void
  readonly requestLog: RequestLog
}

/** What the pages about products stand on. Products know nothing of the console. */
export interface ConsoleProducts extends GatewayProducts {
  readonly shortlink: Shortlink
}

export function openConsole(services: Services, products: ConsoleProducts): Console {
  const { db, config, secretKey, log } = services
  const isSecure = config.PUBLIC_URL?.startsWith('https:') ?? false
  const sessions = openSessions(db, { secret: deriveSecret(secretKey, 'csrf'), isSecure })
  const passwords = passwordChecks(db, guessLimits(services.limits.attempts, 'password'))
  const redeemSecret = deriveSecret(secretKey, 'redeem codes')
  const requestLog = openRequestLog({
    db,
    secret: deriveSecret(secretKey, 'request terms'),
    days: config.REQUEST_LOG_DAYS,
    onError: (error) => log.error({ err: error }, 'the request log could not be written'),
  })
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined

  function pages(api: Api): void {
    const version = readVersion()
    sessionPages(api, services, { sessions, passwords, version })
    homePages(api, services)
    keyPages(api, services, passwords)
    creditPages(api, services)
    redeemPages(api, services, redeemSecret)
    requestPages(api, services, requestLog)
    linkPages(api, services, products.shortlink)
    smsPages(api, services, products.sms)
    templatePages(api, services)
    identityPages(api, services, products.identity)
    domainCheckPages(api, services, products.domainCheck)
    overviewPages(api, services, products, requestLog, version)
    accountPages(api, services)
    redeemBatchPages(api, services, redeemSecret)
    auditPages(api, services)
    settingPages(api, services)
    reviewPages(api, services)
    domainPages(api, services, products)
    gatewayPages(api, services, products)
  }

  async function apiScope(app: FastifyInstance): Promise<void> {
    await app.register(fastifyCookie)
    app.addHook('onRequest', async (_request, reply) => {
      securityHeaders(reply, apiPolicy, isSecure)
      reply.header('cache-control', 'no-store')
    })
    const parseJson = app.getDefaultJsonParser('error', 'error')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body === '') done(null, {})
      else void parseJson(request, body as string, done)
    })
    pages(
      createApi(app, {
        services,
        sessions,
        onView: ({ user }, account) =>
          db.write((tx) =>
            insertAudit(tx, { actor: user.username, action: 'account.view', target: account.username }),
          ),
      }),
    )
  }

  return {
    requestLog,
    onResponse: requestLog.record,
    routes(app) {
      app.register(apiScope, { prefix: consoleApi })
      app.register(async (files) => consoleFiles(files, isSecure))
    },
    start() {
      requestLog.start()
      timer = setInterval(() => {
        db.write(deleteExpiredSessions).catch((error: unknown) =>
          log.error({ err: error }, 'sessions not swept'),
        )
        if (config.AUDIT_KEEP_DAYS > 0) {
          deleteOldAudit(db, config.AUDIT_KEEP_DAYS, stopping.signal).catch((error: unknown) =>
            log.error({ err: error }, 'old lines of the audit log stay'),
          )
        }
      }, sweepSessionsMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      stopping.abort()
      await requestLog.stop()
    },
  }
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}
