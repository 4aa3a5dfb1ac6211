// The short link endpoint: composes its parts and dispatches the operations.
import { shortlink } from '../../contract/shortlink.ts'
import { reportLimits } from '../../contract/link-abuse.ts'
import { dayMs, hourMs } from '../../contract/time.ts'
import type { Caller } from '../accounts/authenticate.ts'
import { type Call, findOperation } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import type { ApiResponse } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { createChangeCalls } from './calls/change.ts'
import { createCreateCalls } from './calls/create.ts'
import { createReadCalls } from './calls/read.ts'
import { createRequireLink } from './calls/which-link.ts'
import { createClicks } from './clicks/clicks.ts'
import { isJournalEmpty } from './clicks/journal-store.ts'
import { createRollupJob, rollupEveryMs } from './clicks/rollup.ts'
import { openClickWriter } from './clicks/writer.ts'
import { findTakenCodes } from './codes/chosen-store.ts'
import { loadCodes } from './codes/store.ts'
import { createWatchedDomains, type WatchedDomains } from './domains/domains.ts'
import { type BanRules, createBanRules } from './bans/bans.ts'
import { createImports, type Imports } from './import/imports.ts'
import { registerReportForm } from './bans/report-form.ts'
import { deleteOldReports } from './bans/report-store.ts'
import { createLinks } from './links.ts'
import { type LinkList, createLinkList } from './listing/list.ts'
import { registerShortlinkMetrics } from './metrics.ts'
import { createClaims } from './options/claims-store.ts'
import { expiryEveryMs, reportExpiredLinks } from './options/expiry-store.ts'
import { createOwnDomainRules, type OwnDomainRules } from './own-domains/own-domains.ts'
import { registerTlsAsk } from './own-domains/tls-ask.ts'
import { createTxtLookup } from './own-domains/txt-records.ts'
import { createLocator } from '../places/places.ts'
import { registerSharePage } from './shares/share-page.ts'
import { createShares, type Shares } from './shares/shares.ts'
import { createConditionalRedirects } from './redirect/conditions.ts'
import { createLookup } from './redirect/lookup-store.ts'
import { createRedirects, notFoundPage } from './redirect/redirect.ts'

export interface Shortlink extends Product {
  /** For the domain check. */
  readonly domains: WatchedDomains
  readonly list: LinkList
  readonly ownDomains: OwnDomainRules
  readonly bans: BanRules
  readonly imports: Imports
  readonly shares: Shares
  /** The operations for callers from the console, who have no API key. */
  readonly generate: Act
  readonly update: Act
  readonly refresh: Act
  readonly pause: Act
  readonly resume: Act
  readonly remove: Act
  /** Whether a well-formed chosen code is or was in use. */
  readonly isCodeTaken: (code: string) => Promise<boolean>
}

type Act = (call: Call, caller: Caller) => Promise<ApiResponse>

const chargedOnce = [shortlink.operations.generate]

