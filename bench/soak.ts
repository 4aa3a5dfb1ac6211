// Mixed load at a fixed, moderate rate for half an hour. Checks that memory stays flat, the ledger is correct and no call fails.
import { statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Dispatcher, Pool } from 'undici'
import { consoleApi } from '../contract/console/route.ts'
import { creditRoutes } from '../contract/console/credits.ts'
import { homeRoutes } from '../contract/console/home.ts'
import { requestRoutes } from '../contract/console/requests.ts'
import { createBrowser } from '../test/support/console.ts'
import { admin } from '../test/support/service.ts'
import { liveHeap } from './live-heap.ts'
import { percentiles } from './measure.ts'
import { insertTemplate, type PaidCall, paidCalls } from './paid-calls.ts'
import { memoryOf, type Running, startServer } from './processes.ts'
import type { Part } from './report.ts'
import { pathAt, seedLinks } from './seed.ts'
import { onEngines, type BenchStorage } from './storage.ts'

/** Calls per second of each kind. */
const rates = { redirect: 200, generate: 20, send: 20, verify: 20, console: 5 } as const

type Kind = keyof typeof rates
const kinds = Object.keys(rates) as readonly Kind[]

/** Further calls count as errors: the service is too slow. */
const maxInFlight = 1_000

/** Max ratio of later to earlier memory use. */
const maxGrowth = 1.1

interface Sample {
  readonly minute: number
  readonly perSecond: number
  readonly p99: number
  readonly errors: number
  readonly megabytes: number
  readonly heap: number
  readonly open: number
  readonly journal: number
}

export async function soakBench(part: Part): Promise<void> {
  const callsPerSecond = Object.values(rates).reduce((sum, rate) => sum + rate, 0)
  part.print(`${callsPerSecond} calls per second for ${part.scale.minutes} minutes on each engine`)
  await onEngines(part, (storage) => soak(part, storage))
}

async function soak(part: Part, storage: BenchStorage): Promise<void> {
  const links = part.scale.links
  await seedLinks(storage, 1, links)
  await insertTemplate(storage)
  const heap = await liveHeap()
  const service = await startServer({ ...storage.environment, ...heap.environment, LOG_LEVEL: 'warn' })
  const samples: Sample[] = []
  const live: number[] = []
  try {
    const load = await openLoad(service, storage, links)
    const everyMs = part.scale.quick ? 1_000 : 30_000
    const startedAt = performance.now()
    const endAt = startedAt + part.scale.minutes * 60_000
    while (performance.now() < endAt) {
      const from = performance.now()
      await load.run(Math.min(everyMs, endAt - from))
      const now = performance.now()
      const sample = await takeSample(service, storage, load.take(), {
        seconds: (now - from) / 1000,
        minute: (now - startedAt) / 60_000,
      })
      samples.push(sample)
      part.row(rowOf(storage.name, sample))
      if (live.length === 0 && now - startedAt >= (endAt - startedAt) / 3) live.push(await heap.measure())
    }
    await load.end()
    live.push(await heap.measure())
  } finally {
    await service.end()
  }
  reportMemory(part, storage.name, samples, live)
  await reportLedger(part, storage, samples)
}

interface LoadResult {
  readonly latencies: Float64Array
  readonly errors: number
  readonly problems: readonly string[]
}

