// Console routes for domain checks: runs with progress, and the watch list with its history.
import { domainCheckRoutes } from '../../contract/console/domain-check.ts'
import type { DomainRun, Watch } from '../../contract/console/responses/domain-check.ts'
import { type CheckResult, checkResults, domainCheck as endpoint } from '../../contract/domain-check.ts'
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
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import {
  createConsoleCall,
  recorded,
  recordFailure,
  requireNotExpired,
} from '../console/call-from-console.ts'
import { csvStream } from '../console/csv.ts'
import { filterRange, readSlice } from '../console/fields.ts'
import { notFound } from '../console/problem.ts'

export function domainCheckPages(api: Api, services: Services, checks: DomainCheck): void {
  const { db, config, http } = services

  async function requireRun(request: SignedInRequest): Promise<CheckRunWithResults> {
    const run = await checks.runs.find(request.account.id, request.id())
    if (!run) throw notFound()
    return run
  }

  api.account(domainCheckRoutes.start, async (request, input) => {
    requireNotExpired(request.account)
    const parameters = { urls: input.urls, check_random: input.check_random ?? false }
    const call = createConsoleCall(request, { endpoint, action: 'check', parameters })
    const caller = { account: request.account, keyHash: undefined }
    const begin = checks.runs.start(call, caller, { urls: input.urls, checkRandom: parameters.check_random })
    const started = await begin.catch((error: unknown) => {
      recordFailure(services, call, error)
      throw error
    })
    const { finished } = started
    // Runs in the background; the page polls its progress.
    if (finished) {
      recorded(services, call, () => finished).catch((error: unknown) => http.onError(error, call.requestId))
    }
    const run = await checks.runs.find(request.account.id, started.runId)
    if (!run) throw notFound()
    return runOf(run)
  })

  api.account(domainCheckRoutes.runs, async (request, input) => {
    const search = { ...filterRange(input), before: input.before }
    return readSlice(input, (limit) => checks.runs.list(request.account.id, search, limit), runOf)
  })

  api.account(domainCheckRoutes.run, async (request) => {
    const run = await requireRun(request)
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

  api.accountFile(domainCheckRoutes.runCsv, async (request) => {
    const run = await requireRun(request)
    const { language } = request
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

  async function requireWatch(request: SignedInRequest): Promise<WatchedDomain> {
    const watch = await findWatch(db, request.account.id, request.id())
    if (!watch) throw notFound()
    return watch
  }

  api.account(domainCheckRoutes.watches, async (request) => ({
    items: (await findWatches(db, request.account.id)).map(watchOf),
  }))

  api.account(domainCheckRoutes.addWatch, async (request, input) => {
    requireNotExpired(request.account)
    const address = await addWatch(
      db,
      { kind: 'account', accountId: request.account.id },
      {
        accountId: request.account.id,
        text: input.url,
        limit: config.DOMAIN_WATCH_LIMIT,
        everyMinutes: input.every_minutes,
      },
    )
    const watch = await findWatchByUrl(db, request.account.id, address.url)
    if (!watch) throw notFound()
    return watchOf(watch)
  })

  api.account(domainCheckRoutes.changeWatch, async (request, input) => {
    requireNotExpired(request.account)
    const change = { everyMinutes: input.every_minutes, stopped: input.paused }
    if (!(await db.write((tx) => updateWatch(tx, request.account.id, request.id(), change)))) throw notFound()
    return watchOf(await requireWatch(request))
  })

  // An expired account may do this too: it is free, and further checks would cost credits.
  api.account(domainCheckRoutes.removeWatch, async (request) => {
    if (!(await db.write((tx) => deleteWatchById(tx, request.account.id, request.id())))) throw notFound()
    return {}
  })

  api.account(domainCheckRoutes.watchHistory, async (request, input) => {
    const watch = await requireWatch(request)
    const search = { ...filterRange(input), before: input.before }
    return readSlice(
      input,
      (limit) => findVerdicts(db, watch.id, search, limit),
      ({ id, at, verdict }) => ({ id, at, verdict: checkResults[verdict] }),
    )
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
      Object.values(checkResults).map((verdict) => [verdict, run.counts[verdict] ?? 0]),
    ) as Record<CheckResult, number>,
    charged: run.charged,
    given_back: run.givenBack,
    request_id: run.requestId,
  }
}
