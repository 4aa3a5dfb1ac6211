// Metrics of short links.
import { Counter, Gauge } from 'prom-client'
import { readForMetric } from '../metric-reads.ts'
import type { Services } from '../services.ts'
import type { Clicks } from './clicks/clicks.ts'
import type { Lookup } from './redirect/lookup-store.ts'
import type { Redirects } from './redirect/redirect.ts'

interface Sources {
  readonly lookup: Lookup
  readonly clicks: Clicks
  readonly redirects: Redirects
}

export function registerShortlinkMetrics(
  { db, metrics }: Pick<Services, 'db' | 'metrics'>,
  { lookup, clicks, redirects }: Sources,
): void {
  const registers = [metrics]
  new Counter({
    name: 'tollgate_redirects_total',
    help: 'Visits of short links by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(redirects.counts)) this.inc({ outcome }, count)
    },
  })
  new Counter({
    name: 'tollgate_clicks_lost_total',
    help: 'Clicks lost while the database was unavailable',
    registers,
    collect() {
      this.reset()
      this.inc(clicks.lost())
    },
  })
  new Gauge({
    name: 'tollgate_link_domains_blocked',
    help: 'Link domains in use that were found blocked',
    aggregator: 'max',
    labelNames: ['pool'],
    registers,
    async collect() {
      await readForMetric(async () => {
        const { domains } = lookup.cachedPools() ?? (await lookup.pools())
        for (const pool of ['a', 'b']) {
          const blocked = domains.filter((one) => one.pool === pool && one.removed === 0 && one.blocked === 1)
          this.set({ pool }, blocked.length)
        }
      })
    },
  })
  // SQLite reads links without a channel.
  if (db.direct) return
  new Counter({
    name: 'tollgate_link_lookups_total',
    help: 'Links looked up, by source: memory, the database, or memory because the database is unreachable (outage)',
    labelNames: ['in'],
    registers,
    collect() {
      this.reset()
      this.inc({ in: 'memory' }, lookup.stats.fromCache)
      this.inc({ in: 'database' }, lookup.stats.fromDatabase)
      this.inc({ in: 'outage' }, lookup.stats.remembered)
    },
  })
  new Gauge({
    name: 'tollgate_link_channel_up',
    help: 'Whether changes of links are received; if not, every link is looked up in the database',
    aggregator: 'min',
    registers,
    collect() {
      this.set(lookup.stats.isCaching() ? 1 : 0)
    },
  })
}
