// Redirects and `generate` with ten thousand and with millions of links.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare } from './compare.ts'
import { measureWith, paidCalls } from './paid-calls.ts'
import { memoryOf, startBare, startServer } from './processes.ts'
import { getLoad } from './redirect.ts'
import type { Part } from './report.ts'
import { pathAt, seedLinks, samplePaths, targetAt } from './seed.ts'
import { onEngines, type BenchStorage } from './storage.ts'

/** More links than the service caches, and few enough for the load generator. */
const sample = 100_000

export async function growthBench(part: Part): Promise<void> {
  const sizes = part.scale.quick
    ? [100]
    : [10_000, 100_000, 1_000_000, ...(part.scale.large ? [10_000_000] : [])]
  if (!part.scale.large) part.row({ name: '10,000,000 links', skipped: 'only with --large' })
  await onEngines(part, async (storage) => {
    let seeded = 0
    for (const size of sizes) {
      const startedAt = performance.now()
      await seedLinks(storage, seeded + 1, size)
      part.print(
        `${size - seeded} links inserted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
      )
      seeded = size
      await measureSize(part, storage, size)
    }
  })
}

async function measureSize(part: Part, storage: BenchStorage, size: number): Promise<void> {
  const links = `${size.toLocaleString('en-US')} links`
  const { name: engine } = storage
  const megabytes = (await storage.bytes()) / 1e6
  part.row({
    name: `${links}, on disk`,
    engine,
    value: megabytes,
    unit: 'MB',
    note: `${Math.round((megabytes * 1e6) / size)} bytes a link`,
  })
  await measureRedirects(part, storage, size, links)
  await measureWith(part, storage, paidCalls.generate, 1, `, ${links}`)
}

async function measureRedirects(
  part: Part,
  storage: BenchStorage,
  size: number,
  links: string,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const { name: engine } = storage
  const paths = samplePaths(size, sample)
  // The bare server has the sample only: a Map lookup takes the same time among few or many paths.
  writeFileSync(join(directory, 'map'), paths.map((path) => `${path} ${targetAt(1)}`).join('\n'))
  const bare = await startBare('redirect', join(directory, 'map'))
  const service = await startServer(storage.environment)
  try {
    const memory = (when: string) =>
      part.row({
        name: `${links}, memory of the service ${when}`,
        engine,
        workers: 1,
        value: memoryOf(service.pid),
        unit: 'MB',
      })
    memory('at start')
    for (const [what, list] of [
      ['one hot', [pathAt(1)]],
      ['at random', paths],
    ] as const) {
      await compare(
        part,
        getLoad(list),
        {
          name: 'bare node:http',
          url: bare.url,
          pid: bare.pid,
          note: `${what}, compared with ${engine}, ${links}`,
        },
        [
          {
            name: `${links}, redirect, ${what}`,
            url: service.url,
            pid: service.pid,
            engine,
            workers: 1,
          },
        ],
      )
    }
    memory('after the load')
  } finally {
    await bare.end()
    await service.end()
    rmSync(directory, { recursive: true, force: true })
  }
}
