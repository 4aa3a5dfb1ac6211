// The configured gateways in their order, each behind its guard, and one question put to them until someone knows.
import type { Text } from '../../contract/text.ts'
import type { Config } from '../config.ts'
import { tryInOrder } from '../upstream/failover.ts'
import { createGuard, type Guard } from '../upstream/guard.ts'
import type { Outcome } from '../upstream/outcome.ts'
import { aliyunGateway } from './gateways/aliyun.ts'
import { marketGateway } from './gateways/market.ts'
import { marketPresets } from './gateways/market-shape.ts'
import { sandboxGateway } from './gateways/sandbox.ts'
import { tencentGateway } from './gateways/tencent.ts'
import type { Facts, Finding, IdentityGateway, Person, Verdict } from './port.ts'

const maxConcurrent = 64
const maxQueued = 512

/** The guard's clock runs a little longer than the call's own, so that the call can still say how far it came. */
const guardSlackMs = 250

export interface GuardedGateway {
  readonly name: string
  readonly guard: Guard
  ask(person: Person): Promise<Outcome<Finding>>
}

export const gatewayNames = ['sandbox', 'aliyun', 'tencent', 'market'] as const

/** Nobody's: the example out of the standard that defines the numbers, with the name every form is filled in with. */
export const specimen: Person = { name: '张三', number: '11010519491231002X' }

export function openGateways(config: Config): readonly GuardedGateway[] {
  return config.IDENTITY_GATEWAYS.map((name) => guarded(openGateway(config, name), config.GATEWAY_TIMEOUT_MS))
}

export function guarded(gateway: IdentityGateway, timeoutMs: number): GuardedGateway {
  const guard = createGuard({
    name: gateway.name,
    timeoutMs: timeoutMs + guardSlackMs,
    maxConcurrent,
    maxQueued,
  })
  return {
    name: gateway.name,
    guard,
    ask: (person) => guard.run((signal) => gateway.ask(person, signal)),
  }
}

/** The settings each of these needs were checked at start. */
function openGateway(config: Config, name: Config['IDENTITY_GATEWAYS'][number]): IdentityGateway {
  const timeoutMs = config.GATEWAY_TIMEOUT_MS
  switch (name) {
    case 'sandbox':
      return sandboxGateway()
    case 'aliyun':
      return aliyunGateway({
        endpoint: config.ALIYUN_IDENTITY_ENDPOINT ?? '',
        key: { id: config.ALIYUN_ACCESS_KEY_ID ?? '', secret: config.ALIYUN_ACCESS_KEY_SECRET ?? '' },
        timeoutMs,
      })
    case 'tencent':
      return tencentGateway({
        endpoint: config.TENCENT_IDENTITY_ENDPOINT ?? '',
        key: { id: config.TENCENT_SECRET_ID ?? '', secret: config.TENCENT_SECRET_KEY ?? '' },
        timeoutMs,
      })
    case 'market':
      return marketGateway({
        url: config.IDENTITY_MARKET_URL ?? '',
        appCode: config.IDENTITY_MARKET_APPCODE ?? '',
        shape: marketShapeOf(config),
        timeoutMs,
      })
  }
}

function marketShapeOf(config: Config) {
  const preset = config.IDENTITY_MARKET_PRESET
  const shape = preset === '' || preset === 'custom' ? config.IDENTITY_MARKET_SHAPE : marketPresets[preset]
  if (!shape) throw new Error('the marketplace gateway has no shape')
  return shape
}

/** What all gateways together had to say. */
export type Asked = {
  /** Who said it; undefined when there was nobody to ask. */
  readonly gateway: string | undefined
  /** How many were asked. */
  readonly asked: number
} & (
  | { readonly verdict: Verdict; readonly facts: Facts }
  | { readonly verdict: 'failed'; readonly reason: string; readonly text: Text }
)

export interface AskOptions {
  /** Later than this nobody waits for the answer: the credits are on their way back. */
  readonly withinMs: number
  /** Told of each gateway's answer. */
  readonly onOutcome: (gateway: string, outcome: Outcome<Finding>) => void
}

/** Asking twice harms nobody, so the next gateway is asked after any failure but a refusal of this very person. */
export async function askInOrder(
  gateways: readonly GuardedGateway[],
  person: Person,
  options: AskOptions,
): Promise<Asked> {
  const startedAt = performance.now()
  const result = await tryInOrder<GuardedGateway, Finding>(
    gateways,
    async (gateway) => {
      const outcome = await gateway.ask(person)
      options.onOutcome(gateway.name, outcome)
      return outcome
    },
    (outcome) => !concernsPerson(outcome) && performance.now() - startedAt < options.withinMs,
  )
  const { gateway, outcome } = result
  const asked = result.tried.length
  if (outcome.kind === 'accepted') return { gateway, asked, ...outcome.value }
  return { gateway, asked, verdict: 'failed', reason: outcome.reason, text: failureText(outcome) }
}

function concernsPerson(outcome: Outcome<Finding>): boolean {
  if (outcome.kind === 'refused') return outcome.code === 'person'
  return outcome.kind === 'throttled' && outcome.concerns === 'recipient'
}

const failureTexts = {
  none: { zh: '未配置核验网关', en: 'no gateway is configured' },
  person: {
    zh: '核验源不受理该姓名或身份证号',
    en: 'the source does not take this name or ID number',
  },
  tries: { zh: '该身份证号今日的核验次数已用完', en: 'this ID number was checked too often today' },
  unlisted: { zh: '核验源返回了无法识别的结果', en: 'the source gave an answer that is not known' },
  unreadable: { zh: '核验源的应答无法读取', en: "the source's answer cannot be read" },
  slow: { zh: '核验源超时未应答', en: 'the source did not answer in time' },
  unavailable: { zh: '核验源暂时不可用', en: 'the source is not available at the moment' },
} as const satisfies Record<string, Text>

/** Never the upstream's own words: they may quote what it was asked. */
function failureText(outcome: Exclude<Outcome<Finding>, { kind: 'accepted' }>): Text {
  if (outcome.kind === 'refused') return failureTexts[outcome.code === 'person' ? 'person' : 'unlisted']
  if (outcome.kind === 'throttled' && outcome.concerns === 'recipient') return failureTexts.tries
  if (outcome.reason === 'no_gateway') return failureTexts.none
  if (outcome.reason.startsWith('answer_')) return failureTexts.unreadable
  return failureTexts[/timeout|aborted/i.test(outcome.reason) ? 'slow' : 'unavailable']
}
