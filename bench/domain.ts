// Domain checks compared with the ideal time of a platform that takes 50 ms, with a parallel huge call, and with a bare handler.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpCall } from '../server/upstream/http-call.ts'
import { startService, type TestAccount, type TestService } from '../test/support/service.ts'
import { measure } from './measure.ts'
import { engineNames } from './storage.ts'
import { atMost, type Part } from './report.ts'

const path = '/api/video_platform_check.php'
const platformMs = 50
const concurrency = 16
const allUrls = Array.from({ length: 500 }, (_, index) => `http://site${index}.example/`)

export async function domainBench(part: Part): Promise<void> {
  const urls = allUrls.slice(0, part.scale.count(allUrls.length))
  const platform = await listen((_request, response) => {
    setTimeout(() => response.writeHead(302, { location: 'http://site.example/' }).end(), platformMs)
  })
  const slow = await startService('sqlite', {
    DOMAIN_GATEWAYS: 'jump',
    DOMAIN_JUMP_URL: `${addressOf(platform)}/?target={url}`,
    LOG_LEVEL: 'silent',
  })
  const sandbox = await startService('sqlite', { LOG_LEVEL: 'silent' })
  const bare = await listen((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ code: 0, message: 'success', data: {} }))
    })
  })
  try {
    part.print(`the platform takes ${platformMs} ms, ${concurrency} requests in parallel`)
    await bareLoop(part, addressOf(platform), urls)
    await oneHugeCall(part, slow, urls, false)
    await oneHugeCall(part, slow, urls, true)
    await smallBesideHuge(part, slow, urls)
    await oneUrl(part, sandbox, addressOf(bare))
  } finally {
    for (const service of [slow, sandbox]) await service[Symbol.asyncDispose]()
    for (const server of [platform, bare]) {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** The same requests without the service: how close this machine gets to the ideal. */
async function bareLoop(part: Part, platformUrl: string, urls: readonly string[]): Promise<void> {
  const request = (index: number) =>
    httpCall(
      { method: 'GET', url: `${platformUrl}/?target=${index}`, headers: {}, body: '' },
      { timeoutMs: 5_000 },
    )
  const ms = await bestOfThree(async () => void (await measure(urls.length, concurrency, request)))
  const ideal = (urls.length / concurrency) * platformMs
  part.row({
    name: `bare loop of ${urls.length} requests`,
    value: ms,
    unit: 'ms',
    ratio: ms / ideal,
    ratioTo: `ideal ${ideal.toFixed(0)} ms`,
  })
}

async function oneHugeCall(
  part: Part,
  service: TestService,
  urls: readonly string[],
  checkRandom: boolean,
): Promise<void> {
  const items = checkRandom ? urls.length * 2 : urls.length
  const ideal = (items / concurrency) * platformMs
  const account = await service.account({ domain_check: items * 3 })
  const best = await bestOfThree(() => check(service.url, account, urls, checkRandom))
  part.row({
    name: `${urls.length} URLs${checkRandom ? ' and as many random ones' : ''}`,
    engine: engineNames.sqlite,
    workers: 1,
    value: best,
    unit: 'ms',
    ratio: best / ideal,
    ratioTo: `ideal ${ideal.toFixed(0)} ms`,
    expected: [atMost(1.2, best / ideal, 'ideal')],
  })
}

async function smallBesideHuge(part: Part, service: TestService, urls: readonly string[]): Promise<void> {
  const huge = await service.account({ domain_check: urls.length * 8 })
  const small = await service.account({ domain_check: 100 })
  const alone = await timed(() => check(service.url, small, ['http://small.example/'], false))
  part.row({
    name: 'a call of 1 URL alone',
    engine: engineNames.sqlite,
    workers: 1,
    value: alone,
    unit: 'ms',
  })
  const hugeCalls = Array.from({ length: 8 }, () => check(service.url, huge, urls, false))
  await sleep(300)
  const durations: number[] = []
  for (let round = 0; round < 10; round++)
    durations.push(await timed(() => check(service.url, small, ['http://small.example/'], false)))
  durations.sort((a, b) => a - b)
  part.row({
    name: `the same beside 8 calls of ${urls.length}, median of 10`,
    engine: engineNames.sqlite,
    workers: 1,
    value: durations[5]!,
    unit: 'ms',
    ratio: durations[5]! / alone,
    ratioTo: 'alone',
    note: `worst ${durations[9]!.toFixed(0)} ms`,
  })
  await Promise.all(hugeCalls)
}

async function oneUrl(part: Part, service: TestService, bareUrl: string): Promise<void> {
  const count = part.scale.count(4_000)
  const warmUp = part.scale.count(500)
  const account = await service.account({ domain_check: count * 2 })
  const body = bodyOf(account, ['http://site.example/'], false)
  const post = async (url: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { code } = (await response.json()) as { code: number }
    if (code !== 0) throw new Error(`returned code ${code}`)
  }
  await measure(warmUp, 32, () => post(bareUrl))
  const limit = await measure(count, 32, () => post(bareUrl))
  part.row({ name: 'bare handler, same client', ...limit })
  await measure(warmUp, 32, () => post(service.url + path))
  const ours = await measure(count, 32, () => post(service.url + path))
  part.row({
    name: '1 URL, sandbox, charged and settled durably',
    engine: engineNames.sqlite,
    workers: 1,
    ...ours,
    ratio: ours.perSecond / limit.perSecond,
    ratioTo: 'bare handler',
  })
}

async function check(
  url: string,
  account: TestAccount,
  list: readonly string[],
  checkRandom: boolean,
): Promise<void> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyOf(account, list, checkRandom),
  })
  const { data } = (await response.json()) as { data?: { results: readonly string[] } }
  if (!data?.results.every((result) => result === '未拦截')) throw new Error('a check failed')
}

function bodyOf(account: TestAccount, list: readonly string[], checkRandom: boolean): string {
  return JSON.stringify({
    username: account.username,
    api_key: account.key,
    urls: list,
    check_random: checkRandom,
  })
}

/** The best of three runs is least affected by other load of the machine. */
async function bestOfThree(work: () => Promise<void>): Promise<number> {
  return Math.min(await timed(work), await timed(work), await timed(work))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function listen(handler: Parameters<typeof createServer>[1] & object): Promise<Server> {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
