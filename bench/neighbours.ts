// Isolation: latencies of one account while another, or a stranger, makes many parallel calls of one kind, compared with a harmless
// load of as many connections in alternating rounds.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { identity } from '../contract/identity.ts'
import { createBrowser } from '../test/support/console.ts'
import { callOnNewConnection } from '../test/support/new-connection.ts'
import { type CrowdRequest, startCrowd } from './crowd.ts'
import { type HttpLoad, runLoads } from './load.ts'
import { type Measured, median } from './measure.ts'
import { harmlessRequests, loadKinds } from './neighbour-kinds.ts'
import { insertTemplate, paidCalls } from './paid-calls.ts'
import { type Running, startServer } from './processes.ts'
import { getLoad } from './redirect.ts'
import { atMost, type Part } from './report.ts'
import { pathAt, seedLinks } from './seed.ts'
import { createPayer, onEngines, type BenchStorage, type Payer } from './storage.ts'

const crowdSize = 200
const quickCrowdSize = 20

/** A quick run takes a few. */
const quickKinds = ['1 MB of form, plus', 'a vendor that hangs']

/** Of the p50 and the p99 under the harmless load. */
const maxRatio = 2

/** Calls of the neighbour whose latencies are measured. */
const measuredCalls = ['generate', 'send_sms', 'redirect'] as const

const hangingVendor = 'a vendor that hangs'

interface Scene {
  readonly part: Part
  readonly storage: BenchStorage
  readonly service: Running
  readonly neighbour: Payer
  readonly harmless: readonly CrowdRequest[]
}

export async function neighboursBench(part: Part): Promise<void> {
  const { quick } = part.scale
  await onEngines(part, async (storage) => {
    // Lists and exports have something to read.
    await seedLinks(storage, 1, quick ? 100 : 50_000)
    const neighbour = await createPayer(storage.open, 'neighbour')
    for (const payer of [storage.payer, neighbour]) await insertTemplate({ open: storage.open, payer })
    const vendor = await startSilentVendor()
    const service = await startServer({
      ...storage.environment,
      LOG_LEVEL: 'warn',
      ...vendor.environment,
    })
    try {
      const harmless = harmlessRequests(storage.payer)
      const browser = createBrowser(service)
      await browser.signIn(storage.payer.username, storage.payer.password)
      const scene = { part, storage, service, neighbour, harmless }
      for (const [kind, requests] of Object.entries(loadKinds(storage.payer, browser, service.url))) {
        if (isWanted(part, kind)) await measureKind(scene, kind, requests)
      }
      if (isWanted(part, hangingVendor))
        await measureKind(scene, hangingVendor, vendorRequests(storage.payer))
    } finally {
      await service.end()
      vendor.server.closeAllConnections()
      vendor.server.close()
    }
  })
}

function isWanted({ scale }: Part, kind: string): boolean {
  const wanted = process.env['BENCH_KINDS']?.split(',') ?? (scale.quick ? quickKinds : undefined)
  return wanted === undefined || wanted.some((part) => kind.includes(part))
}

/** Accepts the requests of the identity gateway and never answers. */
async function startSilentVendor(): Promise<{ server: Server; environment: Record<string, string> }> {
  const server = createServer(() => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    environment: {
      IDENTITY_GATEWAYS: 'market',
      IDENTITY_MARKET_PRESET: 'idcert',
      IDENTITY_MARKET_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      IDENTITY_MARKET_APPCODE: 'bench',
    },
  }
}

function vendorRequests({ key }: Payer): readonly CrowdRequest[] {
  const headers = { 'content-type': 'application/json', api_key: key }
  return [
    { method: 'POST', path: identity.path, headers, body: '{"name":"张三","idcard":"11010519491231002X"}' },
  ]
}

async function measureKind(scene: Scene, kind: string, requests: readonly CrowdRequest[]): Promise<void> {
  const { part, storage } = scene
  const rounds: { harmless: readonly Measured[]; crowded: readonly Measured[] }[] = []
  for (let round = 0; round < part.scale.rounds; round += 1) {
    const harmless = await measureNeighbour(scene, scene.harmless)
    rounds.push({ harmless, crowded: await measureNeighbour(scene, requests) })
  }
  for (const [index, call] of measuredCalls.entries()) {
    const of = (load: 'harmless' | 'crowded', field: 'p50' | 'p99') =>
      median(rounds.map((round) => round[load][index]![field]))
    const ratioOf = (field: 'p50' | 'p99') =>
      median(rounds.map((round) => round.crowded[index]![field] / round.harmless[index]![field]))
    const p50Ratio = ratioOf('p50')
    const p99Ratio = ratioOf('p99')
    part.row({
      name: `${call} beside ${kind}`,
      engine: storage.name,
      workers: 1,
      p50: of('crowded', 'p50'),
      p99: of('crowded', 'p99'),
      ratio: Math.max(p50Ratio, p99Ratio),
      ratioTo: 'harmless load',
      expected: [
        { ...atMost(maxRatio, p50Ratio, 'harmless p50') },
        { ...atMost(maxRatio, p99Ratio, 'harmless p99') },
      ],
      note:
        `p50 ${p50Ratio.toFixed(2)} ×, p99 ${p99Ratio.toFixed(2)} ×; ` +
        `harmless: p50 ${of('harmless', 'p50').toFixed(2)} ms, p99 ${of('harmless', 'p99').toFixed(2)} ms`,
    })
  }
}

/** The latencies of the neighbour's calls beside a crowd, in the order of `measuredCalls`. */
async function measureNeighbour(
  { part, service, neighbour }: Scene,
  requests: readonly CrowdRequest[],
): Promise<readonly Measured[]> {
  const connections = part.scale.quick ? quickCrowdSize : crowdSize
  const crowd = await startCrowd({ url: service.url, connections, requests })
  try {
    // Node accepts one connection per turn of its event loop, in order: a new one is served after all of the crowd's.
    await callOnNewConnection(`${service.url}/livez`)
    const same = { url: service.url, seconds: part.scale.seconds, connections: 4, pauseMs: 5 }
    const call = ({ path, body }: (typeof paidCalls)['generate']): HttpLoad => ({
      ...same,
      method: 'POST',
      paths: [path],
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body(neighbour)),
      status: 200,
    })
    return await runLoads([
      call(paidCalls.generate),
      call(paidCalls.send),
      { ...same, ...getLoad([pathAt(1)]) },
    ])
  } finally {
    await crowd.end()
    await untilIdle(service)
  }
}

/** The calls of a crowd that has left go on for a moment, and would be measured with the next one. */
async function untilIdle({ url }: Running): Promise<void> {
  for (let quick = 0, tries = 0; quick < 5 && tries < 100; tries += 1) {
    const startedAt = performance.now()
    await fetch(`${url}/livez`).then((response) => response.arrayBuffer())
    quick = performance.now() - startedAt < 10 ? quick + 1 : 0
    await sleep(10)
  }
}
