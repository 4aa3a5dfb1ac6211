// A histogram of call times for Prometheus. The library's own looks its series up by their labels for every call; this one is
// handed the series once.
import type { Metric, Registry } from 'prom-client'

export interface TimeHistogram {
  /** A series: to be kept, and told every time in seconds. */
  of(labelValue: string): { observe(seconds: number): void }
}

/** As the library's own metrics are described, but with one label and one registry. */
export interface TimeHistogramOptions {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly [string]
  readonly registers: readonly [Registry]
}

const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function timeHistogram(options: TimeHistogramOptions): TimeHistogram {
  const {
    name,
    help,
    labelNames: [label],
    registers: [registry],
  } = options
  const series: { labels: Record<string, string>; counts: number[]; sum: number }[] = []

  const values = () =>
    series.flatMap(({ labels, counts, sum }) => {
      let below = 0
      const bucket = (count: number, index: number) => ({
        metricName: `${name}_bucket`,
        labels: { le: bounds[index] ?? '+Inf', ...labels },
        value: (below += count),
      })
      return [
        ...counts.map(bucket),
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: below },
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
    of(labelValue) {
      const own = { labels: { [label]: labelValue }, counts: [...bounds.map(() => 0), 0], sum: 0 }
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
