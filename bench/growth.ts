// What a large database costs: latencies of single calls with ten thousand links and with millions, in alternating rounds of two
// services that run side by side.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { creditRoutes } from '../contract/console/credits.ts'
import { requestRoutes } from '../contract/console/requests.ts'
import { pathOf } from '../contract/console/route.ts'
import { linkRoutes } from '../contract/console/shortlink.ts'
import { shortlink } from '../contract/shortlink.ts'
import { openBrowser } from '../test/support/console.ts'
import { clicksPerLink, fill, type FilledLink, linksPerLoggedCall, pickLinks } from './fill.ts'
import { measure, median } from './measure.ts'
import { memoryOf, type Running, startServer } from './processes.ts'
import { atMost, type Part } from './report.ts'
import { type BenchStorage, withStorage } from './storage.ts'

const smallSize = 10_000

/** Of the p50 with `smallSize` links. */
const maxRatio = 1.2

const rounds = 7

/** Calls of each kind in a round. The console allows a user 300 at once. */
const apiCalls = 100
const consoleCalls = 12

/** Hourly work would be measured too, and old calls would be deleted. */
const settings = { LOG_LEVEL: 'warn', LEDGER_CHECK_HOURS: '0', REQUEST_LOG_DAYS: '3650' }

export async function growthBench(part: Part): Promise<void> {
  const { scale } = part
  const sizes = scale.sizes ?? (scale.quick ? [200] : [1_000_000, ...(scale.large ? [10_000_000] : [])])
  if (!scale.large && scale.sizes === undefined)
    part.row({ name: '10,000,000 links', skipped: 'only with --large' })
  const kept = (name: string) => (scale.keepIn === undefined ? undefined : { folder: scale.keepIn, name })
  for (const engine of scale.engines) {
    await withStorage(
      engine,
      async (small) => {
        await fill(small, scale.quick ? 100 : smallSize, scale.fillMinutes, () => undefined)
        await withStorage(
          engine,
          async (large) => {
            for (const size of sizes) await measureSize(part, small, large, size)
          },
          kept('large'),
        )
      },
      kept('small'),
    )
  }
}

