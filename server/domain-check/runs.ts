// A check by hand, from the console: no API key, the same price; it begins at once and is looked at while it runs.
import { type CheckItem, domainCheck, type CheckResult } from '../../contract/domain-check.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import { type Call, markStep } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, envelope, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import type { Checked, Progress } from './checker.ts'
import { makeItems } from './items.ts'
import type { Address } from './port.ts'
import {
  deleteOldRuns,
  findRun,
  findRunByKey,
  findRuns,
  insertRun,
  type RunProgress,
  type RunRow,
  type RunSearch,
  updateRun,
} from './run-store.ts'
import type { CheckService } from './service.ts'
import { checkFailed, tooManyUrls } from './words.ts'

export interface RunWish {
  readonly urls: readonly string[]
  readonly checkRandom: boolean
}

export interface Started {
  readonly runId: number
  /** The answer an API call would have got. Undefined for a repeat, which began nothing. */
  readonly finished: Promise<ApiResponse> | undefined
}

export interface Run {
  readonly id: number
  readonly at: number
  readonly state: 'running' | 'done' | 'failed'
  readonly total: number
  readonly done: number
  readonly counts: Partial<Record<CheckResult, number>>
  readonly charged: number
  readonly givenBack: number
  readonly requestId: string
}

export interface WholeRun extends Run {
  readonly items: readonly CheckItem[]
  readonly results: readonly (CheckResult | null)[]
}

export interface Runs {
  /** Answers once it is paid for; everything that is refused is thrown. */
  start(call: Call, caller: Caller, wish: RunWish): Promise<Started>
  /** The newest first. */
  list(accountId: number, search: RunSearch, limit: number): Promise<Run[]>
  find(accountId: number, id: number): Promise<WholeRun | undefined>
  startJobs(): void
  /** Waits for what is under way. */
  stop(): Promise<void>
}

/** How often progress is written: whoever looks, in whichever process, sees it no later. */
const progressMs = 400

const keptDays = 90
const perRound = 200
const forgetEveryMs = 3_600_000

const apiType = 'domain_check'

