// The operator overview: traffic, errors, latency, credits, disk and gateways at a glance.
import { statfs } from 'node:fs/promises'
import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { minuteMs } from '../../../contract/time.ts'
import { apiTypes } from '../../../contract/credits.ts'
import { endpointNames, gatewayGroups } from '../../../contract/console/values.ts'
import { operatorRoutes } from '../../../contract/console/operator.ts'
import type { Overview } from '../../../contract/console/responses/operator.ts'
import type { Services } from '../../services.ts'
import type { Api } from '../routes.ts'
import { rangeOf } from '../fields.ts'
import { commonErrors, countDays, sum } from '../account/home.ts'
import { countHeldByLease, findSold, findTotals } from '../../credits/ledger/list-store.ts'
import { byType, createLedgerUsage } from '../../credits/ledger/usage.ts'
import type { RequestLog } from '../../request-log/recorder.ts'
import { type GatewayProducts, statesOf } from './gateways.ts'
import { findCounts, findDurations, wholePlatform } from '../../request-log/store.ts'
import { countAccountsByState } from '../../accounts/search-store.ts'

const latencyMs = 15 * minuteMs
const latencyCalls = 5_000

/** Every open page polls, so the overview is cached this long. */
const cacheMs = 3_000

/** Failures the caller did not cause. */
const ourCodes = new Set([500, 503, 1005, 5000])

export function overviewPages(
  api: Api,
  services: Services,
  products: GatewayProducts,
  log: RequestLog,
  version: string,
): void {
  const startedAt = Date.now()
  const usage = createLedgerUsage(services.db)
  let cached: { at: number; overview: Promise<Overview> } | undefined

  api.operator(operatorRoutes.overview, () => {
    const now = performance.now()
    if (!cached || now - cached.at > cacheMs) {
      const overview = createOverview()
      cached = { at: now, overview }
      overview.catch(() => (cached = undefined))
    }
    return cached.overview
  })

  async function createOverview(): Promise<Overview> {
    const { db, config } = services
    const month = rangeOf({}, { byDefault: 30, max: 30 })
    const fortnight = rangeOf({}, { byDefault: 14, max: 14 })
    const week = rangeOf({}, { byDefault: 7, max: 7 })
    const counts = await findCounts(db, wholePlatform, month.from, month.to)
    const kinds = await countAccountsByState(db, week.from)
    const soldRows = await findSold(db, await usage.firstIdAt(month.start))
    const totals = await findTotals(db)
    const sold = byType((type) => Number(soldRows.find((one) => one.api_type === type)?.sold ?? 0))
    const remaining = byType((type) => Number(totals.find((one) => one.api_type === type)?.remaining ?? 0))
    const used = await usage.usedSince(month.start, sold, remaining)
    const today = month.to
    const ours = countDays(
      fortnight.days,
      counts.filter((one) => ourCodes.has(one.code)),
    )
    const states = statesOf(products)
    return {
      now: Date.now(),
      version,
      started_at: startedAt,
      engine: db.engine,
      accounts: { total: kinds.total, active_7d: kinds.active, suspended: kinds.suspended },
      days: countDays(fortnight.days, counts).map((day, index) => ({
        ...day,
        our_errors: ours[index]!.total,
      })),
      latency: latencyOf(await findDurations(db, Date.now() - latencyMs, latencyCalls)),
      credits: apiTypes.map((apiType) => ({
        api_type: apiType,
        sold: sold[apiType],
        used: used[apiType],
      })),
      operations: await countHeldByLease(db),
      errors: commonErrors(counts.filter((one) => one.day === today)),
      disk: await diskOf(config.DATA_DIR),
      request_log: { waiting: log.stats.waiting, dropped: log.stats.dropped },
      gateways: gatewayGroups.map((group) => {
        const on = states.filter((one) => one.group === group && one.position !== null)
        return {
          group,
          names: on.map(({ name }) => name),
          down: on.filter(({ breaker }) => breaker !== 'closed').map(({ name }) => name),
        }
      }),
    }
  }
}

function latencyOf(durations: readonly { endpoint: string; duration_us: number }[]): Overview['latency'] {
  return endpointNames.flatMap((endpoint) => {
    const own = durations
      .filter((one) => one.endpoint === endpoint)
      .map((one) => one.duration_us / 1000)
      .sort((a, b) => a - b)
    if (own.length === 0) return []
    return [
      {
        endpoint,
        calls: own.length,
        p50_ms: quantile(own, 0.5),
        p95_ms: quantile(own, 0.95),
        p99_ms: quantile(own, 0.99),
      },
    ]
  })
}

/** The smallest of the sorted numbers that this share of them does not exceed. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

async function diskOf(directory: string): Promise<Overview['disk']> {
  const folder = resolve(directory)
  const { bavail, blocks, bsize } = await statfs(folder)
  const files = ['tollgate.db', 'tollgate.db-wal']
  const sizes = files.map((file) => statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0)
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize, database_bytes: sum(sizes) }
}
