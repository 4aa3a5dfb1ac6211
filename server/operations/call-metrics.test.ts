// The counts of API calls, compared with prom-client's own metrics.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Counter, Histogram, Registry } from 'prom-client'
import { sms } from '../../contract/sms.ts'
import type { CompletedCall } from '../http/endpoint.ts'
import { registerCallMetrics } from './call-metrics.ts'

it('counts as prom-client does', async () => {
  const own = new Registry()
  const count = registerCallMetrics(own, [{ name: 'sms', errorCodes: [5000] }])
  const theirs = new Registry()
  const requests = new Counter({
    name: 'tollgate_requests_total',
    help: 'API calls by endpoint and response code (HTTP status for short links)',
    labelNames: ['endpoint', 'code'],
    registers: [theirs],
  })
  const duration = new Histogram({
    name: 'tollgate_request_seconds',
    help: 'Time from the first byte of the request to the response',
    labelNames: ['endpoint'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [theirs],
  })
  requests.inc({ endpoint: 'sms', code: 5000 }, 0)
  duration.zero({ endpoint: 'sms' })

  const durations = [0, 0.5, 1, 1.000_1, 2, 5, 7.5, 250, 10_000, 10_001, 60_000]
  for (const [n, durationMs] of durations.entries()) {
    const code = [0, 1002, 1003][n % 3]!
    // A response without a code is counted by its status.
    const body = n === 5 ? {} : { code }
    const completed = { endpoint: sms, response: { status: 200, body }, durationMs }
    count(completed as unknown as CompletedCall)
    requests.inc({ endpoint: 'sms', code: n === 5 ? 200 : code })
    duration.observe({ endpoint: 'sms' }, durationMs / 1000)
  }
  const lines = async (registry: Registry) => (await registry.metrics()).split('\n').toSorted()
  assert.deepEqual(await lines(own), await lines(theirs))
  // Reading twice changes nothing.
  assert.deepEqual(await lines(own), await lines(theirs))
})
