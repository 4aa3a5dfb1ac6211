// Domain checks in the console: many at once with progress, and the watch list with its history.
import { Type } from 'typebox'
import {
  domainCheckRoutes,
  type DomainRun,
  type DomainVerdict,
  domainVerdicts,
  type Watch,
} from '../../contract/console/domain-check.ts'
import { checkResults, domainCheck as endpoint } from '../../contract/domain-check.ts'
import type { DomainCheck } from './api.ts'
import type { CheckRun, CheckRunWithResults } from './runs.ts'
import {
  deleteWatchById,
  findVerdicts,
  findWatch,
  findWatchByUrl,
  findWatches,
  updateWatch,
  type WatchedDomain,
} from './store.ts'
import { addWatch } from './watch-list.ts'
import type { Services } from '../services.ts'
import type { Api, SignedInAsk } from '../console/routes.ts'
import { openHandCall, recorded, requireNotExpired, tellOfFailure } from '../console/call-from-console.ts'
import { csvStream } from '../console/csv.ts'
import { dayRange, filterRange, nothing, slice } from '../console/fields.ts'
import { notFound } from '../console/problem.ts'

const wish = Type.Object({
  // How many there may be is the product's to say.
  urls: Type.Unsafe<readonly string[]>(
    Type.Array(Type.String({ maxLength: 5_000 }), {
      wants: { zh: '须为网址列表', en: 'Must be a list of addresses' },
    }),
  ),
  check_random: Type.Optional(Type.Boolean()),
})

const minutes = Type.Integer({ minimum: 5, maximum: 10_080 })

export function domainCheckPages(api: Api, services: Services, checks: DomainCheck): void {
  const { db, config, http } = services

  async function requireRun(ask: SignedInAsk): Promise<CheckRunWithResults> {
    const run = await checks.runs.find(ask.account.id, ask.id())
    if (!run) throw notFound()
    return run
  }

  api.account(domainCheckRoutes.start, wish, async (ask, sent) => {
    requireNotExpired(ask.account)
    const parameters = { urls: sent.urls, check_random: sent.check_random ?? false }
    const call = openHandCall(ask, { endpoint, action: 'check', parameters })
    const caller = { account: ask.account, keyHash: undefined }
    const begin = checks.runs.start(call, caller, { urls: sent.urls, checkRandom: parameters.check_random })
    const started = await begin.catch((error: unknown) => {
      tellOfFailure(services, call, error)
      throw error
    })
    const { finished } = started
    // Nobody waits for it: the page asks how far it has come.
    if (finished) {
      recorded(services, call, () => finished).catch((error: unknown) => http.onError(error, call.requestId))
    }
    const run = await checks.runs.find(ask.account.id, started.runId)
    if (!run) throw notFound()
    return runOf(run)
  })

  api.account(domainCheckRoutes.runs, Type.Object({ ...slice, ...dayRange }), async (ask, sent) => {
    const size = sent.size ?? 50
    const search = { ...filterRange(sent), before: sent.before }
    const runs = await checks.runs.list(ask.account.id, search, size + 1)
    const items = runs.slice(0, size).map(runOf)
    return { items, next: runs.length > size ? items[size - 1]!.id : null }
  })

  api.account(domainCheckRoutes.run, nothing, async (ask) => {
    const run = await requireRun(ask)
    return {
      ...runOf(run),
      results: run.items.map((item, position) => ({
        position,
        url: item.url,
        random: item.type === 'random',
        verdict: run.results[position] ?? null,
      })),
    }
  })

  api.accountFile(domainCheckRoutes.runCsv, nothing, async (ask) => {
    const run = await requireRun(ask)
    const { language } = ask
    async function* pages() {
      yield run.items.map((item, position) => [
        position + 1,
        item.url,
        item.type === 'random' ? (language === 'zh' ? '是' : 'yes') : '',
        run.results[position] ?? '',
      ])
    }
    const heading =
      language === 'zh' ? ['序号', '网址', '随机子域名', '结果'] : ['no', 'url', 'random', 'result']
    return { name: `domain-check-${run.id}.csv`, content: csvStream(heading, pages()) }
  })

  const watchOf = (watch: WatchedDomain): Watch => ({
    id: watch.id,
    url: watch.address,
    every_minutes: watch.every_minutes ?? Math.max(1, Math.round(config.DOMAIN_WATCH_S / 60)),
    paused: watch.stopped === 1,
    held_up: watch.pause_reason,
    verdict: watch.verdict && checkResults[watch.verdict],
    checked_at: watch.checked_at,
    since: watch.verdict_since,
    created_at: watch.created_at,
  })

  async function requireWatch(ask: SignedInAsk): Promise<WatchedDomain> {
    const watch = await findWatch(db, ask.account.id, ask.id())
    if (!watch) throw notFound()
    return watch
  }

  api.account(domainCheckRoutes.watches, nothing, async (ask) => ({
    items: (await findWatches(db, ask.account.id)).map(watchOf),
  }))

  const watchWish = Type.Object({
    url: Type.String({ minLength: 1, maxLength: 5_000 }),
    every_minutes: minutes,
  })
  api.account(domainCheckRoutes.addWatch, watchWish, async (ask, sent) => {
    requireNotExpired(ask.account)
    const address = await addWatch(
      db,
      { kind: 'account', accountId: ask.account.id },
      {
        accountId: ask.account.id,
        text: sent.url,
        limit: config.DOMAIN_WATCH_LIMIT,
        everyMinutes: sent.every_minutes,
      },
    )
    const watch = await findWatchByUrl(db, ask.account.id, address.url)
    if (!watch) throw notFound()
    return watchOf(watch)
  })

  const watchChange = Type.Object({
    every_minutes: Type.Optional(minutes),
    paused: Type.Optional(Type.Boolean()),
  })
  api.account(domainCheckRoutes.changeWatch, watchChange, async (ask, sent) => {
    requireNotExpired(ask.account)
    const change = { everyMinutes: sent.every_minutes, stopped: sent.paused }
    if (!(await db.write((tx) => updateWatch(tx, ask.account.id, ask.id(), change)))) throw notFound()
    return watchOf(await requireWatch(ask))
  })

  // Taking one off costs nothing, and saves what it would have cost: an expired account may.
  api.account(domainCheckRoutes.removeWatch, nothing, async (ask) => {
    if (!(await db.write((tx) => deleteWatchById(tx, ask.account.id, ask.id())))) throw notFound()
    return {}
  })

  api.account(domainCheckRoutes.watchHistory, Type.Object({ ...slice, ...dayRange }), async (ask, sent) => {
    const watch = await requireWatch(ask)
    const size = sent.size ?? 50
    const search = { ...filterRange(sent), before: sent.before }
    const rows = await findVerdicts(db, watch.id, search, size + 1)
    const items = rows
      .slice(0, size)
      .map(({ id, at, verdict }) => ({ id, at, verdict: checkResults[verdict] }))
    return { items, next: rows.length > size ? items[size - 1]!.id : null }
  })
}

function runOf(run: CheckRun): DomainRun {
  return {
    id: run.id,
    at: run.at,
    state: run.state,
    total: run.total,
    done: run.done,
    counts: Object.fromEntries(
      domainVerdicts.map((verdict) => [verdict, run.counts[verdict] ?? 0]),
    ) as Record<DomainVerdict, number>,
    charged: run.charged,
    given_back: run.givenBack,
    request_id: run.requestId,
  }
}
