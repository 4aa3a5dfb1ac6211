// Shared by the endpoint, the watch list and the console: gateways, checker, canary job and metrics.
import { Counter, Gauge } from 'prom-client'
import { checkResults } from '../../contract/domain-check.ts'
import type { Services } from '../services.ts'
import { countOutcomes } from '../upstream/gateways.ts'
import type { MonitoredGateway } from './canary.ts'
import { type Checker, createChecker } from './checker.ts'
import { createDomainGateways, readCanaryPair } from './gateways.ts'
import { createScheduler } from './scheduler.ts'
import { createVerdictCache } from './verdict-cache.ts'

const limits = { perCall: 16, inTotal: 64 }

/** After SIGTERM new gateway calls start for this long; later items fail, and the response is still sent. */
const stopGraceMs = 2_000

/** The lease is longer than the longest check, because charge and settlement take time too. */
const leaseSlackMs = 5_000

export interface CheckService {
  readonly checker: Checker
  readonly gateways: readonly MonitoredGateway[]
  readonly leaseMs: number
  /** Starts the canary. */
  start(): void
}

export function createCheckService(services: Services): CheckService {
  const { config, metrics } = services
  const gateways = createDomainGateways(config, limits.inTotal)
  const results = new Counter({
    name: 'tollgate_domain_results_total',
    help: 'Checked addresses by result',
    labelNames: ['result'],
    registers: [metrics],
  })
  for (const result of Object.values(checkResults)) results.inc({ result }, 0)
  registerGatewayMetrics(services, gateways)
  return {
    gateways,
    checker: createChecker({
      gateways,
      scheduler: createScheduler(limits),
      cache: config.DOMAIN_CACHE_S === 0 ? undefined : createVerdictCache(config.DOMAIN_CACHE_S * 1000),
      deadlineMs: config.DOMAIN_DEADLINE_MS,
      isStopping: services.http.isStopping,
      stopGraceMs,
      onResult: (result) => results.inc({ result }),
    }),
    leaseMs: Math.max(config.OPERATION_LEASE_S * 1000, config.DOMAIN_DEADLINE_MS + leaseSlackMs),
    start: () => startCanary(services, gateways),
  }
}

function registerGatewayMetrics({ metrics }: Services, gateways: readonly MonitoredGateway[]): void {
  new Gauge({
    name: 'tollgate_domain_gateway_up',
    help: '1 while the gateway is used; 0 while its breaker is open or its canary verdicts are wrong',
    aggregator: 'min',
    labelNames: ['gateway'],
    registers: [metrics],
    collect() {
      for (const { name, state } of gateways) this.set({ gateway: name }, state === 'up' ? 1 : 0)
    },
  })
  new Gauge({
    name: 'tollgate_domain_gateway_calls',
    help: 'Calls to each gateway since start, by outcome',
    labelNames: ['gateway', 'outcome'],
    registers: [metrics],
    collect() {
      for (const { count, ...labels } of countOutcomes(gateways)) this.set(labels, count)
    },
  })
}

/** The sandbox needs no canary. */
function startCanary({ config, jobs, log }: Services, gateways: readonly MonitoredGateway[]): void {
  const pair = readCanaryPair(config)
  const monitored = gateways.filter(({ name }) => name !== 'sandbox')
  if (pair === undefined || monitored.length === 0) return
  jobs.every(config.DOMAIN_CANARY_S * 1000, 'domain_canary', () =>
    Promise.all(
      monitored.map(async (gateway) => {
        if (!(await gateway.runCanary(pair))) return
        if (gateway.state === 'distrusted')
          log.error({ gateway: gateway.name }, 'wrong canary verdicts, the gateway is not used')
        else log.info({ gateway: gateway.name }, 'canary verdicts are right again')
      }),
    ),
  )
}
