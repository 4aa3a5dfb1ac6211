// The job behind the watch list: takes what is due, charges, asks, keeps the verdicts, and tells of changes.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkResults, type CheckResult } from '../../contract/domain-check.ts'
import { isExpired } from '../accounts/accounts.ts'
import { findById } from '../accounts/store.ts'
import type { Tx } from '../db/database.ts'
import type { Services } from '../services.ts'
import { readAddress } from './address.ts'
import { endOperation } from './end.ts'
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
import type { Pause } from './words.ts'

/** Tells which domains the operator's links stand on. */
export type ListPlatformDomains = () => Promise<readonly string[]>

/** Told of every verdict, not only of changes: whoever missed one hears it the next time. */
export type OnPlatformVerdict = (domain: string, blocked: boolean) => Promise<void>

export interface Watch {
  /** The operator's own link domains are watched free of charge. Before start. */
  watchPlatformDomains(list: ListPlatformDomains, onVerdict: OnPlatformVerdict): void
  /** Checks what is due, as much as fits into one round, and tells how many that were. */
  round(signal?: AbortSignal): Promise<number>
  start(): void
  stop(): Promise<void>
}

/** A watched domain that is to be asked about now. Without an operation it is free. */
interface Due {
  readonly watch: WatchedDomain
  readonly operationId: number | undefined
}

const perRound = 64

/** After a check that failed it is tried again sooner than at the usual interval. */
const longestRetryMs = 300_000

export function openWatch(services: Services, service: CheckService): Watch {
  const { config, db, credits, log } = services
  const intervalMs = config.DOMAIN_WATCH_S * 1000
  const lookEveryMs = Math.min(15_000, Math.max(250, intervalMs / 4))
  const stopping = new AbortController()
  let platform: { list: ListPlatformDomains; onVerdict: OnPlatformVerdict } | undefined
  let loop: Promise<void> = Promise.resolve()

  const intervalOf = ({ every_minutes: minutes }: WatchedDomain) =>
    minutes === null ? intervalMs : minutes * 60_000

  async function round(signal?: AbortSignal): Promise<number> {
    // With nobody to believe, charging and giving back would only fill the ledger.
    if (service.gateways.every(({ state }) => state === 'distrusted')) return 0
    if (platform) await followPlatform(platform.list)
    const claimed = await db.write((tx) =>
      claimDue(tx, { intervalMs, limit: perRound, platformToo: platform !== undefined }),
    )
    const due = (await Promise.all(claimed.map(charge))).filter((one) => one !== undefined)
    const { results } = await service.checker.check(
      due.map(({ watch }) => ({ url: watch.url, host: watch.host })),
      { signal },
    )
    await Promise.all(due.map((one, place) => keep(one, results[place] ?? checkResults.failed)))
    return claimed.length
  }

  async function followPlatform(list: ListPlatformDomains): Promise<void> {
    const wanted = new Map<string, { text: string; address: Address }>()
    for (const text of await list()) {
      const address = readAddress(text)
      if (address) wanted.set(address.url, { text, address })
    }
    const known = await findWatches(db, platformAccount)
    if (known.length === wanted.size && known.every(({ url }) => wanted.has(url))) return
    await db.write((tx) => setPlatformWatches(tx, [...wanted.values()]))
  }

  /** Undefined when the account cannot pay or may not. */
  async function charge(watch: WatchedDomain): Promise<Due | undefined> {
    if (watch.account_id === platformAccount) return { watch, operationId: undefined }
    const account = await findById(db, watch.account_id)
    if (!account || account.suspended === 1) return pause(watch, 'suspended')
    if (isExpired(account)) return pause(watch, 'expired')
    const charged = await credits.charge({
      accountId: account.id,
      apiType: 'domain_check',
      action: 'domain.watch',
      cost: config.PRICES.domain,
      requestId: `watch-${watch.id}`,
      leaseMs: service.leaseMs,
    })
    return charged.kind === 'charged'
      ? { watch, operationId: charged.operationId }
      : pause(watch, 'no_credit')
  }

  async function pause(watch: WatchedDomain, reason: Pause): Promise<undefined> {
    await db.write((tx) => recordPause(tx, watch.id, reason))
    if (watch.pause_reason !== reason)
      log.info({ account: watch.account_id, watch: watch.id, reason }, 'a watched domain is paused')
  }

  async function keep({ watch, operationId }: Due, result: CheckResult): Promise<void> {
    const verdict = verdictOf(result)
    const record = (tx: Tx): Promise<void> =>
      verdict === undefined
        ? recordFailure(tx, watch.id, Math.min(intervalOf(watch), longestRetryMs))
        : recordVerdict(tx, watch, verdict)
    try {
      if (operationId === undefined) await db.write(record)
      else {
        const { ended } = await endOperation(
          services,
          operationId,
          { state: verdict === undefined ? 'refunded' : 'settled' },
          // What the sweeper has given back already was not bought, and is not kept.
          { sends: 1, inSameTransaction: async (tx, end) => (end.ended ? record(tx) : undefined) },
        )
        if (!ended) return
      }
      if (verdict !== undefined) await tell(watch, verdict)
    } catch (error) {
      log.error({ err: error, watch: watch.id }, 'the verdict on a watched domain was not kept')
    }
  }

  async function tell(watch: WatchedDomain, verdict: CheckVerdict): Promise<void> {
    if (watch.verdict !== null && watch.verdict !== verdict) {
      log.warn(
        { account: watch.account_id, host: watch.host, from: watch.verdict, to: verdict },
        'the verdict on a watched domain has changed',
      )
    }
    if (watch.account_id === platformAccount) await platform?.onVerdict(watch.address, verdict === 'blocked')
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        // A full round means there is more: go on at once.
        if ((await round(stopping.signal)) === perRound) continue
      } catch (error) {
        log.error({ err: error }, 'checking watched domains failed')
      }
      await sleep(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    watchPlatformDomains(list, onVerdict) {
      platform = { list, onVerdict }
    },
    round,
    start() {
      // Without a gateway there is nothing to ask.
      if (service.gateways.length > 0) loop = run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}

function verdictOf(result: CheckResult): CheckVerdict | undefined {
  if (result === checkResults.passes) return 'passes'
  return result === checkResults.blocked ? 'blocked' : undefined
}
