// The short link endpoint: parameters, credentials, rules, charge, response.
import { shortlink } from '../../contract/shortlink.ts'
import type { Parameters, Values } from '../../contract/parameters.ts'
import type { Text } from '../../contract/text.ts'
import { reportLimits } from '../../contract/link-abuse.ts'
import { dayMs, hourMs } from '../../contract/time.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { pricesOf } from '../accounts/prices.ts'
import { type Call, readCallParameters, findOperation } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { parameterError, type ReadResult } from '../http/parameters.ts'
import { type ApiResponse, shortlinkSuccess } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { findClickTotals } from './clicks/store.ts'
import { isJournalEmpty } from './clicks/journal-store.ts'
import { openClickWriter } from './clicks/writer.ts'
import { createClicks } from './clicks/clicks.ts'
import { loadCodes } from './codes/store.ts'
import { createWatchedDomains, type WatchedDomains } from './domains/domains.ts'
import { type BanRules, createBanRules, remarkLink } from './bans/bans.ts'
import { requireAllowedTargets } from './bans/destinations.ts'
import { registerReportForm } from './bans/report-form.ts'
import { deleteOldReports } from './bans/report-store.ts'
import { createOwnDomainRules, type OwnDomainRules } from './own-domains/own-domains.ts'
import { registerTlsAsk } from './own-domains/tls-ask.ts'
import { createTxtLookup } from './own-domains/txt-records.ts'
import { createLinks, linkNotFound } from './links.ts'
import { type LinkList, createLinkList } from './listing/list.ts'
import { createLookup } from './redirect/lookup-store.ts'
import { registerShortlinkMetrics } from './metrics.ts'
import { createRedirects, notFoundPage } from './redirect/redirect.ts'
import { findOwnLink, findOwnLinkByCode, type Link, updateLink } from './store.ts'
import { createRollupJob, rollupEveryMs } from './clicks/rollup.ts'

export interface Shortlink extends Product {
  /** For the domain check. */
  readonly domains: WatchedDomains
  readonly list: LinkList
  readonly ownDomains: OwnDomainRules
  readonly bans: BanRules
  /** To be awaited after a change of bans or own domains: then every process uses it. */
  readonly publishChanges: () => Promise<void>
  /** The operations for callers from the console, who have no API key. */
  readonly generate: Act
  readonly update: Act
  readonly refresh: Act
}

type Act = (call: Call, caller: Caller) => Promise<ApiResponse>

