import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AggregatorRegistry, Histogram, Registry } from 'prom-client'
import { timeHistogram } from './time-histogram.ts'

const name = 'call_seconds'
const help = 'Times of calls'
const times = { sms: [0.0004, 0.001, 0.0011, 0.3, 12], identity: [0.2] }

function ours(): Registry {
  const registry = new Registry()
  const histogram = timeHistogram({ name, help, labelNames: ['endpoint'], registers: [registry] })
  for (const [endpoint, list] of Object.entries(times)) {
    const series = histogram.of(endpoint)
    for (const time of list) series.observe(time)
  }
  return registry
}

function theLibrarys(): Registry {
  const registry = new Registry()
  const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  const histogram = new Histogram({ name, help, labelNames: ['endpoint'], buckets, registers: [registry] })
  for (const [endpoint, list] of Object.entries(times)) {
    for (const time of list) histogram.observe({ endpoint }, time)
  }
  return registry
}

test('Prometheus is told what the library would tell', async () => {
  assert.equal(await ours().metrics(), await theLibrarys().metrics())
})

test('several processes add up', async () => {
  const sum = (registries: readonly Registry[]) =>
    Promise.all(registries.map((registry) => registry.getMetricsAsJSON())).then((all) =>
      AggregatorRegistry.aggregate(all).metrics(),
    )
  assert.equal(await sum([ours(), ours()]), await sum([theLibrarys(), theLibrarys()]))
})
