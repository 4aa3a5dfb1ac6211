// Redirects per second with click counting, compared in alternating rounds with plain node:http and nginx.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { shortlink } from '../contract/shortlink.ts'
import { type Candidate, compare } from './compare.ts'
import { isInstalled } from './machine.ts'
import { startNginx } from './nginx.ts'
import { memoryOf, type Running, startBare, startServer } from './processes.ts'
import { atLeast, atMost, type Part } from './report.ts'
import { pathAt, seedLinks, targetAt } from './seed.ts'
import { onEngines, type BenchStorage } from './storage.ts'

const browser = {
  'user-agent':
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
}

export const getLoad = (paths: readonly string[]) =>
  ({ method: 'GET', paths, headers: browser, status: 302 }) as const

export async function redirectBench(part: Part): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  const numbers = Array.from({ length: part.scale.links }, (_, index) => index + 1)
  const lines = numbers.map((n) => `${pathAt(n)} ${targetAt(n)}`)
  writeFileSync(join(directory, 'map'), lines.join('\n'))
  const bare = await startBare('redirect', join(directory, 'map'))
  let nginx: Running | undefined
  try {
    if (isInstalled('nginx', '-v')) nginx = await startNginx(directory, lines)
    else part.row({ name: 'nginx, the same redirects in a map', skipped: 'nginx is not installed' })
    const paths = numbers.map(pathAt)
    await onEngines(part, async (storage) => {
      await seedLinks(storage, 1, part.scale.links)
      const singleRatios = new Map<string, number>()
      for (const workers of part.scale.workers) {
        await measureService(part, storage, workers, { bare, nginx, paths, singleRatios })
      }
      await measureRule(part, storage, directory)
    })
  } finally {
    await bare.end()
    await nginx?.end()
    rmSync(directory, { recursive: true, force: true })
  }
}

interface RedirectReferences {
  readonly bare: Running
  readonly nginx: Running | undefined
  readonly paths: readonly string[]
  /** Ratio of one process to the bare server, by the kind of load. */
  readonly singleRatios: Map<string, number>
}

async function measureService(
  part: Part,
  storage: BenchStorage,
  workers: number,
  references: RedirectReferences,
): Promise<void> {
  const { bare, nginx, paths } = references
  const service = await startServer(storage.environment, workers)
  const engine = storage.name
  try {
    for (const [what, list] of [
      ['one hot link', paths.slice(0, 1)],
      [`any of ${paths.length.toLocaleString('en-US')} links`, paths],
    ] as const) {
      const note = `compared with ${engine}, workers: ${workers}`
      const others: Candidate[] = [
        {
          name: `redirect, ${what}`,
          url: service.url,
          pid: service.pid,
          engine,
          workers,
          // The expectation compares one process with one process.
          ...(workers === 1
            ? {
                expects: (ratio, p99) => [atLeast(0.9, ratio, 'bare node:http'), atMost(2, p99, 'its p99')],
              }
            : {}),
        },
      ]
      if (nginx) others.push({ name: `nginx, ${what}`, url: nginx.url, pid: nginx.pid, note })
      const [ratio] = await compare(
        part,
        getLoad(list),
        { name: 'bare node:http', url: bare.url, pid: bare.pid, note: `${what}, ${note}` },
        others,
      )
      if (workers === 1) references.singleRatios.set(what, ratio!)
      const one = references.singleRatios.get(what)
      if (workers > 1 && one !== undefined)
        compareWithOne(part, { what, engine, workers, gain: ratio! / one })
    }
    part.row({
      name: 'memory after the load',
      engine,
      workers,
      value: memoryOf(service.pid),
      unit: 'MB',
    })
  } finally {
    await service.end()
  }
}

/** A link with a rule that the visitor does not match. */
async function measureRule(part: Part, storage: BenchStorage, directory: string): Promise<void> {
  const service = await startServer(storage.environment)
  try {
    const path = await createRuledLink(service.url, storage)
    writeFileSync(join(directory, 'rule'), `${path} ${targetAt(1)}`)
    const bare = await startBare('redirect', join(directory, 'rule'))
    try {
      const engine = storage.name
      const note = `one link with a rule, compared with ${engine}`
      await compare(part, getLoad([path]), { name: 'bare node:http', url: bare.url, pid: bare.pid, note }, [
        {
          name: 'redirect, a link with a rule',
          url: service.url,
          pid: service.pid,
          engine,
          workers: 1,
          expects: (ratio) => [atLeast(0.7, ratio, 'bare node:http')],
        },
      ])
    } finally {
      await bare.end()
    }
  } finally {
    await service.end()
  }
}

async function createRuledLink(url: string, { payer }: BenchStorage): Promise<string> {
  const response = await fetch(url + shortlink.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      username: payer.username,
      api_key: payer.key,
      action: 'generate',
      target_url: targetAt(1),
      title: 'benchmark',
      rules: [{ when: { os: 'ios' }, target_url: targetAt(2) }],
    }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(`generate returned ${response.status}: ${text.slice(0, 200)}`)
  const { data } = JSON.parse(text) as { data: { a_url: string } }
  return new URL(data.a_url).pathname
}

/** Both are ratios to the bare server in the same rounds, so other load of the machine has little effect. */
function compareWithOne(
  part: Part,
  { what, engine, workers, gain }: { what: string; engine: string; workers: number; gain: number },
): void {
  // The load generator and the database need cores too.
  const hasFreeCores = availableParallelism() >= workers + 2
  part.row({
    name: `${workers} workers against one, ${what}`,
    engine,
    workers,
    ratio: gain,
    ratioTo: 'one worker',
    ...(hasFreeCores && workers === 2
      ? { expected: [atLeast(1.6, gain, 'one worker')] }
      : { note: hasFreeCores ? undefined : 'not evaluated: the load generator uses the same cores' }),
  })
}