export async function createShortlink(services: Services): Promise<Shortlink> {
  const { db, config, paidCalls, log, http } = services
  const codes = await loadCodes(db)
  const lookup = createLookup(db, codes)
  const links = createLinks(services, lookup, codes)
  const writer = openClickWriter(db)
  const clicks = createClicks({
    writer,
    hasJournal: !(await isJournalEmpty(db)),
    onError: (error) => log.error({ err: error }, 'failed to write clicks'),
  })
  const redirects = createRedirects({ ...http, lookup, clicks })
  const domains = createWatchedDomains(db, lookup, log)
  const bans = createBanRules(db, codes)
  const ownDomains = createOwnDomainRules({
    db,
    findTxt: createTxtLookup(config.DNS_SERVERS),
    publicUrl: services.publicUrl,
    log,
  })

  async function handle(call: Call): Promise<ApiResponse> {
    const { caller, values } = await services.authenticate(call, shortlink.common).catch(toShortlinkError)
    switch (findOperation(call, shortlink.operations, values.action)) {
      case 'generate':
        return await generate(call, caller)
      case 'update':
        return await update(call, caller)
      case 'execute_update':
        return await refresh(call, caller)
      case 'get':
        return await show(call, caller)
    }
  }

  /** Reads the parameters and checks the link; one error lists all problems. */
  async function readLinkInput<const P extends Parameters>(call: Call, description: P, missingText: Text) {
    const result = readCallParameters(call, description)
    const pools = lookup.cachedPools() ?? (await lookup.pools())
    const { change, problems } = links.check(result.values, pools)
    const invalid = problems.length === 0 ? result.invalid : [...result.invalid, ...problems]
    const values = requireValid({ ...result, invalid }, missingText)
    requireAllowedTargets([change.target?.url, change.targetA?.url], pools.bannedHosts)
    return { values, change, bannedHosts: pools.bannedHosts }
  }

  async function generate(call: Call, caller: Caller): Promise<ApiResponse> {
    const { values, change } = await readLinkInput(
      call,
      shortlink.operations.generate.parameters,
      missingGenerateParameters,
    )
    const purchase = { action: 'shortlink.generate', values, answerIfInterrupted }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const inSameTransaction = await links.prepareCreate(
      caller.account.id,
      change,
      (created, { remaining }) => {
        const answer = shortlinkSuccess({ ...created, remaining_balance: remaining })
        return { value: answer, response: answer }
      },
    )
    const paid = await paidCalls.charge<ApiResponse>(call, caller, {
      ...purchase,
      apiType: 'short_link',
      cost: pricesOf(caller.account, config.PRICES).generate,
      insufficient: noGenerations,
      inSameTransaction,
    })
    return paid.replay ?? paid.value
  }

  async function update(call: Call, caller: Caller): Promise<ApiResponse> {
    const { values, change, bannedHosts } = await readLinkInput(
      call,
      shortlink.operations.update.parameters,
      missingUpdateParameters,
    )
    const { link_id: id } = values
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const isUpdated = await db.write(async (tx) => {
      const updated = await updateLink(tx, caller.account.id, id, change)
      if (updated) await remarkLink(tx, id, bannedHosts)
      return updated
    })
    if (!isUpdated) throw linkNotFound()
    await lookup.publishChange(id)
    return shortlinkSuccess({ link_id: id, message: say(call, '短链接已更新', 'Short link updated') })
  }

  async function refresh(call: Call, caller: Caller): Promise<ApiResponse> {
    const values = read(call, shortlink.operations.execute_update.parameters, missingRefreshParameters)
    const purchase = { action: 'shortlink.execute_update', values, answerIfInterrupted }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const link = await findOwnLink(db, caller.account.id, values.link_id)
    if (!link) throw linkNotFound()
    const refreshInTransaction = await links.prepareRefresh(link)
    const paid = await paidCalls.charge<ApiResponse>(call, caller, {
      ...purchase,
      apiType: 'short_link',
      cost: pricesOf(caller.account, config.PRICES).execute_update,
      insufficient: noBalance,
      async inSameTransaction(tx, { remaining }) {
        const { link_id, a_url, b_url, short_code } = await refreshInTransaction(tx)
        const answer = shortlinkSuccess({
          link_id,
          new_a_url: a_url,
          new_b_url: b_url,
          short_code,
          remaining_balance: remaining,
          message: say(call, '访问地址已刷新', 'Access addresses refreshed'),
        })
        return { value: answer, response: answer }
      },
    })
    if (paid.replay) return paid.replay
    await lookup.publishChange(link.id)
    return paid.value
  }

  async function show(call: Call, caller: Caller): Promise<ApiResponse> {
    const values = read(call, shortlink.operations.get.parameters, missingGetParameters)
    if (values.short_code === undefined && values.link_id === undefined) {
      throw new AppError(1001, missingParameters(missingGetParameters, ['short_code', 'link_id'], []))
    }
    requireNotSuspended(caller.account)
    const link = await findLink(caller.account.id, values.short_code, values.link_id)
    if (!link) throw linkNotFound()
    // Includes the visits that this process has not counted yet. When that fails, the counts are a little older.
    await clicks.flush(link.id).catch(() => undefined)
    const totals = await findClickTotals(db, link.id)
    const data = {
      ...links.describe(link),
      clicks: totals.person,
      bot_clicks: totals.bot,
      preview_clicks: totals.preview,
    }
    return { status: 200, body: { success: true, status: 'success', data } }
  }

  /** By code or id; given both, they must match. */
  async function findLink(accountId: number, code?: string, id?: number): Promise<Link | undefined> {
    if (code === undefined) return id === undefined ? undefined : findOwnLink(db, accountId, id)
    const link = await findOwnLinkByCode(db, accountId, code, codes)
    return id === undefined || link?.id === id ? link : undefined
  }

  registerShortlinkMetrics(services, { lookup, clicks, redirects })

  return {
    domains,
    ownDomains,
    bans,
    publishChanges: async () => lookup.publishChanges(),
    list: createLinkList(db.reports, codes, links, (linkId) => clicks.flush(linkId)),
    generate,
    update,
    refresh,
    served: { endpoint: shortlink, handle },
    fastPath: redirects.tryHandle,
    routes(api) {
      registerTlsAsk(api, {
        pools: async () => lookup.cachedPools() ?? lookup.pools(),
        publicUrl: services.publicUrl,
      })
      registerReportForm(api, { db, codes, limits: services.limits, addressOf: http.addressOf })
    },
    notFoundPage,
    start() {
      lookup.start()
      clicks.start()
      services.jobs.every(hourMs, 'check-own-domains', async (signal) => {
        await ownDomains.recheck(signal)
        await ownDomains.deleteOld(signal)
        await deleteOldReports(
          db,
          { decidedMs: reportLimits.decidedKeepDays * dayMs, openMs: reportLimits.openKeepDays * dayMs },
          signal,
        )
      })
      services.jobs.every(markBannedEveryMs, 'mark-banned-links', (signal) =>
        bans.mark(() => !signal.aborted),
      )
    },
    startThreads() {
      // Loaded now, because an update may replace the files on disk before the first click.
      writer.run({ kind: 'load' }).then(
        () => log.debug('click thread loaded'),
        (error: unknown) => log.error({ err: error }, 'failed to load the click thread'),
      )
      services.jobs.every(rollupEveryMs, 'click-rollup', createRollupJob(writer.run))
    },
    async stop() {
      lookup.stop()
      await clicks.stop()
      await writer.close()
    },
  }
}

