// Gateways for operators: order, health, and a test with one harmless request.
import { operatorProductRoutes } from '../../../contract/console/operator-products.ts'
import type { GatewayState } from '../../../contract/console/responses/operator-products.ts'
import { checkResults } from '../../../contract/domain-check.ts'
import { isPhoneNumber, phoneRule } from '../../../contract/sms-text.ts'
import type { Text } from '../../../contract/text.ts'
import { readAddress } from '../../domain-check/address.ts'
import { domainGatewayNames, readCanaryPair } from '../../domain-check/gateways.ts'
import type { DomainCheck } from '../../domain-check/api.ts'
import { identityGatewayNames, samplePerson } from '../../identity/gateways.ts'
import type { IdentityProduct } from '../../identity/api.ts'
import type { Services } from '../../services.ts'
import { testGateway } from '../../sms/gateway-test.ts'
import { smsGatewayNames } from '../../sms/gateways.ts'
import type { SmsProduct } from '../../sms/api.ts'
import type { WatchedGateway } from '../../operations/operator-alerts.ts'
import type { Guard } from '../../upstream/guard.ts'
import type { Api } from '../routes.ts'
import { recordChange } from '../../audit/audit.ts'
import { maskPhone } from '../../../contract/masking.ts'
import { invalidFields, notFound } from '../problem.ts'
import { operatorOf } from '../operator-actor.ts'
import type { GatewayGroup } from '../../../contract/console/values.ts'

export interface GatewayProducts {
  readonly sms: SmsProduct
  readonly identity: IdentityProduct
  readonly domainCheck: DomainCheck
}

interface TestResult {
  readonly ok: boolean
  readonly message: Text
}

export function gatewayPages(api: Api, services: Services, products: GatewayProducts): void {
  const { config, db } = services

  api.operator(operatorProductRoutes.gateways, async () => ({ items: statesOf(products) }))

  api.operator(operatorProductRoutes.testGateway, async (request, input) => {
    const group = request.part('group')
    const name = request.part('name')
    const phone = input.phone_number?.trim() ?? ''
    const test = testOf(group, name, phone, request.requestId)
    if (!test) throw notFound()
    if (group === 'sms' && !isPhoneNumber(phone)) throw invalidFields({ phone_number: phoneRule })
    const startedAt = performance.now()
    const { ok, message } = await test()
    const duration = Math.round(performance.now() - startedAt)
    await db.write((tx) =>
      recordChange(tx, operatorOf(request, input), 'gateway.test', `${group} ${name}`, {
        ok,
        ...(group === 'sms' && { phone_number: maskPhone(phone) }),
      }),
    )
    return { ok, message: message[request.language], duration_ms: duration }
  })

  function testOf(
    group: string,
    name: string,
    phone: string,
    requestId: string,
  ): (() => Promise<TestResult>) | undefined {
    switch (group) {
      case 'sms': {
        const gateway = products.sms.gateways.find((one) => one.name === name)
        const how = { phone, signName: config.SMS_SIGN_NAME, bizId: requestId.replaceAll('-', '') }
        return gateway && (async () => smsMessage(await testGateway(db, gateway, how)))
      }
      case 'identity': {
        const gateway = products.identity.gateways.find((one) => one.name === name)
        return (
          gateway &&
          (async () => {
            const outcome = await gateway.call((one, signal) => one.verify(samplePerson, signal))
            if (outcome.kind !== 'accepted') return failed(outcome.reason)
            return succeeded(`已响应：${outcome.value.verdict}`, `Answered: ${outcome.value.verdict}`)
          })
        )
      }
      case 'domain_check': {
        const gateway = products.domainCheck.gateways.find((one) => one.name === name)
        const address = readCanaryPair(config)?.good ?? readAddress('example.com')
        return (
          gateway &&
          address &&
          (async () => {
            const outcome = await gateway.check(address)
            if (outcome.kind !== 'accepted') return failed(outcome.reason)
            const word = checkResults[outcome.value]
            return succeeded(`${address.host}：${word}`, `${address.host}: ${word}`)
          })
        )
      }
      default:
        return undefined
    }
  }
}

