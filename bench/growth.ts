// What a large database costs: latencies of single calls with ten thousand links and with millions. Two services run side by side and
// are called in turn, so that other load of the machine affects both.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { creditRoutes } from '../contract/console/credits.ts'
import { requestRoutes } from '../contract/console/requests.ts'
import { pathOf } from '../contract/console/route.ts'
import { linkRoutes } from '../contract/console/shortlink.ts'
import { shortlink } from '../contract/shortlink.ts'
import { createBrowser } from '../test/support/console.ts'
import { clicksPerLink, fill, type FilledLink, linksPerLoggedCall, pickLinks } from './fill.ts'
import { percentiles } from './measure.ts'
import { memoryOf, type Running, startServer } from './processes.ts'
import { atMost, type Part } from './report.ts'
import { type BenchStorage, withStorage } from './storage.ts'

const smallSize = 10_000

/** Of the p50 with `smallSize` links. */
const maxRatio = 1.2

/** Calls of each kind, after some to warm up. The console allows a user 300 at once. */
const apiCalls = 600
const consoleCalls = 70
const warmUp = 0.1

/** Kinds that are measured before the services start again: a minute after its start a service reads all counters of clicks. */
const kindsPerStart = 3

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
  const targets = [await prepareTarget(part, small), await prepareTarget(part, large)] as const
  const names = kindNames.map((name) => `${name}, ${links}`)
  for (let first = 0; first < names.length; first += kindsPerStart) {
    const started = [await startTarget(part, targets[0]), await startTarget(part, targets[1])] as const
    try {
      await Promise.all(started.map(untilIdle))
      for (const [index, name] of names.slice(first, first + kindsPerStart).entries())
        await compareKind(part, started, first + index, name, engine)
      if (first + kindsPerStart >= names.length)
        part.row({
          name: `${links}, memory of the service after these calls`,
          engine,
          workers: 1,
          value: memoryOf(started[1].service.pid),
          unit: 'MB',
        })
    } finally {
      for (const { service, agent } of started) {
        agent.destroy()
        await service.end()
      }
    }
  }
}

const kindNames = [
  'redirect that is not cached',
  'generate',
  'get',
  'list',
  'list of a tag',
  'list of active links',
  'list of links with a word',
  'list of paused links',
  'stats by day',
  'stats by country',
  'stats of a tag',
  'page of links in the console',
  'page of the ledger',
  'page of the request log',
] as const

type KindName = (typeof kindNames)[number]

interface CallKind {
  readonly calls: number
  readonly method: 'GET' | 'POST'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Every call has another number. */
  readonly path: (index: number) => string
}

interface PreparedTarget {
  readonly storage: BenchStorage
  readonly links: readonly FilledLink[]
}

interface Target {
  readonly service: Running
  readonly agent: Agent
  readonly kinds: Readonly<Record<KindName, CallKind>>
}

async function prepareTarget(part: Part, storage: BenchStorage): Promise<PreparedTarget> {
  const calls = part.scale.quick ? 2 : apiCalls
  return { storage, links: await pickLinks(storage, Math.ceil(calls * (1 + warmUp))) }
}

async function startTarget(part: Part, { storage, links }: PreparedTarget): Promise<Target> {
  const service = await startServer({ ...storage.environment, ...settings })
  const browser = createBrowser(service)
  await browser.signIn(storage.payer.username, storage.payer.password)
  const visitor = { cookie: browser.cookie ?? '' }
  const { username, key } = storage.payer
  const calls = part.scale.quick ? 2 : apiCalls
  const linkAt = (index: number): FilledLink => links[index % links.length]!
  const api = (query: (link: FilledLink) => Record<string, string>): CallKind => ({
    calls,
    method: 'POST',
    status: 200,
    headers: { username, api_key: key, 'content-length': '0' },
    path: (index) => `${shortlink.path}?${new URLSearchParams(query(linkAt(index))).toString()}`,
  })
  const consolePage = (path: string): CallKind => ({
    calls: part.scale.quick ? 1 : consoleCalls,
    method: 'GET',
    status: 200,
    headers: visitor,
    path: () => path,
  })
  const tagOf = ({ id }: FilledLink) => `tag ${Math.floor(id / 1000)}`
  const target_url = 'https://example.com/landing?from=bench'
  const kinds = {
    'redirect that is not cached': {
      calls,
      method: 'GET',
      status: 302,
      headers: {},
      path: (index) => `/${linkAt(index).code}`,
    },
    generate: api(() => ({ action: 'generate', title: 'benchmark', target_url })),
    get: api(({ code }) => ({ action: 'get', short_code: code })),
    list: api(() => ({ action: 'list', limit: '100' })),
    'list of a tag': api((link) => ({ action: 'list', tag: tagOf(link) })),
    'list of active links': api(() => ({ action: 'list', state: 'active' })),
    'list of links with a word': api(() => ({ action: 'list', q: 'landing' })),
    'list of paused links': api(() => ({ action: 'list', state: 'paused' })),
    'stats by day': api(({ code }) => ({ action: 'stats', short_code: code })),
    'stats by country': api(({ code }) => ({ action: 'stats', short_code: code, by: 'country' })),
    'stats of a tag': api((link) => ({ action: 'stats', tag: tagOf(link) })),
    'page of links in the console': consolePage(pathOf(linkRoutes.list)),
    'page of the ledger': consolePage(pathOf(creditRoutes.ledger)),
    'page of the request log': consolePage(pathOf(requestRoutes.list)),
  } as const satisfies Record<KindName, CallKind>
  return { service, agent: new Agent({ keepAlive: true, maxSockets: 1 }), kinds }
}

async function compareKind(
  part: Part,
  targets: readonly [Target, Target],
  kind: number,
  name: string,
  engine: string,
): Promise<void> {
  const { calls } = targets[0].kinds[kindNames[kind]!]
  const skipped = Math.ceil(calls * warmUp)
  const latencies = targets.map(() => new Float64Array(calls))
  for (let index = 0; index < skipped + calls; index += 1) {
    for (const [which, target] of targets.entries()) {
      const startedAt = performance.now()
      await call(target, target.kinds[kindNames[kind]!], index)
      if (index >= skipped) latencies[which]![index - skipped] = performance.now() - startedAt
    }
  }
  const [before, after] = latencies.map(percentiles)
  const ratio = after!.p50 / before!.p50
  part.row({
    name,
    engine,
    workers: 1,
    p50: after!.p50,
    p99: after!.p99,
    ratio,
    ratioTo: 'its p50 with few links',
    expected: [atMost(maxRatio, ratio, 'its p50 with few links')],
    note: `${before!.p50.toFixed(2)} ms with few links`,
  })
}

function call(
  { service, agent }: Target,
  { method, status, headers, path }: CallKind,
  index: number,
): Promise<void> {
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
