// A histogram of call times for Prometheus. The library's own looks its series up by their labels for every call; this one is
// handed the series once.
import type { Metric, Registry } from 'prom-client'

export interface TimeHistogram {
  /** The series of an endpoint: to be kept, and told every time in seconds. */
  of(endpoint: string): { observe(seconds: number): void }
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function timeHistogram(registry: Registry, name: string, help: string): TimeHistogram {
  const series: { endpoint: string; counts: number[]; sum: number }[] = []

  const values = () =>
    series.flatMap(({ endpoint, counts, sum }) => {
      let below = 0
      const bucket = (count: number, index: number) => ({
        metricName: `${name}_bucket`,
        labels: { le: bounds[index] ?? '+Inf', endpoint },
        value: (below += count),
      })
      return [
        ...counts.map(bucket),
        { metricName: `${name}_sum`, labels: { endpoint }, value: sum },
        { metricName: `${name}_count`, labels: { endpoint }, value: below },
      ]
    })
  const metric = {
    name,
    help,
    get: async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: values() }),
  }
  // What a registry asks of a metric is its name and this answer.
  registry.registerMetric(metric as unknown as Metric)

  return {
    of(endpoint) {
      const own = { endpoint, counts: [...bounds.map(() => 0), 0], sum: 0 }
      series.push(own)
      return {
        observe(seconds) {
          let index = 0
          while (index < bounds.length && seconds > bounds[index]!) index += 1
          own.counts[index]! += 1
          own.sum += seconds
        },
      }
    },
  }
}
