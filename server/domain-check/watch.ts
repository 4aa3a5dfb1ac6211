// The job of the watch list: claims due addresses, charges, checks, and stores the verdicts.
import { watchAction } from '../../contract/console/credits.ts'
import { minuteMs } from '../../contract/time.ts'
import { checkResults, type CheckResult } from '../../contract/domain-check.ts'
import { isExpired } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import type { Tx } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import type { Services } from '../services.ts'
import { readAddress } from './address.ts'
import { apiType } from './paid-check.ts'
import type { Address, CheckVerdict } from './port.ts'
import type { CheckService } from './service.ts'
import {
  claimDue,
  findWatches,
  platformAccount,
  recordFailure,
  recordPause,
  recordVerdict,
  setPlatformWatches,
  type WatchedDomain,
} from './store.ts'
import type { PauseReason } from './texts.ts'
import { pricesOf } from '../accounts/prices.ts'

/** Returns the operator's link domains. */
export type ListPlatformDomains = () => Promise<readonly string[]>

/** Receives every verdict, not only changes, so that a missed one is repeated. */
export type OnPlatformVerdict = (domain: string, blocked: boolean) => Promise<void>

export interface Watcher {
  /** Watches the operator's link domains free of charge. Call it before `start`. */
  watchPlatformDomains(list: ListPlatformDomains, onVerdict: OnPlatformVerdict): void
  /** Checks up to 64 due addresses and returns their number. */
  round(signal?: AbortSignal): Promise<number>
  start(): void
}

/** A due address with its charge; the operator's own domains are free. */
interface DueWatch {
  readonly watch: WatchedDomain
  readonly operationId: number | undefined
}

const maxPerRound = 64

/** A failed check is repeated after this time at the latest. */
const maxRetryMs = 300_000

export function createWatcher(services: Services, service: CheckService): Watcher {
  const { config, db, credits, jobs, log } = services
  const intervalMs = config.DOMAIN_WATCH_S * 1000
  let platform: { list: ListPlatformDomains; onVerdict: OnPlatformVerdict } | undefined

  async function round(signal?: AbortSignal): Promise<number> {
    // Without a trusted gateway charges and refunds would only fill the ledger.
    if (service.gateways.every(({ state }) => state === 'distrusted')) return 0
    if (platform) await updatePlatformWatches(platform.list)
    const claimed = await db.write((tx) =>
      claimDue(tx, { intervalMs, limit: maxPerRound, platformToo: platform !== undefined }),
    )
    const due = (await Promise.all(claimed.map(charge))).filter((one) => one !== undefined)
    const { results } = await service.checker.check(
      due.map(({ watch }) => ({ url: watch.url, host: watch.host })),
      { signal },
    )
    await Promise.all(due.map((one, index) => storeResult(one, results[index] ?? checkResults.failed)))
    return claimed.length
  }

  async function updatePlatformWatches(list: ListPlatformDomains): Promise<void> {
    const wanted = new Map<string, { text: string; address: Address }>()
    for (const text of await list()) {
      const address = readAddress(text)
      if (address) wanted.set(address.url, { text, address })
    }
    const current = await findWatches(db, platformAccount)
    if (current.length === wanted.size && current.every(({ url }) => wanted.has(url))) return
    await db.write((tx) => setPlatformWatches(tx, [...wanted.values()]))
  }

  /** Undefined when the account cannot pay; the watch is paused then. */
  async function charge(watch: WatchedDomain): Promise<DueWatch | undefined> {
    if (watch.account_id === platformAccount) return { watch, operationId: undefined }
    const account = await findById(db, watch.account_id)
    if (!account || account.suspended === 1) return pause(watch, 'suspended')
    if (isExpired(account)) return pause(watch, 'expired')
    const charged = await credits.charge({
      accountId: account.id,
      apiType,
      action: watchAction,
      cost: pricesOf(account, config.PRICES).domain,
      requestId: `watch-${watch.id}`,
      leaseMs: service.leaseMs,
    })
    if (charged.kind === 'charged') return { watch, operationId: charged.operationId }
    return pause(
      watch,
      charged.kind === 'not_allowed' && charged.reason !== 'sms_disabled' ? charged.reason : 'no_credit',
    )
  }

  async function pause(watch: WatchedDomain, reason: PauseReason): Promise<undefined> {
    await db.write((tx) => recordPause(tx, watch.id, reason))
    if (watch.pause_reason !== reason)
      log.info({ account: watch.account_id, watch: watch.id, reason }, 'paused a watched domain')
  }

  async function storeResult({ watch, operationId }: DueWatch, result: CheckResult): Promise<void> {
    const verdict = toVerdict(result)
    const usualMs = watch.every_minutes === null ? intervalMs : watch.every_minutes * minuteMs
    const record = async (tx: Tx): Promise<void> => {
      if (verdict === undefined) await recordFailure(tx, watch.id, Math.min(usualMs, maxRetryMs))
      else if (await recordVerdict(tx, watch, verdict)) await emitVerdict(tx, watch, verdict)
    }
    try {
      if (operationId === undefined) await db.write(record)
      else if (!(await endOperation(watch, operationId, verdict, record))) return
      if (verdict !== undefined) await reportVerdict(watch, verdict)
    } catch (error) {
      log.error({ err: error, watch: watch.id }, 'failed to store the verdict on a watched domain')
    }
  }

  /** Returns false when the sweeper has already refunded the operation; then nothing is stored. */
  async function endOperation(
    watch: WatchedDomain,
    operationId: number,
    verdict: CheckVerdict | undefined,
    record: (tx: Tx) => Promise<void>,
  ): Promise<boolean> {
    const state = verdict === undefined ? 'refunded' : 'settled'
    const { ended } = await credits.end({
      accountId: watch.account_id,
      operationId,
      end: { state },
      sends: 1,
      inSameTransaction: async (tx, result) => (result.ended ? record(tx) : undefined),
    })
    return ended
  }

  async function reportVerdict(watch: WatchedDomain, verdict: CheckVerdict): Promise<void> {
    if (watch.verdict !== null && watch.verdict !== verdict) {
      log.warn(
        { account: watch.account_id, host: watch.host, from: watch.verdict, to: verdict },
        'verdict on a watched domain changed',
      )
    }
    if (watch.account_id === platformAccount) await platform?.onVerdict(watch.address, verdict === 'blocked')
  }

  return {
    watchPlatformDomains(list, onVerdict) {
      platform = { list, onVerdict }
    },
    round,
    start() {
      if (service.gateways.length === 0) return
      const pollMs = Math.min(15_000, Math.max(250, intervalMs / 4))
      jobs.every(pollMs, 'check_watched_domains', async (signal) => {
        // A full round means that more addresses may be due.
        while (!signal.aborted && (await round(signal)) === maxPerRound);
      })
    },
  }
}

/** A first verdict that passes is not reported. */
async function emitVerdict(tx: Tx, watch: WatchedDomain, verdict: CheckVerdict): Promise<void> {
  if (watch.account_id === platformAccount || (verdict === 'passes' && watch.verdict === null)) return
  const type = verdict === 'blocked' ? 'domain.blocked' : 'domain.unblocked'
  const data = { watch_id: watch.id, url: watch.url, host: watch.host }
  await emitEvents(tx, [{ accountId: watch.account_id, type, data }])
}

function toVerdict(result: CheckResult): CheckVerdict | undefined {
  if (result === checkResults.passes) return 'passes'
  return result === checkResults.blocked ? 'blocked' : undefined
}
