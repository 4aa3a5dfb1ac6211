// Checks from the console: charged like a call, running in the background, with progress in the database.
import { type CheckItem, domainCheck, type CheckResult } from '../../contract/domain-check.ts'
import { hourMs } from '../../contract/time.ts'
import { type Caller, requireNotExpired, requireNotSuspended } from '../accounts/authenticate.ts'
import type { Call } from '../http/call.ts'
import { AppError } from '../http/errors.ts'
import { parameterError } from '../http/parameters.ts'
import { type ApiResponse, errorResponse } from '../http/responses.ts'
import type { Services } from '../services.ts'
import { createItems } from './address.ts'
import type { CheckOutcome, CheckProgress } from './checker.ts'
import { apiType, checkAction, completeCheck } from './paid-check.ts'
import type { Address } from './port.ts'
import {
  deleteOldRuns,
  findRun,
  findRunByKey,
  findRuns,
  insertRun,
  pruneRunKeys,
  type RunFilter,
  type RunProgress,
  type RunRow,
  updateRun,
} from './run-store.ts'
import type { CheckService } from './service.ts'
import { checkFailed, tooManyUrls } from './texts.ts'
import { pricesOf } from '../accounts/prices.ts'

export interface RunInput {
  readonly urls: readonly string[]
  readonly checkRandom: boolean
}

export interface StartedRun {
  readonly runId: number
  /** The response that an API call would have got. Undefined for a replay, which starts nothing. */
  readonly finished: Promise<ApiResponse> | undefined
}

