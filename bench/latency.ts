// Latencies of an open loop at 30 % and 70 % of the capacity, beside a bare handler that gets the same requests at the same rate.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runLoad, type SameLoad } from './load.ts'
import { median } from './measure.ts'
import { runOpenLoad } from './open-load.ts'
import { paidCalls, startBareCall } from './paid-calls.ts'
import { type Running, startBare, startServer } from './processes.ts'
import { getLoad } from './redirect.ts'
import type { Expectation, Part } from './report.ts'
import { pathAt, seedLinks, targetAt } from './seed.ts'
import { onEngines, type BenchStorage } from './storage.ts'

const shares = [0.3, 0.7]

/** `generate` on SQLite has a target at a fixed rate as well. */
const fixedRate = 3_000
const maxP999AtFixedRate = 30

interface Pair {
  readonly name: string
  readonly load: SameLoad
  readonly service: Running
  readonly bare: Running
  readonly storage: BenchStorage
}

export async function latencyBench(part: Part): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  try {
    await onEngines(part, async (storage) => {
      await seedLinks(storage, 1, 1)
      await paidCalls.send.prepare?.(storage)
      const service = await startServer({ ...storage.environment, LOG_LEVEL: 'warn' })
      try {
        for (const call of part.scale.quick ? [paidCalls.generate] : [paidCalls.generate, paidCalls.send]) {
          const { load, bare } = await startBareCall(service, storage, call)
          try {
            await measurePair(part, { name: call.name, load, service, bare, storage })
          } finally {
            await bare.end()
          }
        }
        writeFileSync(join(directory, 'map'), `${pathAt(1)} ${targetAt(1)}`)
        const bare = await startBare('redirect', join(directory, 'map'))
        const load = getLoad([pathAt(1)])
        try {
          await measurePair(part, { name: 'redirect', load, service, bare, storage })
        } finally {
          await bare.end()
        }
      } finally {
        await service.end()
      }
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measurePair(part: Part, pair: Pair): Promise<void> {
  const { seconds, quick } = part.scale
  const { perSecond: capacity } = await runLoad({ ...pair.load, url: pair.service.url, seconds })
  for (const share of shares) {
    await measureRate(part, pair, Math.max(1, Math.round(capacity * share)), `${share * 100} % of capacity`)
  }
  if (pair.name !== paidCalls.generate.name || pair.storage.engine !== 'sqlite') return
  await measureRate(part, pair, quick ? 100 : fixedRate, `${fixedRate.toLocaleString('en-US')}/s`, (p999) => [
    { text: `p99.9 ≤ ${maxP999AtFixedRate} ms`, met: p999 <= maxP999AtFixedRate },
  ])
}

/** In alternating rounds: the bare handler shows how much of a latency is the machine. */
async function measureRate(
  part: Part,
  { name, load, service, bare, storage }: Pair,
  rate: number,
  at: string,
  expects?: (p999: number) => readonly Expectation[],
): Promise<void> {
  const { seconds, rounds } = part.scale
  const measured = {
    bare: [] as Awaited<ReturnType<typeof runOpenLoad>>[],
    service: [] as Awaited<ReturnType<typeof runOpenLoad>>[],
  }
  for (let round = 0; round < rounds; round += 1) {
    measured.bare.push(await runOpenLoad({ ...load, url: bare.url, seconds, rate }))
    measured.service.push(await runOpenLoad({ ...load, url: service.url, seconds, rate }))
  }
  const medians = (results: typeof measured.bare) => ({
    perSecond: median(results.map(({ perSecond }) => perSecond)),
    p50: median(results.map(({ p50 }) => p50)),
    p99: median(results.map(({ p99 }) => p99)),
    p999: median(results.map(({ p999 }) => p999)),
  })
  const reference = medians(measured.bare)
  const own = medians(measured.service)
  const engine = storage.name
  part.row({ name: 'bare handler', note: `${name}, ${at}, beside ${engine}`, ...reference })
  part.row({
    name: `${name}, ${at}`,
    engine,
    workers: 1,
    ...own,
    ratio: own.p99 / reference.p99,
    ratioTo: 'p99 of the bare handler',
    expected: expects?.(own.p999),
  })
}
