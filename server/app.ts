// Composes the service: an explicit list of its parts, and the order in which they start and stop.
import { once } from 'node:events'
import { Server as NetServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAuthenticator } from './accounts/authenticate.ts'
import { loadKeySecret } from './accounts/key-secret-store.ts'
import { confirmAccount, createKnownAccounts } from './accounts/known-accounts.ts'
import { createKeyLookup } from './accounts/store.ts'
import { systemActor } from './audit/audit.ts'
import type { Config } from './config.ts'
import { createConsole } from './console/console.ts'
import { gatewaysInService, watchedGateways } from './console/operator/gateways.ts'
import type { RequestLog } from './request-log/recorder.ts'
import { createCompaction } from './credits/ledger/compaction.ts'
import { createCredits } from './credits/credits.ts'
import { createPaidCalls } from './credits/charge/paid-call.ts'
import { createSweeper, type Decide } from './credits/end/sweeper.ts'
import { type DomainCheck, createDomainCheck } from './domain-check/api.ts'
import { registerDocs } from './docs/routes.ts'
import { homePage } from './docs/home-page.ts'
import { createEventDelivery } from './events/delivery.ts'
import { registerEventRoutes } from './events/routes.ts'
import { registerPublicFiles } from './docs/public-files.ts'
import { createAddressReader, createProxyStateReader } from './http/address.ts'
import { bodyLimit, type HttpContext, serveEndpoints, toPageError, type TryHandle } from './http/endpoint.ts'
import { readBodiesInTurn } from './http/fastify-bodies.ts'
import { createLargeBodies } from './http/large-bodies.ts'
import { createRefusedCalls } from './http/refused-calls.ts'
import { createRequestIdReader } from './http/request-id.ts'
import { keepAliveHint, keepAliveMs } from './http/connection-timeouts.ts'
import { createHttpServer } from './http/server.ts'
import { trackRequests } from './http/request-tracker.ts'
import { createIdentity } from './identity/api.ts'
import { createJobs } from './jobs.ts'
import { registerMcp } from './mcp/routes.ts'
import { deriveSecret, type Installation, maxConnections } from './runtime/installation.ts'
import { registerProcess } from './runtime/process-store.ts'
import { createLimits } from './limits/create-limits.ts'
import type { LimitStore } from './limits/port.ts'
import { registerCashier } from './payments/cashier.ts'
import { startPaymentJobs } from './payments/jobs.ts'
import { registerNotifications } from './payments/notifications.ts'
import { createPayments } from './payments/payments.ts'
import { languageOf } from './http/call.ts'
import { endsWithin } from './runtime/ends-within.ts'
import { missingPage, visitorPageHeaders } from './http/visitor-page.ts'
import { registerStatus, startStatusJobs, type StatusOptions } from './operations/status.ts'
import { registerHealth } from './operations/health.ts'
import { createMetricsServer } from './operations/metrics-server.ts'
import { createCallLogger, registerLogMetrics } from './operations/log.ts'
import { registerInstallationMetrics } from './operations/installation-metrics.ts'
import { startOperatorAlerts } from './operations/operator-alerts.ts'
import { createMetrics } from './operations/metrics.ts'
import { createReadiness } from './operations/readiness-store.ts'
import type { Product, Services } from './services.ts'
import { registerStatementKey } from './statements/routes.ts'
import { createStatements } from './statements/statements.ts'
import { createShortlink, type Shortlink } from './shortlink/api.ts'
import { createSms } from './sms/api.ts'
import { ambiguousLeaseMs } from './sms/send.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Monotonic. Fastify measures time only when a response hook is registered. */
    startedAt: number
  }
}

/** How long requests in progress may take after SIGTERM. */
const stopTimeoutMs = 8_000

/** After this time jobs are left, and what follows them; systemd waits longer. They continue later, as after a crash. */
const leaveJobsMs = 12_000
const leaveRestMs = 15_000

/** How long a process may drain. The last idle connection ends after the keep-alive timeout. */
const drainTimeoutMs = keepAliveMs + 10_000

export interface App {
  readonly services: Services
  readonly domainCheck: DomainCheck
  readonly shortlink: Shortlink
  /** The recorded API calls. */
  readonly requestLog: RequestLog
  /** Listens and starts the jobs. Returns the public URL. */
  start(): Promise<string>
  /**
   * Accepts no new connections, while requests on existing ones are served with `Connection: close`. Resolves when all are closed.
   * Idle ones are not closed, because a request may be on its way: the keep-alive timeout ends them.
   */
  drain(): Promise<void>
  /** From now on /readyz returns 503 and responses end their connection. Everything is still served. */
  announceStop(): void
  /** Finishes requests in progress, rejects new ones, and writes buffered data. */
  stop(): Promise<void>
}

export interface AppOptions {
  /** Returns a function for the metrics of all processes; if that returns undefined, this process's own are used. */
  readonly aggregateMetrics?: (registry: Registry) => () => Promise<string | undefined>
  /** Logs API calls; `log` if left out. */
  readonly callLog?: Logger
  readonly droppedLogLines?: () => number
  /** The limits that the workers of this machine share. */
  readonly limitStore?: LimitStore
  /** The time of day; the system clock if left out. */
  readonly now?: () => number
  /** Threads start on first use, for tests that start many services. */
  readonly lazyThreads?: boolean
}