function smsMessage({ ok, detail, sent }: { ok: boolean; detail: string; sent: boolean }): TestResult {
  if (!ok) return failed(detail)
  if (sent) return succeeded(`已用模板 ${detail} 发送一条`, `One message sent with the template ${detail}`)
  return succeeded(
    `连接与凭据正常（${detail}）；没有审核通过的公共模板，未发送短信`,
    `Connection and credentials work (${detail}); nothing was sent, because there is no approved shared template`,
  )
}

function succeeded(zh: string, en: string): TestResult {
  return { ok: true, message: { zh, en } }
}

/** Reasons are codes without phone numbers or credentials. */
function failed(reason: string): TestResult {
  return { ok: false, message: { zh: `失败：${reason}`, en: `Failed: ${reason}` } }
}

/** Every known gateway, the configured ones first and in their order. */
export function statesOf({ sms, identity, domainCheck }: GatewayProducts): GatewayState[] {
  return [
    ...gatewayStates('sms', smsGatewayNames, sms.gateways, ({ guard }) => healthOf(guard)),
    ...gatewayStates('identity', identityGatewayNames, identity.gateways, ({ guard }) => healthOf(guard)),
    ...gatewayStates('domain_check', domainGatewayNames, domainCheck.gateways, ({ guard, state }) => ({
      ...healthOf(guard),
      // A gateway with wrong canary verdicts is skipped like one whose breaker is open.
      ...(state === 'distrusted' && { breaker: 'open', last_error: 'canary' }),
    })),
  ]
}

/** The configured gateways, for alerts of operators. */
export function watchedGateways(products: GatewayProducts): WatchedGateway[] {
  const distrusted = products.domainCheck.gateways.filter(({ state }) => state === 'distrusted')
  return statesOf(products)
    .filter(({ position }) => position !== null)
    .map(({ group, name, breaker }) => ({
      name: `${group} ${name}`,
      isDown: breaker === 'open',
      hasFailedCanary: group === 'domain_check' && distrusted.some((one) => one.name === name),
    }))
}

type Health = Omit<GatewayState, 'group' | 'name' | 'position'>

function gatewayStates<G extends { readonly name: string }>(
  group: GatewayGroup,
  known: readonly string[],
  on: readonly G[],
  health: (gateway: G) => Health,
): GatewayState[] {
  const off = known.filter((name) => !on.some((gateway) => gateway.name === name))
  return [
    ...on.map((gateway, index) => ({
      group,
      name: gateway.name,
      position: index + 1,
      ...health(gateway),
    })),
    ...off.map((name) => ({ group, name, position: null, ...idle })),
  ]
}

const idle: Health = {
  breaker: 'closed',
  calls: 0,
  failures: 0,
  last_ok_at: null,
  last_error_at: null,
  last_error: null,
}

function healthOf(guard: Guard): Health {
  const { calls, not_sent, ambiguous, throttled } = guard.counters
  return {
    breaker: breakerOf(guard),
    calls,
    failures: not_sent + ambiguous + throttled,
    last_ok_at: guard.lastOkAt ?? null,
    last_error_at: guard.lastError?.at ?? null,
    last_error: guard.lastError?.reason ?? null,
  }
}

function breakerOf(guard: Guard): Health['breaker'] {
  return guard.state === 'half-open' ? 'half_open' : guard.state
}

/** Whether each product has a gateway whose circuit breaker is closed. */
export function gatewaysInService(
  products: GatewayProducts,
): Readonly<Record<'sms' | 'identity' | 'domain_check', boolean>> {
  const states = statesOf(products).filter(({ position }) => position !== null)
  const works = (group: GatewayGroup) => {
    const own = states.filter((one) => one.group === group)
    return own.length === 0 || own.some(({ breaker }) => breaker === 'closed')
  }
  return { sms: works('sms'), identity: works('identity'), domain_check: works('domain_check') }
}