export async function createShortlink(services: Services): Promise<Shortlink> {
  const { db, config, log, http } = services
  const codes = await loadCodes(db)
  const lookup = createLookup(db, codes)
  const links = createLinks(services, lookup, codes)
  const placeFiles = { v4: config.GEO_FILE, v6: config.GEO_FILE_V6 }
  const writer = openClickWriter(db, placeFiles)
  const clicks = createClicks({
    writer,
    hasJournal: !(await isJournalEmpty(db)),
    onError: (error) => log.error({ err: error }, 'failed to write clicks'),
  })
  const conditional = createConditionalRedirects({
    claims: createClaims(db),
    attempts: services.limits.attempts,
    locate: createLocator(placeFiles),
  })
  const redirects = createRedirects({ ...http, lookup, clicks, conditional })
  const domains = createWatchedDomains(db, lookup, log)
  const untilLinksAreCurrent = async () => lookup.publishChanges()
  const bans = createBanRules(db, codes, untilLinksAreCurrent)
  const imports = createImports(services, links, lookup)
  const shares = createShares(db)
  const list = createLinkList(db.reports, codes, links, (linkId) => clicks.flush(linkId))
  const ownDomains = createOwnDomainRules({
    db,
    findTxt: createTxtLookup(config.DNS_SERVERS),
    publicUrl: services.publicUrl,
    untilLinksAreCurrent,
    log,
  })

  const requireLink = createRequireLink(db, codes)
  const creating = createCreateCalls(services, links, lookup)
  const changing = createChangeCalls(services, { links, lookup, codes, requireLink })
  const reading = createReadCalls(services, { links, clicks, codes, requireLink })
  const handlers: Readonly<Record<keyof typeof shortlink.operations, Act>> = {
    generate: creating.generate,
    generate_batch: creating.generateBatch,
    update: changing.update,
    execute_update: changing.refresh,
    pause: changing.pause,
    resume: changing.resume,
    delete: changing.remove,
    get: reading.get,
    list: reading.list,
    stats: reading.stats,
  }

  async function handle(call: Call): Promise<ApiResponse> {
    const { caller, values } = await services
      .authenticate(call, shortlink.common, chargedOnce)
      .catch(toShortlinkError)
    return handlers[findOperation(call, shortlink.operations, values.action)](call, caller)
  }

  registerShortlinkMetrics(services, { lookup, clicks, redirects })

  return {
    domains,
    ownDomains,
    bans,
    imports,
    list,
    shares,
    generate: creating.generate,
    update: changing.update,
    refresh: changing.refresh,
    pause: changing.pause,
    resume: changing.resume,
    remove: changing.remove,
    isCodeTaken: async (code) => (await findTakenCodes(db, [code], codes)).has(code),
    served: { endpoint: shortlink, handle },
    fastPath: redirects.tryHandle,
    routes(api) {
      registerTlsAsk(api, {
        pools: async () => lookup.cachedPools() ?? lookup.pools(),
        publicUrl: services.publicUrl,
      })
      registerSharePage(api, {
        shares,
        list,
        links,
        limits: services.limits,
        addressOf: http.addressOf,
      })
      registerReportForm(api, { db, codes, limits: services.limits, http })
    },
    notFoundPage,
    start() {
      lookup.start()
      clicks.start()
      services.jobs.every(expiryEveryMs, 'report_expired_links', (signal) => reportExpiredLinks(db, signal))
      services.jobs.every(hourMs, 'check_own_domains', async (signal) => {
        await ownDomains.recheck(signal)
        await ownDomains.deleteOld(signal)
        await imports.deleteOld(signal)
        await shares.deleteOld(signal)
        await deleteOldReports(
          db,
          { decidedMs: reportLimits.decidedKeepDays * dayMs, openMs: reportLimits.openKeepDays * dayMs },
          signal,
        )
      })
      services.jobs.every(importEveryMs, 'import_links', imports.work)
      services.jobs.every(markBannedEveryMs, 'mark_banned_links', (signal) =>
        bans.mark(() => !signal.aborted),
      )
    },
    startThreads() {
      // Loaded now, because an update may replace the files on disk before the first click.
      writer.run({ kind: 'load' }).then(
        () => log.debug('click thread loaded'),
        (error: unknown) => log.error({ err: error }, 'failed to load the click thread'),
      )
      services.jobs.every(rollupEveryMs, 'roll_up_clicks', createRollupJob(writer.run))
    },
    async stop() {
      lookup.stop()
      await clicks.stop()
      await writer.close()
    },
  }
}
/** A ban takes effect immediately; this is for lists and events. */
const markBannedEveryMs = 5_000

/** How soon an upload is checked, and a started import begins. */
const importEveryMs = 1_000

function toShortlinkError(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 1001) throw error
  throw new AppError(1001, {
    zh: `缺少必要参数：${error.text.zh}`,
    en: `Missing required parameters: ${error.text.en}`,
  })
}