export function openRuns(services: Services, service: CheckService): Runs {
  const { config, credits, db, log, paidCalls } = services
  const price = config.PRICES.domain
  const underWay = new Set<Promise<unknown>>()
  let timer: NodeJS.Timeout | undefined

  async function start(call: Call, caller: Caller, { urls: given, checkRandom }: RunWish): Promise<Started> {
    const urls = given.filter((url) => url.trim() !== '')
    if (urls.length === 0) throw parameterError(['urls'], [])
    if (urls.length > config.DOMAIN_MAX_URLS) {
      throw parameterError([], [{ name: 'urls', text: tooManyUrls(config.DOMAIN_MAX_URLS) }])
    }
    const fingerprint = credits.fingerprint('domain.run', { urls, checkRandom })
    const key =
      call.idempotencyKey === undefined
        ? undefined
        : credits.fingerprint('idempotency key', { key: call.idempotencyKey })
    const known = await findRepeat(caller.account.id, key, fingerprint)
    if (known) return known
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 403)

    const { items, addresses } = makeItems(urls, checkRandom)
    const failed = errorResponse(domainCheck.shape, checkFailed(), call.language, services.http)
    // The run itself is what a repeat is told, so the ledger need not know of the key.
    const unkeyed: Call = { ...call, idempotencyKey: undefined }
    const paid = await paidCalls
      .charge<number>(unkeyed, caller, {
        apiType,
        action: 'domain.check',
        cost: items.length * price,
        values: {},
        answerIfInterrupted: failed,
        leaseMs: service.leaseMs,
        async inSameTransaction(tx, { operationId }) {
          const runId = await insertRun(tx, {
            accountId: caller.account.id,
            operationId,
            idempotencyKey: key,
            fingerprint,
            total: items.length,
            items: JSON.stringify(items),
          })
          if (runId === undefined) throw new BegunMeanwhile()
          return { value: runId }
        },
      })
      .catch((error: unknown) => {
        if (error instanceof BegunMeanwhile) return undefined
        throw error
      })
    if (paid === undefined || paid.replay) {
      const begun = await findRepeat(caller.account.id, key, fingerprint)
      if (!begun) throw new Error('a check by hand was begun by nobody')
      return begun
    }
    const run = { id: paid.value, operationId: paid.operationId, items, addresses, remaining: paid.remaining }
    const finished = work(unkeyed, run, failed)
    underWay.add(finished)
    const over = () => void underWay.delete(finished)
    finished.then(over, over)
    return { runId: run.id, finished }
  }

  async function findRepeat(
    accountId: number,
    key: string | undefined,
    fingerprint: string,
  ): Promise<Started | undefined> {
    const known = key === undefined ? undefined : await findRunByKey(db, accountId, key)
    if (!known) return undefined
    if (known.fingerprint === fingerprint) return { runId: known.id, finished: undefined }
    throw new AppError(
      1002,
      { zh: '同一 Idempotency-Key 的参数不同', en: 'This Idempotency-Key came with other parameters' },
      { status: 422 },
    )
  }

  async function work(call: Call, run: Paid, failed: ApiResponse): Promise<ApiResponse> {
    const { operationId } = run
    // Without any gateway there is no check; a gateway that is down only fails its items.
    if (service.gateways.length === 0 && run.addresses.some((address) => address !== undefined)) {
      await paidCalls.end(call, { operationId, end: { state: 'refunded' } })
      return failed
    }
    const checked = await checkWithProgress(run).catch(async (error: unknown) => {
      await paidCalls.end(call, { operationId, end: { state: 'refunded' } })
      throw error
    })
    markStep(call, 'gateway')
    call.trace.gateway = checked.gateways.join(',') || undefined
    const { ended, remaining } = await paidCalls.end(call, {
      operationId,
      end: { state: 'settled', refund: checked.failed * price },
      sends: checked.asked,
      // Results that the sweeper has refunded are not stored.
      inSameTransaction: async (tx, end) =>
        end.ended ? updateRun(tx, run.id, progressOf(checked.results), true) : undefined,
    })
    if (!ended) return failed
    return envelope({
      all_urls: run.items,
      results: checked.results,
      remaining_credits: remaining ?? run.remaining,
    })
  }

  /** Progress is written beside the check, the latest only, and never holds it up. */
  async function checkWithProgress(run: Paid): Promise<Checked> {
    let latest: Progress | undefined
    let writing: Promise<void> = Promise.resolve()
    let isWriting = false
    const writeLatest = () => {
      if (latest === undefined || isWriting) return
      const progress = progressOf(latest.results)
      latest = undefined
      isWriting = true
      writing = db
        .write((tx) => updateRun(tx, run.id, progress, false))
        .catch((error: unknown) => log.warn({ err: error, run: run.id }, 'progress was not written'))
        .finally(() => (isWriting = false))
    }
    const ticking = setInterval(writeLatest, progressMs)
    try {
      return await service.checker.check(run.addresses, { onProgress: (progress) => (latest = progress) })
    } finally {
      clearInterval(ticking)
      // It must not come after the end.
      await writing
    }
  }

  async function forget(): Promise<void> {
    while ((await db.write((tx) => deleteOldRuns(tx, keptDays, perRound))) === perRound);
  }

  return {
    start,
    async list(accountId, search, limit) {
      return (await findRuns(db, accountId, search, limit)).map(runOf)
    },
    async find(accountId, id) {
      const row = await findRun(db, accountId, id)
      if (!row) return undefined
      const items = JSON.parse(row.items) as CheckItem[]
      const results = JSON.parse(row.results) as (CheckResult | null)[]
      return { ...runOf(row), items, results: items.map((_item, place) => results[place] ?? null) }
    },
    startJobs() {
      timer = setInterval(() => {
        forget().catch((error: unknown) => log.error({ err: error }, 'old checks by hand were not deleted'))
      }, forgetEveryMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await Promise.allSettled(underWay)
    },
  }
}

interface Paid {
  readonly id: number
  readonly operationId: number
  readonly items: readonly CheckItem[]
  readonly addresses: readonly (Address | undefined)[]
  readonly remaining: number
}

/** Takes the charge back that came after another with the same key. */
class BegunMeanwhile extends Error {}

function progressOf(results: readonly (CheckResult | undefined)[]): RunProgress {
  const counts: Record<string, number> = {}
  for (const result of results) if (result !== undefined) counts[result] = (counts[result] ?? 0) + 1
  return {
    done: results.filter((result) => result !== undefined).length,
    results: JSON.stringify(results.map((result) => result ?? null)),
    counts: JSON.stringify(counts),
  }
}

/** A run whose credits went back as a whole was given up: nobody configured to ask, or its process died. */
function runOf(row: RunRow): Run {
  return {
    id: row.id,
    at: row.at,
    state: row.state === 'refunded' ? 'failed' : row.finished === 1 ? 'done' : 'running',
    total: row.total,
    done: row.done,
    counts: JSON.parse(row.counts) as Run['counts'],
    charged: row.cost,
    givenBack: row.given_back,
    requestId: row.request_id,
  }
}
