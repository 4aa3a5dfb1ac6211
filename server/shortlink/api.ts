// The short link endpoint: one request reads from top to bottom here.
import { Counter, Gauge } from 'prom-client'
import { shortlink } from '../../contract/shortlink.ts'
import type { Parameters, Values } from '../../contract/parameters.ts'
import type { Text } from '../../contract/text.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { type Call, readCallParameters, findOperation } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { parameterError, type ReadResult } from '../http/parameters.ts'
import { type ApiResponse, shortlinkSuccess } from '../http/responses.ts'
import type { Product, Services } from '../services.ts'
import { findClickTotals } from './clicks/store.ts'
import { isJournalEmpty } from './clicks/journal-store.ts'
import { openClickWriter } from './clicks/writer.ts'
import { openClicks } from './clicks/clicks.ts'
import { findCodes } from './codes/store.ts'
import { openDealer, watchedDomains, type WatchedDomains } from './domains/domains.ts'
import { noSuchLink, openLinks } from './links.ts'
import { type LinkList, openLinkList } from './listing/list.ts'
import { type LookupStats, openLookup } from './redirect/lookup-store.ts'
import { lostPage, openRedirects } from './redirect/redirect.ts'
import { findOwnLink, findOwnLinkByCode, type Link, updateLink } from './store.ts'
import { createRollupJob, rollupEveryMs } from './clicks/rollup.ts'

export interface Shortlink extends Product {
  /** For the domain block check, which knows nothing of links. */
  readonly domains: WatchedDomains
  readonly list: LinkList
  /** The same operations for a caller who did not come with a key. */
  readonly generate: Act
  readonly update: Act
  readonly refresh: Act
}

type Act = (call: Call, caller: Caller) => Promise<ApiResponse>