/** A ban holds at once; this is for lists and events. */
const markBannedEveryMs = 5_000

const missingGenerateParameters: Text = {
  zh: '生成短链接缺少必要参数',
  en: 'generate is missing required parameters',
}
const missingUpdateParameters: Text = {
  zh: '更新短链接缺少必要参数',
  en: 'update is missing required parameters',
}
const missingRefreshParameters: Text = {
  zh: '执行更新缺少必要参数',
  en: 'execute_update is missing required parameters',
}
const missingGetParameters: Text = { zh: '查询短链接缺少必要参数', en: 'get is missing required parameters' }

function read<const P extends Parameters>(call: Call, description: P, missingText: Text): Values<P> {
  return requireValid(readCallParameters(call, description), missingText)
}

function requireValid<P extends Parameters>(
  { values, missing, invalid }: ReadResult<P>,
  missingText: Text,
): Values<P> {
  if (missing.length > 0) throw new AppError(1001, missingParameters(missingText, missing, invalid))
  if (invalid.length > 0) throw parameterError(missing, invalid)
  return values
}

function missingParameters(
  missingText: Text,
  missing: readonly string[],
  invalid: readonly { readonly name: string; readonly text: Text }[],
): Text {
  const also = (language: 'zh' | 'en') => invalid.map(({ name, text }) => `${name} ${text[language]}`)
  return {
    zh: [`${missingText.zh}：${missing.join('、')}`, ...also('zh')].join('；'),
    en: [`${missingText.en}: ${missing.join(', ')}`, ...also('en')].join('; '),
  }
}

function toShortlinkError(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 1001) throw error
  throw new AppError(1001, {
    zh: `缺少必要参数：${error.text.zh}`,
    en: `Missing required parameters: ${error.text.en}`,
  })
}

// Constants: creating an error captures the stack, and every successful call passes one of these.
const noGenerations = new AppError(
  1004,
  { zh: '生成次数不足', en: 'Generation count insufficient' },
  { status: 400 },
)
const noBalance = new AppError(
  1004,
  { zh: '余额不足，无法执行更新', en: 'Balance insufficient to execute the update' },
  { status: 400 },
)

/** Never sent: the transaction of the charge also creates the link. */
const answerIfInterrupted: ApiResponse = { status: 500, body: { success: false, message: '系统内部错误' } }

function say(call: Call, zh: string, en: string): string {
  return call.language === 'en' ? en : zh
}