export async function createApp(
  config: Config,
  installation: Installation,
  log: Logger,
  options: AppOptions = {},
): Promise<App> {
  const { db, secretKey } = installation
  const { callLog = log } = options
  const entry = await registerProcess(db, maxConnections(config))
  let stopping = false
  let isLeaving = false
  let closed: Promise<void> | undefined
  let publicUrl = ''
  const running = trackRequests()

  const credits = createCredits(db, secretKey)
  const metrics = createMetrics(db, credits)
  registerInstallationMetrics(metrics.registry, db, config.DATA_DIR)
  registerLogMetrics(metrics.registry, options.droppedLogLines ?? (() => 0))
  const aggregate = options.aggregateMetrics?.(metrics.registry)
  const metricsSource = {
    type: metrics.registry.contentType,
    text: async () => (await aggregate?.()) ?? (await metrics.registry.metrics()),
  }
  const deciders = new Map<string, Decide>()
  const sweeper = createSweeper({
    db,
    credits,
    deciders,
    // No other lease is longer than that of an SMS that ended ambiguously.
    maxLeaseMs: Math.max(ambiguousLeaseMs, config.OPERATION_LEASE_S * 1000),
    onError: (error, { id }) =>
      log.error({ err: error, operation: id }, 'failed to decide an overdue operation'),
  })
  const compaction = createCompaction(db, config.LEDGER_KEEP_DAYS)

  const logCall = createCallLogger(callLog)
  const http: HttpContext = {
    errorStatus: config.ERROR_HTTP_STATUS,
    addressOf: createAddressReader(config.TRUSTED_PROXIES),
    requestIdOf: createRequestIdReader(config.TRUSTED_PROXIES),
    largeBodies: createLargeBodies(),
    refusedCalls: createRefusedCalls(),
    isStopping: () => stopping,
    onResponse(call) {
      metrics.onResponse(call)
      webConsole.onResponse(call)
      logCall(call)
    },
    onError: (error, requestId) => log.error({ err: error, requestId }, 'internal error'),
  }

  const limits = await createLimits({
    db,
    redisUrl: config.REDIS_URL,
    name: deriveSecret(secretKey, 'limits').slice(0, 12),
    workerStore: options.limitStore,
    shared: { log, metrics: metrics.registry },
  })
  const jobs = createJobs(log, metrics.registry)
  const findByKey = createKeyLookup(db)
  const knownAccounts = db.writeStatement && createKnownAccounts()
  const keySecret = await loadKeySecret(db)
  const services: Services = {
    config,
    publicUrl: () => publicUrl,
    db,
    secretKey,
    secretFor: (purpose) => deriveSecret(secretKey, purpose),
    log,
    metrics: metrics.registry,
    jobs,
    http,
    limits,
    authenticate: createAuthenticator({
      findByKey,
      rateLimit: config.RATE_LIMIT,
      limits,
      knownAccounts,
      keySecret,
    }),
    credits,
    paidCalls: createPaidCalls(credits, sweeper, knownAccounts),
    now: options.now ?? Date.now,
    deciders,
  }
  const links = await createShortlink(services)
  const messages = createSms(services)
  const verifications = createIdentity(services)
  const checks = createDomainCheck(services)
  const eventDelivery = createEventDelivery(services)
  const payments = createPayments(services)
  const statements = createStatements(services)
  const products: readonly Product[] = [links, messages, verifications, checks]
  // Products do not import each other. This connects two of them: a blocked link domain gets no new links.
  checks.watch.watchPlatformDomains(links.domains.hosts, (host, isBlocked) =>
    links.domains.recordVerdict(systemActor, host, isBlocked),
  )
  const gatewayProducts = { sms: messages, identity: verifications, domainCheck: checks }
  const webConsole = createConsole(services, {
    ...gatewayProducts,
    shortlink: links,
    events: eventDelivery,
    payments,
    statements,
  })
  const served = products.map(({ served: { endpoint, handle } }) => ({
    endpoint,
    handle: confirmAccount(handle),
  }))
  const fastPaths: readonly TryHandle[] = [
    ...products.flatMap((product) => product.fastPath ?? []),
    serveEndpoints(http, served),
  ]

  const { app, server } = createHttpServer({
    tryFastPaths(request, response) {
      if (closed || isLeaving) response.shouldKeepAlive = false
      for (const fastPath of fastPaths) {
        if (!fastPath(request, response)) continue
        if (!response.writableEnded) running.begin(response)
        return true
      }
      return false
    },
    onPageRequest: running.begin,
    timeouts: { sendMs: config.SEND_TIMEOUT_S * 1000, idleMs: keepAliveMs, socketsInUse: running.sockets },
    requestIdOf: http.requestIdOf,
    addressOf: http.addressOf,
  })
  app.decorateRequest('startedAt', 0)
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAt = performance.now()
    reply.header('x-request-id', request.id)
    if (reply.raw.shouldKeepAlive) reply.header('keep-alive', keepAliveHint)
    done()
  })

  readBodiesInTurn(app, http)

  registerErrors(app, http, products)

  // Routes that take a body register their own parsers; no other body is read, whatever its type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  const readiness = createReadiness(db, log, metrics.registry)
  registerHealth(app, {
    readiness,
    isStopping: () => stopping || isLeaving,
    metrics: metricsSource,
    servesMetrics: config.METRICS_PORT === 0,
    metricsToken: config.METRICS_TOKEN,
    trustedProxies: config.TRUSTED_PROXIES,
  })
  const proxyState = createProxyStateReader(config.TRUSTED_PROXIES)
  // `npm run doctor` reads this header through the proxy.
  app.route({
    method: ['GET', 'HEAD'],
    url: '/',
    handler: (request, reply) =>
      homePage(reply.header('x-tollgate-proxy', proxyState(request.raw)), languageOf(request.raw)),
  })
  const status: StatusOptions = {
    db,
    check: async () => ({
      ready: await readiness.check(),
      gateways: gatewaysInService(gatewayProducts),
    }),
  }
  registerStatus(app, status)
  registerPublicFiles(app, services)
  registerStatementKey(app, statements)
  registerDocs(app, services)
  webConsole.routes(app)
  app.register(async (api) => {
    api.removeAllContentTypeParsers()
    api.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
      done(null, body),
    )
    for (const product of products) product.routes?.(api)
    registerEventRoutes(api, eventDelivery.alerts)
    if (config.MCP === 'on') registerMcp(api, { services, served, findByKey, keySecret })
    registerNotifications(api, services, payments)
    registerCashier(api, services, payments)
  })
  const metricsServer = createMetricsServer(config, metricsSource)

  async function listenOnPorts(): Promise<string> {
    const address = await app.listen({ port: config.PORT, host: config.HOST })
    await metricsServer?.listen()
    return address
  }

  return {
    services,
    domainCheck: checks,
    shortlink: links,
    requestLog: webConsole.requestLog,
    async start() {
      const address = await listenOnPorts().catch(async (error: unknown) => {
        await entry.remove()
        throw error
      })
      publicUrl = (config.PUBLIC_URL ?? address).replace(/\/+$/, '')
      if (options.lazyThreads !== true) for (const product of products) product.startThreads?.()
      for (const product of products) product.start?.()
      eventDelivery.start()
      startPaymentJobs(services, payments)
      statements.start(jobs)
      webConsole.start()
      startStatusJobs(jobs, status)
      limits.start(jobs)
      sweeper.start(jobs, config.SWEEP_S * 1000)
      compaction.start(jobs)
      startOperatorAlerts({ services, gateways: () => watchedGateways(gatewayProducts) })
      jobs.every(entry.renewMs, 'renew_process', entry.renew)
      return publicUrl
    },
    async drain() {
      // `server.close` of node:http would also close idle connections.
      closed ??= new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
      metricsServer?.close()
      const timeout = AbortSignal.timeout(drainTimeoutMs)
      await Promise.race([closed, once(timeout, 'abort')])
    },
    announceStop() {
      isLeaving = true
    },
    async stop() {
      stopping = true
      const startedAt = performance.now()
      const endBefore = async (ms: number, work: Promise<unknown>) => {
        if (await endsWithin(startedAt + ms - performance.now(), work)) return
        log.warn('background work has not ended in time, it is left')
      }
      const background = Promise.all([jobs.stop(), eventDelivery.stop()])
      background.catch(() => undefined)
      if (closed) server.closeIdleConnections()
      else closed = new Promise((resolve) => server.close(() => resolve()))
      while (running.count() > 0 && performance.now() < startedAt + stopTimeoutMs) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      server.closeAllConnections()
      await closed
      metricsServer?.close()
      await endBefore(leaveJobsMs, background)
      await endBefore(
        leaveRestMs,
        webConsole.stop(Promise.all(products.map(async (product) => product.stop?.()))),
      )
      limits.stop()
      await app.close()
      const removed = entry.remove()
      await endBefore(leaveRestMs, removed).catch((error: unknown) =>
        log.warn({ err: error }, 'failed to remove the process'),
      )
    },
  }
}

/** The responses to errors and to unknown paths of what Fastify serves. */
function registerErrors(app: FastifyInstance, http: HttpContext, products: readonly Product[]): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toPageError(error)
    if (known.status >= 500) http.onError(error, request.id)
    if (known.retryAfter !== undefined) reply.header('retry-after', String(known.retryAfter))
    return reply.code(known.status).send({ code: known.code, message: known.text[languageOf(request.raw)] })
  })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]
    const page = products
      .map((product) => product.notFoundPage?.(path ?? '', languageOf(request.raw)))
      .find(Boolean)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (page && isRead) return reply.code(page.status).headers(page.headers).send(page.html)
    // A browser asks for HTML; programs do not.
    if (isRead && request.headers.accept?.includes('text/html') === true)
      return reply
        .code(404)
        .headers(visitorPageHeaders())
        .send(missingPage(languageOf(request.raw)))
    return reply.code(404).send({ code: 404, message: '页面不存在 / not found' })
  })
}
