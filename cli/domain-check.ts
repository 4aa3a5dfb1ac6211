// The command `watch`, and `gateway test` for domain gateways.
import { checkResults } from '../contract/domain-check.ts'
import { formatTime } from '../contract/time.ts'
import { requireAccount } from '../server/accounts/accounts.ts'
import type { Config } from '../server/config.ts'
import { readAddress } from '../server/domain-check/address.ts'
import { domainGateways, readCanaryPair } from '../server/domain-check/gateways.ts'
import type { Address, CheckVerdict } from '../server/domain-check/port.ts'
import { platformAccount } from '../server/domain-check/store.ts'
import {
  addWatch,
  listWatches,
  removeWatch,
  type WatchedWithHistory,
} from '../server/domain-check/watch-list.ts'
import { pauseReasons } from '../server/domain-check/texts.ts'
import { cliActor, type Command, UsageError, type Output, table } from './command.ts'

export const watchCommands: readonly Command[] = [
  {
    name: 'watch add',
    usage: 'NAME ADDRESS',
    text: {
      zh: '把域名加入账户的监控列表，定时检测，按正常价格计费',
      en: 'add a domain to the watch list; each check is charged at the normal price',
    },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ installation: { db }, config, words }) {
      const [name, text] = words as [string, string]
      const account = await requireAccount(db, name)
      const { host } = await addWatch(db, cliActor, {
        accountId: account.id,
        text,
        limit: config.DOMAIN_WATCH_LIMIT,
      })
      return {
        json: { username: account.username, address: text, host },
        text: `${account.username}: ${host} 已加入监控 / is watched`,
      }
    },
  },
  {
    name: 'watch remove',
    usage: 'NAME ADDRESS',
    text: { zh: '从监控列表移除，历史一并删除', en: 'remove a domain and its history from the watch list' },
    minWords: 2,
    maxWords: 2,
    flags: {},
    async run({ installation: { db }, words }) {
      const [name, text] = words as [string, string]
      const account = await requireAccount(db, name)
      const { host } = await removeWatch(db, cliActor, account.id, text)
      return {
        json: { username: account.username, address: text, host },
        text: `${account.username}: ${host} 已移除 / is no longer watched`,
      }
    },
  },
  {
    name: 'watch list',
    usage: '[NAME]',
    text: {
      zh: '查看监控列表与结果变化；不带账户名则为平台自己的短链接域名',
      en: 'list watched domains with their history; without a name: the link domains of the platform',
    },
    minWords: 0,
    maxWords: 1,
    flags: {},
    async run({ installation: { db }, words }) {
      const account = words[0] === undefined ? undefined : await requireAccount(db, words[0])
      const watched = (await listWatches(db, account?.id ?? platformAccount)).map(describe)
      return {
        json: { username: account?.username ?? null, watched },
        text: table(
          ['address', 'verdict', 'since', 'checked', 'last', 'paused', 'changes'],
          watched.map((one) => [
            one.address,
            one.verdict,
            one.since,
            one.checked_at,
            one.last_result,
            one.paused && `${pauseReasons[one.paused].zh} / ${pauseReasons[one.paused].en}`,
            one.history.length,
          ]),
        ),
      }
    },
  },
]

function describe(watch: WatchedWithHistory) {
  return {
    address: watch.address,
    verdict: watch.verdict && checkResults[watch.verdict],
    since: watch.verdict_since === null ? null : formatTime(watch.verdict_since),
    checked_at: watch.checked_at === null ? null : formatTime(watch.checked_at),
    last_result: watch.last_result && checkResults[watch.last_result],
    paused: watch.pause_reason,
    history: watch.history.map(({ verdict, at }) => ({ verdict: checkResults[verdict], at: formatTime(at) })),
  }
}

interface Probe {
  readonly address: string
  readonly expected: CheckVerdict | undefined
  readonly result: string
  readonly reason: string | undefined
  readonly ms: number
}

/** `gateway test domain NAME`: checks the canary pair or, without one, a well-known address. */
export async function testDomainGateway(config: Config, name: string): Promise<Output> {
  if (name !== 'sandbox' && name !== 'jump' && name !== 'http')
    throw new UsageError(`域名检测网关 ${name} 不存在 / no such domain gateway: sandbox, jump, http`)
  if (name === 'http' && (config.DOMAIN_HTTP_URL === undefined || config.DOMAIN_HTTP_PRESET === ''))
    throw new UsageError('缺少 DOMAIN_HTTP_URL 或 DOMAIN_HTTP_PRESET / these settings are missing')
  const gateway = domainGateways[name](config)
  const probes: Probe[] = []
  for (const { address, expected } of selectProbes(config, name)) {
    const startedAt = performance.now()
    const outcome = await gateway.check(address, AbortSignal.timeout(config.GATEWAY_TIMEOUT_MS + 500))
    probes.push({
      address: address.host,
      expected,
      result: checkResults[outcome.kind === 'accepted' ? outcome.value : 'failed'],
      reason: outcome.kind === 'accepted' ? undefined : outcome.reason,
      ms: Math.round(performance.now() - startedAt),
    })
  }
  const ok = probes.every(
    ({ expected, result }) =>
      result !== checkResults.failed && (expected === undefined || result === checkResults[expected]),
  )
  return {
    json: { group: 'domain', name, ok, probes },
    text: table(
      ['address', 'expected', 'result', 'reason', 'ms'],
      probes.map((one) => [one.address, one.expected, one.result, one.reason, one.ms]),
    ),
    failed: !ok,
  }
}

function selectProbes(
  config: Config,
  name: string,
): { address: Address; expected: CheckVerdict | undefined }[] {
  const pair =
    name === 'sandbox'
      ? { good: readAddress('example.com'), bad: readAddress('blocked.test') }
      : readCanaryPair(config)
  if (pair?.good && pair.bad) {
    return [
      { address: pair.good, expected: 'passes' },
      { address: pair.bad, expected: 'blocked' },
    ]
  }
  return [{ address: { url: 'http://example.com/', host: 'example.com' }, expected: undefined }]
}
