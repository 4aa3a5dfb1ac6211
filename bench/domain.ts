// The domain check beside its limits, in one run: a platform that takes 50 ms, a small call beside a huge one, a bare handler.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { httpCall } from '../server/upstream/http-call.ts'
import { startService, type TestAccount, type TestService } from '../test/support/service.ts'
import { measure, printRow } from './measure.ts'

const path = '/api/video_platform_check.php'
const platformMs = 50
const atATime = 16
const urls = Array.from({ length: 500 }, (_, index) => `http://site${index}.example/`)

export async function domainBench(): Promise<void> {
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
    process.stdout.write(`domain check, a platform that takes ${platformMs} ms, ${atATime} at a time\n`)
    await bareLoop(addressOf(platform))
    await oneHugeCall(slow, false)
    await oneHugeCall(slow, true)
    await smallBesideHuge(slow)
    await oneUrl(sandbox, addressOf(bare))
  } finally {
    for (const service of [slow, sandbox]) await service[Symbol.asyncDispose]()
    for (const server of [platform, bare]) {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** The same questions with nothing around them: what this machine makes of the ideal. */
async function bareLoop(platformUrl: string): Promise<void> {
  const ask = (index: number) =>
    httpCall(
      { method: 'GET', url: `${platformUrl}/?target=${index}`, headers: {}, body: '' },
      { timeoutMs: 5_000 },
    )
  const ms = await bestOfThree(async () => void (await measure(urls.length, atATime, ask)))
  const ideal = (urls.length / atATime) * platformMs
  print('bare loop of 500 requests', ms, `${(ms / ideal).toFixed(3)} × ideal ${ideal.toFixed(0)} ms`)
}

async function oneHugeCall(service: TestService, checkRandom: boolean): Promise<void> {
  const items = checkRandom ? urls.length * 2 : urls.length
  const ideal = (items / atATime) * platformMs
  const account = await service.account({ domain_check: items * 3 })
  const best = await bestOfThree(() => check(service.url, account, urls, checkRandom))
  print(
    `${urls.length} URLs${checkRandom ? ' and as many random ones' : ''}`,
    best,
    `${(best / ideal).toFixed(3)} × ideal ${ideal.toFixed(0)} ms, at most 1.2`,
  )
}

async function smallBesideHuge(service: TestService): Promise<void> {
  const huge = await service.account({ domain_check: urls.length * 8 })
  const small = await service.account({ domain_check: 100 })
  const alone = await timed(() => check(service.url, small, ['http://small.example/'], false))
  print('a call of 1 URL alone', alone, '')
  const crowd = Array.from({ length: 8 }, () => check(service.url, huge, urls, false))
  await sleep(300)
  const beside: number[] = []
  for (let round = 0; round < 10; round++)
    beside.push(await timed(() => check(service.url, small, ['http://small.example/'], false)))
  beside.sort((a, b) => a - b)
  print('the same beside 8 calls of 500, median of 10', beside[5]!, `worst ${beside[9]!.toFixed(0)} ms`)
  await Promise.all(crowd)
}

async function oneUrl(service: TestService, bareUrl: string): Promise<void> {
  const count = 4_000
  const account = await service.account({ domain_check: count * 2 })
  const body = bodyOf(account, ['http://site.example/'], false)
  const post = async (url: string) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { code } = (await response.json()) as { code: number }
    if (code !== 0) throw new Error(`answered ${code}`)
  }
  await measure(500, 32, () => post(bareUrl))
  const limit = await measure(count, 32, () => post(bareUrl))
  printRow('bare handler, same client', limit)
  await measure(500, 32, () => post(service.url + path))
  const ours = await measure(count, 32, () => post(service.url + path))
  printRow(
    '1 URL, sandbox, charged and settled durably',
    ours,
    `${(ours.perSecond / limit.perSecond).toFixed(2)} × bare`,
  )
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

/** The figure is about the schedule, not about who else uses this machine. */
async function bestOfThree(work: () => Promise<void>): Promise<number> {
  return Math.min(await timed(work), await timed(work), await timed(work))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function print(name: string, ms: number, note: string): void {
  process.stdout.write(`${name.padEnd(48)}${`${ms.toFixed(0)} ms`.padStart(12)}   ${note}\n`)
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
