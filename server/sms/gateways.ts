// The gateways that are configured, in their order, each behind a guard of its own.
import type { Config } from '../config.ts'
import { createGuard, type Guard } from '../upstream/guard.ts'
import type { Outcome } from '../upstream/outcome.ts'
import { aliyunGateway, aliyunReceipts } from './gateways/aliyun.ts'
import { httpGateway, httpReceipts } from './gateways/http.ts'
import { sandboxGateway } from './gateways/sandbox.ts'
import { tencentGateway, tencentReceipts } from './gateways/tencent.ts'
import type { Message, ReceiptForm, Sent, SmsGateway } from './port.ts'

const maxConcurrent = 100
const maxQueued = 1_000

/** What the guard gives a call beyond its own timeout, so that the call's own word on how it ended comes first. */
const guardSlackMs = 500

export interface GuardedGateway {
  readonly name: string
  readonly gateway: SmsGateway
  /** Undefined for the sandbox, whose failures are asked for and must not close it. */
  readonly guard: Guard | undefined
  /** Messages given to it since start. */
  readonly tally: Readonly<Tally>
  send(message: Message): Promise<Outcome<Sent>>
}

export interface Tally {
  calls: number
  failures: number
  lastOkAt: number | undefined
  lastError: { readonly at: number; readonly reason: string } | undefined
}

export const gatewayNames = ['sandbox', 'aliyun', 'tencent', 'http'] as const

export function openGateways(
  config: Config,
  onOutcome: (gateway: string, outcome: Outcome<Sent>['kind']) => void,
): readonly GuardedGateway[] {
  return config.SMS_GATEWAYS.map((name) => {
    const gateway = openGateway(name, config)
    const tally: Tally = { calls: 0, failures: 0, lastOkAt: undefined, lastError: undefined }
    const counted = async (sending: Promise<Outcome<Sent>>) => {
      const outcome = await sending
      onOutcome(name, outcome.kind)
      note(tally, outcome)
      return outcome
    }
    if (name === 'sandbox') {
      return { name, gateway, guard: undefined, tally, send: (message) => counted(gateway.send(message)) }
    }
    const guard = createGuard({
      name,
      timeoutMs: config.GATEWAY_TIMEOUT_MS + guardSlackMs,
      maxConcurrent,
      maxQueued,
    })
    return {
      name,
      gateway,
      guard,
      tally,
      send: (message) => counted(guard.run((signal) => gateway.send(message, signal))),
    }
  })
}

/** A refusal is about the message, and shows a gateway at work. */
function note(tally: Tally, outcome: Outcome<Sent>): void {
  tally.calls += 1
  if (outcome.kind === 'accepted') tally.lastOkAt = Date.now()
  else if (outcome.kind !== 'refused') {
    tally.failures += 1
    tally.lastError = { at: Date.now(), reason: outcome.reason }
  }
}

type GatewayName = Config['SMS_GATEWAYS'][number]

export function openGateway(name: GatewayName, config: Config): SmsGateway {
  const timeoutMs = config.GATEWAY_TIMEOUT_MS
  switch (name) {
    case 'sandbox':
      return sandboxGateway()
    case 'aliyun':
      return aliyunGateway({
        key: { id: config.ALIYUN_ACCESS_KEY_ID ?? '', secret: config.ALIYUN_ACCESS_KEY_SECRET ?? '' },
        endpoint: config.ALIYUN_SMS_ENDPOINT ?? '',
        timeoutMs,
      })
    case 'tencent':
      return tencentGateway({
        key: { id: config.TENCENT_SECRET_ID ?? '', secret: config.TENCENT_SECRET_KEY ?? '' },
        endpoint: config.TENCENT_SMS_ENDPOINT ?? '',
        region: config.TENCENT_REGION,
        appId: config.TENCENT_SMS_APP_ID ?? '',
        timeoutMs,
      })
    case 'http':
      return httpGateway({ url: config.SMS_HTTP_URL ?? '', secret: config.SMS_HTTP_SECRET ?? '', timeoutMs })
  }
}

/** Receipts are taken from a vendor that is no longer in the list, too: they are about messages sent before. */
export function receiptForms(config: Config): ReadonlyMap<string, ReceiptForm> {
  const forms = new Map<string, ReceiptForm>([
    ['aliyun', aliyunReceipts],
    ['tencent', tencentReceipts],
  ])
  if (config.SMS_HTTP_SECRET) forms.set('http', httpReceipts(config.SMS_HTTP_SECRET))
  return forms
}