export interface CheckRun {
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

export interface CheckRunWithResults extends CheckRun {
  readonly items: readonly CheckItem[]
  readonly results: readonly (CheckResult | null)[]
}

export interface Runs {
  /** Resolves after the charge. */
  start(call: Call, caller: Caller, input: RunInput): Promise<StartedRun>
  /** Newest first. */
  list(accountId: number, filter: RunFilter, limit: number): Promise<CheckRun[]>
  find(accountId: number, id: number): Promise<CheckRunWithResults | undefined>
  startPruning(): void
  /** Waits for the running checks. */
  stop(): Promise<void>
}

const progressIntervalMs = 400
const retentionDays = 90

export function createRuns(services: Services, service: CheckService): Runs {
  const { config, credits, db, jobs, log, paidCalls } = services
  const running = new Set<Promise<unknown>>()

  async function start(call: Call, caller: Caller, input: RunInput): Promise<StartedRun> {
    const { checkRandom } = input
    const urls = requireUrls(input.urls)
    const accountId = caller.account.id
    const fingerprint = credits.fingerprint('domain.run', { urls, checkRandom })
    const key =
      call.idempotencyKey === undefined
        ? undefined
        : credits.fingerprint('idempotency key', { key: call.idempotencyKey })
    const replay = await findReplay(accountId, key, fingerprint)
    if (replay) return replay
    requireNotSuspended(caller.account)
    requireNotExpired(caller.account, 403)

    const { items, addresses } = createItems(urls, checkRandom)
    const price = pricesOf(caller.account, config.PRICES).domain
    const failed = errorResponse(domainCheck.shape, checkFailed, call.language, services.http)
    // A replay returns the run, so the ledger does not need the key.
    const callWithoutKey: Call = { ...call, idempotencyKey: undefined }
    const paid = await paidCalls
      .charge<number>(callWithoutKey, caller, {
        apiType,
        action: checkAction,
        cost: items.length * price,
        values: {},
        answerIfInterrupted: failed,
        leaseMs: service.leaseMs,
        async inSameTransaction(tx, { operationId }) {
          const runId = await insertRun(tx, {
            accountId,
            operationId,
            idempotencyKey: key,
            fingerprint,
            total: items.length,
            items: JSON.stringify(items),
          })
          if (runId === undefined) throw new RunExists()
          return { value: runId }
        },
      })
      .catch((error: unknown) => {
        if (error instanceof RunExists) return undefined
        throw error
      })
    if (paid === undefined || paid.replay) {
      const existing = await findReplay(accountId, key, fingerprint)
      if (!existing) throw new Error('the concurrent run with the same key is missing')
      return existing
    }
    const runId = paid.value
    const finished = completeCheck(services, service, callWithoutKey, {
      accountId,
      operationId: paid.operationId,
      items,
      addresses,
      price,
      remaining: paid.remaining,
      failed,
      check: () => checkWithProgress(runId, addresses),
      recordResults: (outcome) => async (tx, end) => {
        // Results that the sweeper has already refunded are not stored.
        if (end.ended) await updateRun(tx, runId, { ...toProgress(outcome.results), isFinished: true })
      },
    })
    running.add(finished)
    const onEnd = () => void running.delete(finished)
    finished.then(onEnd, onEnd)
    return { runId, finished }
  }

  function requireUrls(input: readonly string[]): readonly string[] {
    const urls = input.filter((url) => url.trim() !== '')
    if (urls.length === 0) throw parameterError(['urls'], [])
    if (urls.length <= config.DOMAIN_MAX_URLS) return urls
    throw parameterError([], [{ name: 'urls', text: tooManyUrls(config.DOMAIN_MAX_URLS) }])
  }

  async function findReplay(
    accountId: number,
    key: string | undefined,
    fingerprint: string,
  ): Promise<StartedRun | undefined> {
    const run = key === undefined ? undefined : await findRunByKey(db, accountId, key)
    if (!run) return undefined
    if (run.fingerprint === fingerprint) return { runId: run.id, finished: undefined }
    throw new AppError(
      1002,
      { zh: '同一 Idempotency-Key 的参数不同', en: 'This Idempotency-Key came with other parameters' },
      { status: 422 },
    )
  }

  /** Stores the latest progress in the background; the check does not wait for it. */
  async function checkWithProgress(
    runId: number,
    addresses: readonly (Address | undefined)[],
  ): Promise<CheckOutcome> {
    let latest: CheckProgress | undefined
    let writing: Promise<void> | undefined
    const storeProgress = () => {
      if (latest === undefined || writing !== undefined) return
      const progress = toProgress(latest.results)
      latest = undefined
      writing = db
        .write((tx) => updateRun(tx, runId, { ...progress, isFinished: false }))
        .catch((error: unknown) =>
          log.warn({ err: error, run: runId }, 'failed to store the progress of a check'),
        )
        .finally(() => (writing = undefined))
    }
    const timer = setInterval(storeProgress, progressIntervalMs)
    try {
      return await service.checker.check(addresses, { onProgress: (progress) => (latest = progress) })
    } finally {
      clearInterval(timer)
      // A late write must not follow the settlement.
      await writing
    }
  }

  return {
    start,
    async list(accountId, filter, limit) {
      return (await findRuns(db.reports, accountId, filter, limit)).map(toRun)
    },
    async find(accountId, id) {
      const row = await findRun(db.reports, accountId, id)
      if (!row) return undefined
      const items = JSON.parse(row.items) as CheckItem[]
      const results = JSON.parse(row.results) as (CheckResult | null)[]
      return { ...toRun(row), items, results: items.map((_item, index) => results[index] ?? null) }
    },
    startPruning() {
      jobs.every(hourMs, 'prune_domain_runs', async (signal) => {
        await deleteOldRuns(db, retentionDays, signal)
        await pruneRunKeys(db, signal)
      })
    },
    async stop() {
      await Promise.allSettled(running)
    },
  }
}

/** Rolls back a charge when a concurrent call with the same key was first. */
class RunExists extends Error {}

function toProgress(results: readonly (CheckResult | undefined)[]): RunProgress {
  const counts: Record<string, number> = {}
  for (const result of results) if (result !== undefined) counts[result] = (counts[result] ?? 0) + 1
  return {
    done: results.filter((result) => result !== undefined).length,
    results: JSON.stringify(results.map((result) => result ?? null)),
    counts: JSON.stringify(counts),
  }
}

/** A run with a full refund failed: no gateway is configured, or its process exited. */
function toRun(row: RunRow): CheckRun {
  return {
    id: row.id,
    at: row.at,
    state: row.state === 'refunded' ? 'failed' : row.finished === 1 ? 'done' : 'running',
    total: row.total,
    done: row.done,
    counts: JSON.parse(row.counts) as CheckRun['counts'],
    charged: row.cost,
    givenBack: row.given_back,
    requestId: row.request_id,
  }
}
