// Prometheus metrics of the service as a whole. Products add their own to the same registry.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Credits } from '../credits/credits.ts'
import { countOpen } from '../credits/store.ts'
import type { Database } from '../db/database.ts'
import type { Answered } from '../http/endpoint.ts'
import { timeHistogram } from './time-histogram.ts'

export interface Metrics {
  readonly registry: Registry
  onAnswer(answered: Answered): void
}

export function openMetrics(db: Database, credits: Credits): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  // Counted in maps and told when asked for: the library would look a series up by its labels for every call.
  const endpoints = new Map<string, OfEndpoint>()
  new Counter({
    name: 'tollgate_requests_total',
    help: 'API calls by endpoint and by the code of the answer (the HTTP status for short links)',
    labelNames: ['endpoint', 'code'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [endpoint, { answers }] of endpoints)
        for (const [code, count] of answers) this.inc({ endpoint, code }, count)
    },
  })
  const times = timeHistogram({
    name: 'tollgate_request_seconds',
    help: 'Time from the first byte of the request to the answer',
    labelNames: ['endpoint'],
    registers: [registry],
  })
  const moved = { charge: new Map<string, number>(), refund: new Map<string, number>() }
  new Counter({
    name: 'tollgate_credits_charged_total',
    help: 'Credits taken, by type',
    labelNames: ['api_type'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [apiType, sum] of moved.charge) this.inc({ api_type: apiType }, sum)
    },
  })
  new Counter({
    name: 'tollgate_credits_refunded_total',
    help: 'Credits given back, by type',
    labelNames: ['api_type'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [apiType, sum] of moved.refund) this.inc({ api_type: apiType }, sum)
    },
  })
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

  credits.onMoved = ({ kind, apiType, amount }) => add(moved[kind], apiType, amount)
  db.stats.onCommit = (jobs) => batches.observe(jobs)

  function ofEndpoint(name: string): OfEndpoint {
    let known = endpoints.get(name)
    if (!known) {
      known = { answers: new Map(), timer: times.of(name) }
      endpoints.set(name, known)
    }
    return known
  }

  return {
    registry,
    onAnswer({ endpoint, answer, durationMs }) {
      const { answers, timer } = ofEndpoint(endpoint.name)
      add(answers, (answer.body as { code?: number }).code ?? answer.status, 1)
      timer.observe(durationMs / 1000)
    },
  }
}

interface OfEndpoint {
  /** How many, by code. */
  readonly answers: Map<number, number>
  readonly timer: { observe(seconds: number): void }
}

function add<K>(sums: Map<K, number>, key: K, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount)
}
