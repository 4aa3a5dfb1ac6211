// Metrics of the installation: version, disk, last backup, last ledger check.
import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'
import project from '../../package.json' with { type: 'json' }
import type { Database } from '../db/database.ts'
import { readForMetric } from '../metric-reads.ts'
import { findMaintenance } from './maintenance-store.ts'

/** All processes of a machine read the same values. */
const aggregator = 'max'

export function registerInstallationMetrics(registry: Registry, db: Database, dataFolder: string): void {
  const registers = [registry]
  const disk = shareReads(() => statfs(dataFolder))
  const maintenance = shareReads(() => findMaintenance(db))

  new Gauge({
    name: 'tollgate_build_info',
    help: 'Always 1; the labels name the versions',
    labelNames: ['version', 'node', 'engine'],
    aggregator,
    registers,
  }).set({ version: project.version, node: process.versions.node, engine: db.engine }, 1)

  new Gauge({
    name: 'tollgate_disk_free_bytes',
    help: 'Free bytes of the file system of DATA_DIR, which also has the SQLite database',
    aggregator: 'min',
    registers,
    collect() {
      return readForMetric(async () => {
        const { bavail, bsize } = await disk()
        this.set(bavail * bsize)
      })
    },
  })
  new Gauge({
    name: 'tollgate_disk_size_bytes',
    help: 'Size of the file system of DATA_DIR',
    aggregator,
    registers,
    collect() {
      return readForMetric(async () => {
        const { blocks, bsize } = await disk()
        this.set(blocks * bsize)
      })
    },
  })
  new Gauge({
    name: 'tollgate_backup_timestamp_seconds',
    help: 'When `admin backup` last succeeded; 0: never',
    aggregator,
    registers,
    collect() {
      return readForMetric(async () => this.set((await maintenance()).backupAt))
    },
  })
  new Gauge({
    name: 'tollgate_ledger_check_timestamp_seconds',
    help: 'When `admin ledger check` last ran; 0: never',
    aggregator,
    registers,
    collect() {
      return readForMetric(async () => this.set((await maintenance()).ledgerCheckAt))
    },
  })
  new Gauge({
    name: 'tollgate_ledger_check_ok',
    help: '0 if the last `admin ledger check` found problems',
    aggregator: 'min',
    registers,
    collect() {
      return readForMetric(async () => this.set((await maintenance()).ledgerOk ? 1 : 0))
    },
  }).set(1)
}

/** Metrics that are collected at the same time share one read. */
function shareReads<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined
  return () => (reading ??= read().finally(() => (reading = undefined)))
}
