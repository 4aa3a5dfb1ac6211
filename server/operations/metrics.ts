// Prometheus metrics of the service as a whole. Products add their own to the same registry.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Credits } from '../credits/credits.ts'
import { countOpen } from '../credits/store.ts'
import type { Database } from '../db/database.ts'
import type { Answered } from '../http/endpoint.ts'

export interface Metrics {
  readonly registry: Registry
  onAnswer(answered: Answered): void
}

export function openMetrics(db: Database, credits: Credits): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'API calls by endpoint and by the code of the answer (the HTTP status for short links)',
    labelNames: ['endpoint', 'code'],
    registers: [registry],
  })
  const latency = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Time from the first byte of the request to the answer',
    labelNames: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const moved = {
    charge: new Counter({
      name: 'tollgate_credits_charged_total',
      help: 'Credits taken, by type',
      labelNames: ['api_type'],
      registers: [registry],
    }),
    refund: new Counter({
      name: 'tollgate_credits_refunded_total',
      help: 'Credits given back, by type',
      labelNames: ['api_type'],
      registers: [registry],
    }),
  }
  new Gauge({
    name: 'tollgate_operations_open',
    help: 'Operations that wait for their end',
    // Every process counts the same ones.
    aggregator: 'max',
    registers: [registry],
    async collect() {
      this.set(await countOpen(db))
    },
  })
  const batches = new Histogram({
    name: 'tollgate_commit_jobs',
    help: 'Write jobs carried by one commit',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers: [registry],
  })

  credits.onMoved = ({ kind, apiType, amount }) => moved[kind].inc({ api_type: apiType }, amount)
  db.stats.onCommit = (jobs) => batches.observe(jobs)

  // Finding a series by its labels costs more than counting in it. There are a few dozen of them.
  const counterOf = remembered((endpoint: string, code: string) => requests.labels(endpoint, code))
  const timerOf = remembered((endpoint: string) => latency.labels(endpoint))

  return {
    registry,
    onAnswer({ endpoint, answer, durationMs }) {
      const { code } = answer.body as { code?: number }
      counterOf(endpoint.name, String(code ?? answer.status)).inc()
      timerOf(endpoint.name).observe(durationMs / 1000)
    },
  }
}

function remembered<A extends string[], T>(make: (...names: A) => T): (...names: A) => T {
  const known = new Map<string, T>()
  return (...names) => {
    const key = names.join(' ')
    let found = known.get(key)
    if (found === undefined) {
      found = make(...names)
      known.set(key, found)
    }
    return found
  }
}