async function measureSize(
  part: Part,
  small: BenchStorage,
  large: BenchStorage,
  wanted: number,
): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`
  const size = await fill(large, wanted, part.scale.fillMinutes, (links) => {
    if (links % 1_000_000 === 0) part.print(`${links} links after ${seconds()}`)
  })
  part.print(`${size} of ${wanted} links after ${seconds()}`)
  const links = `${size.toLocaleString('en-US')} links`
  const { name: engine } = large
  const megabytes = (await large.bytes()) / 1e6
  part.row({
    name: `${links}, on disk`,
    engine,
    value: megabytes,
    unit: 'MB',
    note:
      `${(clicksPerLink * size).toLocaleString('en-US')} clicks, ${size.toLocaleString('en-US')} operations and ledger entries, ` +
      `${Math.floor(size / linksPerLoggedCall).toLocaleString('en-US')} logged calls; ${Math.round((megabytes * 1e6) / size)} bytes a link`,
  })
  const services: Target[] = []
  try {
    for (const storage of [small, large]) services.push(await startTarget(part, storage))
    const [reference, target] = services as [Target, Target]
    await Promise.all(services.map(untilIdle))
    for (const [index, { name }] of reference.kinds.entries())
      await compareKind(part, [reference, target], index, `${name}, ${links}`, engine)
    part.row({
      name: `${links}, memory of the service after the calls`,
      engine,
      workers: 1,
      value: memoryOf(target.service.pid),
      unit: 'MB',
    })
  } finally {
    for (const { service, agent } of services) {
      agent.destroy()
      await service.end()
    }
  }
}

interface CallKind {
  readonly name: string
  readonly calls: number
  readonly method: 'GET' | 'POST'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Every call has another number. */
  readonly path: (index: number) => string
}

interface Target {
  readonly service: Running
  readonly agent: Agent
  readonly kinds: readonly CallKind[]
}

async function startTarget(part: Part, storage: BenchStorage): Promise<Target> {
  const calls = part.scale.quick ? 2 : apiCalls
  const links = await pickLinks(storage, calls * (rounds + 1))
  const service = await startServer({ ...storage.environment, ...settings })
  const browser = openBrowser(service)
  await browser.signIn(storage.payer.username, storage.payer.password)
  const visitor = { cookie: browser.cookie ?? '' }
  const { username, key } = storage.payer
  const linkAt = (index: number): FilledLink => links[index % links.length]!
  const api = (name: string, query: (link: FilledLink) => Record<string, string>): CallKind => ({
    name,
    calls,
    method: 'POST',
    status: 200,
    headers: { username, api_key: key, 'content-length': '0' },
    path: (index) => `${shortlink.path}?${new URLSearchParams(query(linkAt(index))).toString()}`,
  })
  const consolePage = (name: string, path: string): CallKind => ({
    name,
    calls: part.scale.quick ? 1 : consoleCalls,
    method: 'GET',
    status: 200,
    headers: visitor,
    path: () => path,
  })
  const target_url = 'https://example.com/landing?from=bench'
  const kinds: CallKind[] = [
    {
      name: 'redirect that is not cached',
      calls,
      method: 'GET',
      status: 302,
      headers: {},
      path: (index) => `/${linkAt(index).code}`,
    },
    api('generate', () => ({ action: 'generate', title: 'benchmark', target_url })),
    api('get', ({ code }) => ({ action: 'get', short_code: code })),
    api('list', () => ({ action: 'list', limit: '100' })),
    api('list of a tag', ({ id }) => ({ action: 'list', tag: `tag ${Math.floor(id / 1000)}` })),
    api('list of active links', () => ({ action: 'list', state: 'active' })),
    api('list of links with a word', () => ({ action: 'list', q: 'landing' })),
    api('list of paused links', () => ({ action: 'list', state: 'paused' })),
    api('stats by day', ({ code }) => ({ action: 'stats', short_code: code })),
    api('stats by country', ({ code }) => ({ action: 'stats', short_code: code, by: 'country' })),
    api('stats of a tag', ({ id }) => ({ action: 'stats', tag: `tag ${Math.floor(id / 1000)}` })),
    consolePage('page of links in the console', pathOf(linkRoutes.list)),
    consolePage('page of the ledger', pathOf(creditRoutes.ledger)),
    consolePage('page of the request log', pathOf(requestRoutes.list)),
  ]
  return { service, agent: new Agent({ keepAlive: true, maxSockets: 1 }), kinds }
}

async function compareKind(
  part: Part,
  targets: readonly [Target, Target],
  kind: number,
  name: string,
  engine: string,
): Promise<void> {
  const results: (readonly [number, number])[] = []
  const all: number[] = []
  // The first round warms up.
  for (let round = 0; round <= (part.scale.quick ? 1 : rounds); round += 1) {
    const p50s: number[] = []
    for (const target of targets) {
      const { calls } = target.kinds[kind]!
      const measured = await measure(calls, 1, (index) => call(target, kind, round * calls + index))
      p50s.push(measured.p50)
      if (target === targets[1] && round > 0) all.push(measured.p99)
    }
    if (round > 0) results.push([p50s[0]!, p50s[1]!])
  }
  const ratio = median(results.map(([before, after]) => after / before))
  part.row({
    name,
    engine,
    workers: 1,
    p50: median(results.map(([, after]) => after)),
    p99: median(all),
    ratio,
    ratioTo: 'its p50 with few links',
    expected: [atMost(maxRatio, ratio, 'its p50 with few links')],
    note: `${median(results.map(([before]) => before)).toFixed(2)} ms with few links`,
  })
}

function call({ service, agent, kinds }: Target, kind: number, index: number): Promise<void> {
  const { method, status, headers, path } = kinds[kind]!
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path(index), { method, agent, headers }, (response) => {
      if (response.statusCode !== status)
        reject(new Error(`${path(index)} returned ${response.statusCode ?? 'nothing'}`))
      response.resume().on('end', resolve)
    })
    sent.on('error', reject).end()
  })
}

/** The jobs of a start, such as the fold of clicks, are not measured. */
async function untilIdle({ service }: Target): Promise<void> {
  for (let quick = 0, tries = 0; quick < 20 && tries < 500; tries += 1) {
    const startedAt = performance.now()
    await fetch(`${service.url}/readyz`).then((response) => response.arrayBuffer())
    quick = performance.now() - startedAt < 20 ? quick + 1 : 0
    await sleep(20)
  }
}
