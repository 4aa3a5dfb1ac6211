// Watches the platform and alerts operators: gateways, canaries, the ledger, the disk, and deliveries that are behind.
import { statfs } from 'node:fs/promises'
import type { PlatformAlertType } from '../../contract/events.ts'
import { dayMs, hourMs, minuteMs } from '../../contract/time.ts'
import { overdueSlackMs } from '../credits/end/sweeper.ts'
import { estimateEntries, findLedgerProblems } from '../credits/ledger/check-store.ts'
import { findCheckpoint, moveCheckpoint, nextCheckpoint } from '../credits/ledger/checkpoint-store.ts'
import type { Database } from '../db/database.ts'
import { findBacklog, maxCountedDeliveries } from '../events/dispatch-store.ts'
import { emitToOperators } from '../events/emit.ts'
import type { Services } from '../services.ts'
import { claimLedgerCheck, recordLedgerCheck } from './maintenance-store.ts'

export interface WatchedGateway {
  /** Product and gateway, such as `sms aliyun`. */
  readonly name: string
  readonly isDown: boolean
  /** Down because of wrong canary verdicts. */
  readonly hasFailedCanary: boolean
}

export interface OperatorAlertOptions {
  readonly services: Services
  readonly gateways: () => readonly WatchedGateway[]
}

const gatewayPollMs = 5_000
const statePollMs = minuteMs
/** Disk: alert below this share of the file system, or below this many bytes. */
const minFreeShare = 0.05
const minFreeBytes = 500_000_000
/** Deliveries: alert when as many are pending as are counted, or the oldest is overdue for this long. */
const maxOverdueMs = hourMs
/** The service checks up to this many new entries; more, without a checkpoint, are left to `admin ledger check`. */
const maxCheckedEntries = 1_000_000

export function startOperatorAlerts({ services, gateways }: OperatorAlertOptions): void {
  const { db, config, jobs, log } = services
  const report = createReporter(db)

  jobs.every(gatewayPollMs, 'watch_gateways', async () => {
    for (const { name, isDown, hasFailedCanary } of gateways()) {
      await report('platform.gateway_down', isDown && !hasFailedCanary, { gateway: name }, name)
      await report('platform.canary_failed', hasFailedCanary, { gateway: name }, name)
    }
  })

  jobs.every(statePollMs, 'watch_platform', async () => {
    const { bavail, blocks, bsize } = await statfs(config.DATA_DIR)
    const free = bavail * bsize
    const isLow = free < Math.min(minFreeBytes, blocks * bsize * 0.5) || free < blocks * bsize * minFreeShare
    await report('platform.disk_low', isLow, { free_mb: Math.floor(free / 1_000_000) })

    const { pending, oldestDueAt = Date.now() } = await findBacklog(db)
    const overdueMs = Math.max(0, Date.now() - oldestDueAt)
    const data = { pending, overdue_minutes: Math.floor(overdueMs / minuteMs) }
    await report(
      'platform.webhook_backlog',
      pending >= maxCountedDeliveries || overdueMs >= maxOverdueMs,
      data,
    )
  })

  const intervalMs = config.LEDGER_CHECK_HOURS * hourMs
  if (intervalMs === 0) return
  jobs.every(Math.min(hourMs, intervalMs), 'check_ledger', async () => {
    if (!(await db.write((tx) => claimLedgerCheck(tx, Date.now(), intervalMs)))) return
    if ((await estimateEntries(db.reports, await findCheckpoint(db))) > maxCheckedEntries) {
      log.warn('too much of the ledger was never checked: run `admin ledger check` once at a quiet time')
      return
    }
    await checkAndReport(db, config.SWEEP_S * 1000 + overdueSlackMs)
  })
}

/** Checks what is new in the ledger, alerts operators of problems, and moves the checkpoint once a day. */
export async function checkAndReport(db: Database, overdueMs: number): Promise<readonly string[]> {
  const since = await findCheckpoint(db)
  const next = await nextCheckpoint(db, Date.now())
  const problems = await findLedgerProblems(db.reports, db.now, overdueMs, since)
  // `ledger check` on the command line may replace the checkpoint meanwhile: then the next check decides.
  if (problems.length > 0 && (await findCheckpoint(db)).entryId !== since.entryId) return []
  await recordLedgerCheck(db, problems.length === 0)
  if (problems.length > 0)
    await db.write((tx) => emitToOperators(tx, 'platform.ledger_failed', { problems: problems.length }))
  // It is ahead of the next one after the clock was set back.
  else if (Math.abs(next.at - since.at) >= dayMs) await moveCheckpoint(db, since, next)
  return problems
}

/** Alerts when a condition begins, and again only after it has ended. Each process notices it separately; at most one alert an hour is sent. */
function createReporter(db: Database) {
  const active = new Set<string>()
  return async (
    type: PlatformAlertType,
    isActive: boolean,
    data: Readonly<Record<string, string | number>>,
    about = '',
  ): Promise<void> => {
    const key = `${type} ${about}`.trim()
    if (!isActive) {
      active.delete(key)
      return
    }
    if (active.has(key)) return
    await db.write((tx) => emitToOperators(tx, type, data, key))
    active.add(key)
  }
}