/** Starts calls at a fixed rate, independent of the responses to earlier ones. */
async function openLoad(service: Running, storage: BenchStorage, links: number) {
  const pool = new Pool(service.url, { connections: 64 })
  const requests = await requestsOf(service, storage, links)
  let latencies: number[] = []
  let errors = 0
  const problems = new Set<string>()
  let inFlight = 0

  async function call(kind: Kind): Promise<void> {
    if (inFlight >= maxInFlight) {
      errors += 1
      problems.add(`${kind}: too many calls in flight`)
      return
    }
    inFlight += 1
    const startedAt = performance.now()
    try {
      const response = await pool.request(requests[kind]())
      const text = await response.body.text()
      if (response.statusCode !== (kind === 'redirect' ? 302 : 200)) {
        throw new Error(`${response.statusCode} ${text.slice(0, 60)}`)
      }
      latencies.push(performance.now() - startedAt)
    } catch (error) {
      errors += 1
      problems.add(`${kind}: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      inFlight -= 1
    }
  }

  return {
    async run(ms: number): Promise<void> {
      const startedAt = performance.now()
      const sent = new Map<Kind, number>(kinds.map((kind) => [kind, 0]))
      for (;;) {
        const passed = Math.min(ms, performance.now() - startedAt)
        for (const kind of kinds) {
          const due = Math.floor((passed / 1000) * rates[kind])
          for (let count = sent.get(kind)!; count < due; count += 1) void call(kind)
          sent.set(kind, due)
        }
        if (passed >= ms) return
        await sleep(5)
      }
    },
    take(): LoadResult {
      const result = { latencies: Float64Array.from(latencies), errors, problems: [...problems] }
      latencies = []
      errors = 0
      problems.clear()
      return result
    },
    async end(): Promise<void> {
      while (inFlight > 0) await sleep(20)
      await pool.close()
    },
  }
}

async function requestsOf(
  service: Running,
  { payer }: BenchStorage,
  links: number,
): Promise<Readonly<Record<Kind, () => Dispatcher.RequestOptions>>> {
  const browser = createBrowser(service)
  await browser.signIn(payer.username, payer.password)
  const pages = [homeRoutes.home, creditRoutes.ledger, requestRoutes.list].map(
    ({ path }) => `${consoleApi}${path}`,
  )
  let page = 0
  const post = (call: PaidCall): (() => Dispatcher.RequestOptions) => {
    const headers = { 'content-type': 'application/json', ...call.headers?.(payer) }
    const body = JSON.stringify(call.body(payer))
    return () => ({ method: 'POST', path: call.path, headers, body })
  }
  return {
    redirect: () => ({ method: 'GET', path: pathAt(1 + Math.floor(Math.random() * links)) }),
    generate: post(paidCalls.generate),
    send: post(paidCalls.send),
    verify: post(paidCalls.verify),
    console: () => ({
      method: 'GET',
      path: pages[(page += 1) % pages.length]!,
      headers: { cookie: browser.cookie ?? '' },
    }),
  }
}

async function takeSample(
  service: Running,
  storage: BenchStorage,
  result: LoadResult,
  { seconds, minute }: { seconds: number; minute: number },
): Promise<Sample> {
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  const metric = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1] ?? 0)
  for (const problem of result.problems.slice(0, 5)) process.stderr.write(`    ${problem}\n`)
  return {
    minute,
    perSecond: Math.round(result.latencies.length / seconds),
    p99: percentiles(result.latencies).p99,
    errors: result.errors,
    megabytes: memoryOf(service.pid) ?? metric('process_resident_memory_bytes') / 1e6,
    heap: metric('nodejs_heap_size_used_bytes') / 1e6,
    open: metric('tollgate_operations_open'),
    journal: await journalMegabytes(storage),
  }
}

async function journalMegabytes({ file, open }: BenchStorage): Promise<number> {
  if (file !== undefined) return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) / 1e6
  const { db, close } = await open()
  const row = await db.one<{ bytes: number }>('SELECT CAST(SUM(size) AS bigint) AS bytes FROM pg_ls_waldir()')
  await close()
  return (row?.bytes ?? 0) / 1e6
}

function rowOf(engine: string, sample: Sample) {
  return {
    name: `after ${sample.minute.toFixed(1)} min`,
    engine,
    workers: 1,
    perSecond: sample.perSecond,
    p99: sample.p99,
    note:
      `memory ${Math.round(sample.megabytes)} MB, heap ${Math.round(sample.heap)} MB, errors: ${sample.errors}, ` +
      `open: ${sample.open}, WAL ${sample.journal.toFixed(1)} MB`,
  }
}

/** Splits values into the last third and the rest. */
export function lastThird(values: readonly number[]): { last: readonly number[]; before: readonly number[] } {
  const third = Math.max(1, Math.floor(values.length / 3))
  return { last: values.slice(-third), before: values.length > third ? values.slice(0, -third) : values }
}

/**
 * Heap size depends on when garbage is collected, and V8 allocates memory in steps, so averages say little. Compares the heap
 * after a full collection and the max memory of the process.
 */
function reportMemory(part: Part, engine: string, samples: readonly Sample[], live: readonly number[]): void {
  const row = (name: string, value: number, before: number, ratioTo: string) =>
    part.row({
      name,
      engine,
      workers: 1,
      value,
      unit: 'MB',
      ratio: value / before,
      ratioTo,
      expected: [{ text: `flat: ≤ ${maxGrowth} × ${ratioTo}`, met: value <= before * maxGrowth }],
    })
  row('live heap at the end', live.at(-1)!, live[0]!, 'after a third')
  const { last, before } = lastThird(samples.map(({ megabytes }) => megabytes))
  row('memory, highest of the last third', Math.max(...last), Math.max(...before), 'highest before')
}

async function reportLedger(part: Part, storage: BenchStorage, samples: readonly Sample[]): Promise<void> {
  const errors = samples.reduce((sum, one) => sum + one.errors, 0)
  const { code, stdout } = await admin(storage.environment, 'ledger', 'check')
  part.row({
    name: 'errors in all',
    engine: storage.name,
    workers: 1,
    value: errors,
    unit: 'calls',
    expected: [
      { text: 'no errors', met: errors === 0 },
      { text: 'ledger check ok', met: code === 0 },
    ],
    note: stdout.trim().replaceAll(/\s+/g, ' ').slice(0, 200),
  })
}
