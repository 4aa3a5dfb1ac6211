// The machinery behind the endpoint, the watch list and the console: gateways, schedule, checker, canary, metrics.
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge } from 'prom-client'
import type { Services } from '../services.ts'
import { createChecker, type Checker } from './checker.ts'
import type { MonitoredGateway } from './canary.ts'
import { createDomainGateways, readCanaryPair } from './gateways.ts'
import { createSchedule } from './schedule.ts'
import { createVerdictCache } from './verdict-cache.ts'

const limits = { perCall: 16, inTotal: 64 }

/** After SIGTERM a check goes on for so long; what has not begun by then has failed, and the answer still goes out. */
const stoppingGraceMs = 2_000

/** A lease outlives the longest check by this much: the charge and the settling take their time too. */
const leaseSlackMs = 5_000

export interface CheckService {
  readonly checker: Checker
  readonly gateways: readonly MonitoredGateway[]
  /** How long an operation of this product may stay undecided. */
  readonly leaseMs: number
  start(): void
  stop(): Promise<void>
}

export function openCheckService(services: Services): CheckService {
  const { config, metrics } = services
  const gateways = createDomainGateways(config, limits.inTotal)
  const results = new Counter({
    name: 'tollgate_domain_results_total',
    help: 'Checked addresses by result',
    labelNames: ['result'],
    registers: [metrics],
  })
  const checker = createChecker({
    gateways,
    schedule: createSchedule(limits),
    cache: config.DOMAIN_CACHE_S === 0 ? undefined : createVerdictCache(config.DOMAIN_CACHE_S * 1000),
    deadlineMs: config.DOMAIN_DEADLINE_MS,
    isStopping: services.http.isStopping,
    stoppingGraceMs,
    onResult: (result) => results.inc({ result }),
  })
  registerGatewayMetrics(services, gateways)
  const canary = canaryJob(services, gateways)

  return {
    checker,
    gateways,
    leaseMs: Math.max(config.OPERATION_LEASE_S * 1000, config.DOMAIN_DEADLINE_MS + leaseSlackMs),
    ...canary,
  }
}

function registerGatewayMetrics({ metrics }: Services, gateways: readonly MonitoredGateway[]): void {
  new Gauge({
    name: 'tollgate_domain_gateway_up',
    help: '1 while the gateway is asked; 0 while it is paused or its canary answers make no sense',
    aggregator: 'min',
    labelNames: ['gateway'],
    registers: [metrics],
    collect() {
      for (const { name, state } of gateways) this.set({ gateway: name }, state === 'up' ? 1 : 0)
    },
  })
  new Gauge({
    name: 'tollgate_domain_gateway_calls',
    help: 'Questions to each gateway since start, by how they ended',
    labelNames: ['gateway', 'outcome'],
    registers: [metrics],
    collect() {
      for (const { name, guard } of gateways) {
        const { accepted, refused, throttled, not_sent, ambiguous } = guard.counters
        for (const [outcome, count] of Object.entries({ accepted, refused, throttled, not_sent, ambiguous }))
          this.set({ gateway: name, outcome }, count)
      }
    },
  })
}

/** Asks every real gateway about the pair, at start and then again and again. The sandbox needs no watching. */
function canaryJob(
  { config, log }: Services,
  all: readonly MonitoredGateway[],
): { start(): void; stop(): Promise<void> } {
  const pair = readCanaryPair(config)
  const watched = pair === undefined ? [] : all.filter(({ name }) => name !== 'sandbox')
  const stopping = new AbortController()
  let loops: readonly Promise<void>[] = []

  async function watch(gateway: MonitoredGateway): Promise<void> {
    while (pair !== undefined && !stopping.signal.aborted) {
      const changed = await gateway.runCanary(pair)
      if (changed && gateway.state === 'distrusted') {
        log.error({ gateway: gateway.name }, 'the canary answers make no sense: the gateway counts as down')
      } else if (changed) log.info({ gateway: gateway.name }, 'the canary answers make sense again')
      await sleep(config.DOMAIN_CANARY_S * 1000, undefined, { signal: stopping.signal }).catch(
        () => undefined,
      )
    }
  }

  return {
    start() {
      loops = watched.map(watch)
    },
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}
