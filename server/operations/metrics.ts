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

export interface Metrics {
  readonly registry: Registry
  onResponse(answered: CompletedCall): void
}

export function createMetrics(db: Database, credits: Credits): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'API calls by endpoint and response code (HTTP status for short links)',
    labelNames: ['endpoint', 'code'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Time from the first byte of the request to the response',
    labelNames: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  for (const { name: endpoint, shape } of [shortlink, sms, identity, domainCheck]) {
    // Prometheus sees the first error only as an increase from zero.
    for (const code of shape === 'shortlink' ? [500, 503] : [5000]) requests.inc({ endpoint, code }, 0)
    duration.zero({ endpoint })
  }
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
    onResponse({ endpoint, response, durationMs }) {
      const code = (response.body as { code?: number }).code ?? response.status
      requests.inc({ endpoint: endpoint.name, code })
      duration.observe({ endpoint: endpoint.name }, durationMs / 1000)
    },
  }
}