export async function openShortlink(services: Services): Promise<Shortlink> {
  const { db, config, paidCalls, log, http } = services
  const codes = await findCodes(db)
  const lookup = openLookup(db, codes)
  const links = openLinks(services, lookup, codes, openDealer())
  const writer = openClickWriter(db)
  const clicks = openClicks({
    writer,
    hasJournal: !(await isJournalEmpty(db)),
    onError: (error) => log.error({ err: error }, 'failed to write clicks'),
  })
  const redirects = openRedirects({ ...http, lookup, clicks })
  const domains = watchedDomains(db, lookup, log)

  async function handle(call: Call): Promise<ApiResponse> {
    const { caller, values } = await services.authenticate(call, shortlink.common).catch(inOurWords)
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

  /** The parameters and the link they describe; everything that is wrong with either in one message. */
  async function readWish<const P extends Parameters>(call: Call, description: P, lacks: Text) {
    const result = readCallParameters(call, description)
    const pools = lookup.pools()
    const { change, problems } = links.check(result.values, pools instanceof Promise ? await pools : pools)
    const invalid = problems.length === 0 ? result.invalid : [...result.invalid, ...problems]
    return { values: accept({ ...result, invalid }, lacks), change }
  }

  async function generate(call: Call, caller: Caller): Promise<ApiResponse> {
    const { values, change } = await readWish(call, shortlink.operations.generate.parameters, generateLacks)
    const purchase = { action: 'shortlink.generate', values, answerIfInterrupted }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const inSameTransaction = await links.maker(caller.account.id, change, (made, { remaining }) => {
      const answer = shortlinkSuccess({ ...made, remaining_balance: remaining })
      return { value: answer, response: answer }
    })
    const paid = await paidCalls.charge<ApiResponse>(call, caller, {
      ...purchase,
      apiType: 'short_link',
      cost: config.PRICES.generate,
      insufficient: noGenerations,
      inSameTransaction,
    })
    return paid.replay ?? paid.value
  }

  async function update(call: Call, caller: Caller): Promise<ApiResponse> {
    const { values, change } = await readWish(call, shortlink.operations.update.parameters, updateLacks)
    const { link_id: id } = values
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const isOurs = await db.write((tx) => updateLink(tx, caller.account.id, id, change))
    if (!isOurs) throw noSuchLink()
    await lookup.changed(id)
    return shortlinkSuccess({ link_id: id, message: say(call, '短链接已更新', 'Short link updated') })
  }

  async function refresh(call: Call, caller: Caller): Promise<ApiResponse> {
    const values = read(call, shortlink.operations.execute_update.parameters, refreshLacks)
    const purchase = { action: 'shortlink.execute_update', values, answerIfInterrupted }
    const replay = await paidCalls.findReplay(call, caller, purchase)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 400)
    const link = await findOwnLink(db, caller.account.id, values.link_id)
    if (!link) throw noSuchLink()
    const renew = await links.refresher(link)
    const paid = await paidCalls.charge<ApiResponse>(call, caller, {
      ...purchase,
      apiType: 'short_link',
      cost: config.PRICES.execute_update,
      insufficient: noBalance,
      async inSameTransaction(tx, { remaining }) {
        const { link_id, a_url, b_url, short_code } = await renew(tx)
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
    await lookup.changed(link.id)
    return paid.value
  }

  async function show(call: Call, caller: Caller): Promise<ApiResponse> {
    const values = read(call, shortlink.operations.get.parameters, getLacks)
    if (values.short_code === undefined && values.link_id === undefined) {
      throw new AppError(1001, lacking(getLacks, ['short_code', 'link_id'], []))
    }
    requireNotSuspended(caller.account)
    const link = await findLink(caller.account.id, values.short_code, values.link_id)
    if (!link) throw noSuchLink()
    // The visits of this process that still wait in memory belong to the answer; a failed write only makes it lag.
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

  /** By code or id; given both, they must mean the same link. */
  async function findLink(accountId: number, code?: string, id?: number): Promise<Link | undefined> {
    if (code === undefined) return id === undefined ? undefined : findOwnLink(db, accountId, id)
    const link = await findOwnLinkByCode(db, accountId, code, codes)
    return id === undefined || link?.id === id ? link : undefined
  }

  registerMetrics()

  function registerMetrics(): void {
    new Counter({
      name: 'tollgate_redirects_total',
      help: 'Visits of short links by what became of them',
      labelNames: ['outcome'],
      registers: [services.metrics],
      collect() {
        this.reset()
        for (const [outcome, count] of Object.entries(redirects.counts)) this.inc({ outcome }, count)
      },
    })
    if (db.engine === 'postgres') registerLookupMetrics(lookup.stats)
    new Counter({
      name: 'tollgate_clicks_lost_total',
      help: 'Clicks that could not be kept while the database was away',
      registers: [services.metrics],
      collect() {
        this.reset()
        this.inc(clicks.lost())
      },
    })
    new Gauge({
      name: 'tollgate_link_domains_blocked',
      help: 'Link domains in use that were found blocked',
      aggregator: 'max',
      labelNames: ['pool'],
      registers: [services.metrics],
      async collect() {
        const { domains: all } = await lookup.poolsNow()
        for (const pool of ['a', 'b']) {
          const blocked = all.filter((one) => one.pool === pool && one.removed === 0 && one.blocked === 1)
          this.set({ pool }, blocked.length)
        }
      },
    })
  }

  function registerLookupMetrics(stats: LookupStats): void {
    new Counter({
      name: 'tollgate_link_lookups_total',
      help: 'Links looked up, by where they were found: memory or the database',
      labelNames: ['in'],
      registers: [services.metrics],
      collect() {
        this.reset()
        this.inc({ in: 'memory' }, stats.remembered)
        this.inc({ in: 'database' }, stats.asked)
      },
    })
    new Gauge({
      name: 'tollgate_link_channel_up',
      help: 'Whether changes of links are heard of; while not, every link is looked up in the database',
      aggregator: 'min',
      registers: [services.metrics],
      collect() {
        this.set(stats.isRemembering() ? 1 : 0)
      },
    })
  }

  return {
    domains,
    list: openLinkList(db, codes, links, (linkId) => clicks.flush(linkId)),
    generate,
    update,
    refresh,
    served: { endpoint: shortlink, handle },
    fastPath: redirects.tryHandle,
    lostPage,
    start() {
      lookup.start()
      clicks.start()
      services.jobs.every(rollupEveryMs, 'click-rollup', createRollupJob(writer.run))
    },
    async stop() {
      lookup.stop()
      await clicks.stop()
      await writer.close()
    },
  }
}

/** Each operation says in its own words that parameters are missing. */
const generateLacks: Text = { zh: '生成短链接缺少必要参数', en: 'generate is missing required parameters' }
const updateLacks: Text = { zh: '更新短链接缺少必要参数', en: 'update is missing required parameters' }
const refreshLacks: Text = { zh: '执行更新缺少必要参数', en: 'execute_update is missing required parameters' }
const getLacks: Text = { zh: '查询短链接缺少必要参数', en: 'get is missing required parameters' }

function read<const P extends Parameters>(call: Call, description: P, lacks: Text): Values<P> {
  return accept(readCallParameters(call, description), lacks)
}

function accept<P extends Parameters>({ values, missing, invalid }: ReadResult<P>, lacks: Text): Values<P> {
  if (missing.length > 0) throw new AppError(1001, lacking(lacks, missing, invalid))
  if (invalid.length > 0) throw parameterError(missing, invalid)
  return values
}

function lacking(
  lacks: Text,
  missing: readonly string[],
  invalid: readonly { readonly name: string; readonly text: Text }[],
): Text {
  const also = (language: 'zh' | 'en') => invalid.map(({ name, text }) => `${name} ${text[language]}`)
  return {
    zh: [`${lacks.zh}：${missing.join('、')}`, ...also('zh')].join('；'),
    en: [`${lacks.en}: ${missing.join(', ')}`, ...also('en')].join('; '),
  }
}

function inOurWords(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 1001) throw error
  throw new AppError(1001, {
    zh: `缺少必要参数：${error.text.zh}`,
    en: `Missing required parameters: ${error.text.en}`,
  })
}

// Made once: an error notes the stack when it is made, and these two are at hand for every call that succeeds.
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

/** Never told: a link is made by its charge, in one transaction. */
const answerIfInterrupted: ApiResponse = { status: 500, body: { success: false, message: '系统内部错误' } }

function say(call: Call, zh: string, en: string): string {
  return call.language === 'en' ? en : zh
}
