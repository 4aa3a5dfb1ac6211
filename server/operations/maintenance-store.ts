// When the last backup was made and the last ledger check ran, for metrics and alerts.
import type { Database, Queries, Tx } from '../db/database.ts'
import { forUpdate } from '../db/dialect.ts'
import type { Tables } from '../db/schema.ts'
import { findSetting, insertSetting, putSetting } from '../db/setting-store.ts'

const backupName = 'last_backup'
const ledgerCheckName = 'last_ledger_check'

export interface Maintenance {
  /** Unix time in seconds; 0 if there was none. */
  readonly backupAt: number
  readonly ledgerCheckAt: number
  readonly ledgerOk: boolean
}

interface MaintenanceRecord {
  readonly at: number
  readonly ok: boolean
}

export function recordBackup(db: Database): Promise<boolean> {
  return record(db, backupName, true)
}

export function recordLedgerCheck(db: Database, ok: boolean): Promise<boolean> {
  return record(db, ledgerCheckName, ok)
}

const claimName = 'ledger_check_claim'

/**
 * Whether this process is to check the ledger now: at most one does in each interval. The first call only records the time, so
 * that a new installation is checked one interval later.
 */
export async function claimLedgerCheck(tx: Tx, now: number, intervalMs: number): Promise<boolean> {
  await insertSetting(tx, claimName, String(now))
  const row = await tx.one<Pick<Tables['setting'], 'value'>>(
    `SELECT value FROM setting WHERE name = ?${forUpdate(tx)}`,
    [claimName],
  )
  // A time ahead of now by more than an interval is from before the clock was set back.
  if (Math.abs(now - Number(row?.value ?? now)) < intervalMs) return false
  await putSetting(tx, claimName, String(now))
  return true
}

/** Returns false if it cannot be written: a backup is needed most when the disk is full. */
async function record(db: Database, name: string, ok: boolean): Promise<boolean> {
  const value: MaintenanceRecord = { at: Math.floor(Date.now() / 1000), ok }
  return db
    .write((tx) => putSetting(tx, name, JSON.stringify(value)))
    .then(
      () => true,
      () => false,
    )
}

export async function findMaintenance(queries: Queries): Promise<Maintenance> {
  const backup = parse(await findSetting(queries, backupName))
  const check = parse(await findSetting(queries, ledgerCheckName))
  return { backupAt: backup?.at ?? 0, ledgerCheckAt: check?.at ?? 0, ledgerOk: check?.ok ?? true }
}

function parse(value: string | undefined): MaintenanceRecord | undefined {
  return value === undefined ? undefined : (JSON.parse(value) as MaintenanceRecord)
}
