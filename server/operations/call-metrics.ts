// Counts API calls and their durations. The counts are kept here and read by prom-client when someone asks for the metrics: its own
// metrics look their labels up for each call, which takes 2 % of a paid call.
import { Counter, type Histogram, type HistogramConfiguration, type Registry } from 'prom-client'
import type { CompletedCall } from '../http/endpoint.ts'

/** Upper bounds in seconds; a longer duration is only counted. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

interface EndpointCalls {
  readonly byCode: Map<number, number>
  /** By bound, each without the smaller ones. */
  readonly durations: number[]
  count: number
  seconds: number
}

/** Prometheus sees the first error only as an increase from zero, so the codes of errors are known from the start. */
export interface CountedEndpoint {
  readonly name: string
  readonly errorCodes: readonly number[]
}

export function registerCallMetrics(
  registry: Registry,
  endpoints: readonly CountedEndpoint[],
): (completed: CompletedCall) => void {
  const calls = new Map<string, EndpointCalls>()
  for (const { name, errorCodes } of endpoints) {
    const durations = Array<number>(bounds.length).fill(0)
    calls.set(name, { byCode: new Map(errorCodes.map((code) => [code, 0])), durations, count: 0, seconds: 0 })
  }

  new Counter({
    name: 'tollgate_requests_total',
    help: 'API calls by endpoint and response code (HTTP status for short links)',
    labelNames: ['endpoint', 'code'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [endpoint, { byCode }] of calls)
        for (const [code, count] of byCode) this.inc({ endpoint, code }, count)
    },
  })
  registerHistogram(calls, {
    name: 'tollgate_request_seconds',
    help: 'Time from the first byte of the request to the response',
    labelNames: ['endpoint'],
    registers: [registry],
  })

  return ({ endpoint, response, durationMs }) => {
    const own = calls.get(endpoint.name)
    if (!own) return
    const code = (response.body as { code?: number }).code ?? response.status
    own.byCode.set(code, (own.byCode.get(code) ?? 0) + 1)
    const seconds = durationMs / 1000
    own.count += 1
    own.seconds += seconds
    const bucket = bounds.findIndex((bound) => seconds <= bound)
    if (bucket !== -1) own.durations[bucket]! += 1
  }
}

/** What prom-client uses of a metric. */
type ReadMetric = Pick<Histogram, 'get' | 'reset'> & {
  readonly name: string
  readonly labelNames: readonly string[]
}

function registerHistogram(
  calls: ReadonlyMap<string, EndpointCalls>,
  { name, help, labelNames, registers }: Omit<HistogramConfiguration<string>, 'buckets'>,
): void {
  const metric: ReadMetric = {
    name,
    labelNames: labelNames ?? [],
    reset: () => undefined,
    get: () =>
      Promise.resolve({
        name,
        help,
        type: 'histogram',
        aggregator: 'sum',
        values: [...calls].flatMap(([endpoint, own]) => valuesOf(name, endpoint, own)),
      } as unknown as Awaited<ReturnType<Histogram['get']>>),
  }
  for (const registry of registers ?? []) registry.registerMetric(metric as unknown as Histogram)
}

function valuesOf(name: string, endpoint: string, { durations, count, seconds }: EndpointCalls) {
  let total = 0
  const buckets = bounds.map((le, bucket) => {
    total += durations[bucket]!
    return { metricName: `${name}_bucket`, labels: { le, endpoint }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', endpoint }, value: count },
    { metricName: `${name}_sum`, labels: { endpoint }, value: seconds },
    { metricName: `${name}_count`, labels: { endpoint }, value: count },
  ]
}
