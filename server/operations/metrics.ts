// Prometheus metrics of the service as a whole. Products register their own metrics in the same registry.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { apiTypes } from '../../contract/credits.ts'
import { domainCheck } from '../../contract/domain-check.ts'
import { identity } from '../../contract/identity.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { sms } from '../../contract/sms.ts'
import type { Credits } from '../credits/credits.ts'
import { countHeld } from '../credits/store.ts'
import type { Database } from '../db/database.ts'
import { readForMetric } from '../metric-reads.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import { registerCallMetrics } from './call-metrics.ts'

export interface Metrics {
  readonly registry: Registry
  onResponse(answered: CompletedCall): void
}

export function createMetrics(db: Database, credits: Credits): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const endpoints = [shortlink, sms, identity, domainCheck]
  const countCall = registerCallMetrics(
    registry,
    endpoints.map(({ name, shape }) => ({ name, errorCodes: shape === 'shortlink' ? [500, 503] : [5000] })),
  )
  const charged = new Counter({
    name: 'tollgate_credits_charged_total',
    help: 'Credits charged, by API type',
    labelNames: ['api_type'],
    registers: [registry],
  })
  const refunded = new Counter({
    name: 'tollgate_credits_refunded_total',
    help: 'Credits refunded, by API type',
    labelNames: ['api_type'],
    registers: [registry],
  })
  for (const apiType of apiTypes) {
    charged.inc({ api_type: apiType }, 0)
    refunded.inc({ api_type: apiType }, 0)
  }
  new Gauge({
    name: 'tollgate_operations_open',
    help: 'Operations that are held',
    // Every process counts the same rows.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      await readForMetric(async () => this.set(await countHeld(db)))
    },
  })
  const batches = new Histogram({
    name: 'tollgate_commit_jobs',
    help: 'Write jobs per commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [registry],
  })

  credits.onMoved = ({ kind, apiType, amount }) =>
    (kind === 'charge' ? charged : refunded).inc({ api_type: apiType }, amount)
  db.stats.onCommit = (jobs) => batches.observe(jobs)

  return {
    registry,
    onResponse: countCall,
  }
}
