// Three fake providers on loopback that fail on purpose and record every request they receive.
import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Behaviour,
  cutBeforeHeaders,
  cutInBody,
  hang,
  html502,
  json,
  reset,
  startFakeUpstream,
  text,
} from '../support/fake-upstream.ts'
import { seededRandom } from './random.ts'

/** How all three providers respond. `mixed`: mostly `normal`, sometimes in one of the other modes. */
export type ProviderMode = 'normal' | 'mixed' | 'hang' | 'slow' | 'disconnect' | 'garbage' | 'reject'

const faultyModes = ['hang', 'slow', 'disconnect', 'garbage', 'reject'] as const

/** Low enough that a circuit breaker seldom opens: an open one would prevent most calls. */
const faultyShare = 0.2

export interface ReceivedMessage {
  readonly phone: string
  /** The `biz_id` of every request to send to this number. More than one is a duplicate send. */
  readonly bizIds: string[]
  /** Whether the provider accepted the message, independent of its response. */
  accepted: boolean
  /** Whether the provider has finished the request. */
  isFinished: boolean
}

export interface FakeProviders extends AsyncDisposable {
  /** Settings of a service that uses these providers. */
  readonly environment: Readonly<Record<string, string>>
  readonly messages: ReadonlyMap<string, ReceivedMessage>
  /** Number of requests by ID number, and by address. */
  readonly persons: ReadonlyMap<string, number>
  readonly addresses: ReadonlyMap<string, number>
  /** Number of status queries, sent by the sweeper. */
  readonly queries: () => number
  setMode(mode: ProviderMode): void
  /** Sends a receipt for every message, including messages that already have one. */
  sendReceipts(serviceUrl: string): Promise<void>
}

const secret = 'fault-suite-gateway-secret'
const receiptSecret = 'fault-suite-receipts'

export async function startFakeProviders(seed: string): Promise<FakeProviders> {
  const messages = new Map<string, ReceivedMessage>()
  const persons = new Map<string, number>()
  const addresses = new Map<string, number>()
  let queries = 0
  let mode: ProviderMode = 'mixed'

  /** Depends on the subject, not on the order of arrival, so that a seed repeats the same behaviour. */
  function modeFor(subject: string): Exclude<ProviderMode, 'mixed'> {
    if (mode !== 'mixed') return mode
    const random = seededRandom(`${seed} mood ${subject}`)
    return random.chance(faultyShare) ? random.pick(faultyModes) : 'normal'
  }

  function coin(subject: string): boolean {
    return seededRandom(`${seed} coin ${subject}`).chance(0.5)
  }

  /** Delays the response, so that calls are in progress when the fault is injected. */
  async function work(subject: string, kind: Exclude<ProviderMode, 'mixed'>): Promise<void> {
    const random = seededRandom(`${seed} work ${subject}`)
    await sleep(kind === 'slow' ? random.between(250, 450) : random.between(2, 60))
  }

  async function behave(
    subject: string,
    kind: Exclude<ProviderMode, 'mixed'>,
    good: Behaviour,
    refusal: Behaviour,
  ): Promise<Behaviour> {
    await work(subject, kind)
    switch (kind) {
      case 'normal':
      case 'slow':
        return good
      case 'reject':
        return refusal
      case 'hang':
        return hang()
      case 'disconnect':
        return coin(`${subject} cut`) ? cutBeforeHeaders() : coin(`${subject} reset`) ? reset() : cutInBody()
      case 'garbage':
        return coin(`${subject} page`) ? html502() : text(200, 'w\u0000at?', { 'content-type': 'text/plain' })
    }
  }

  const sms = await startFakeUpstream(async (request) => {
    const fields = JSON.parse(request.body) as Record<string, string>
    const { phone_number: phone = '', biz_id: bizId = '' } = fields
    if (fields['action'] === 'query') {
      queries += 1
      if (mode === 'hang') return hang()
      const accepted = messages.get(phone)?.accepted === true && messages.get(phone)?.bizIds[0] === bizId
      return json(
        200,
        accepted ? { result: 'found', status: 'accepted', id: `v${bizId}` } : { result: 'not_found' },
      )
    }
    const message = messages.get(phone) ?? { phone, bizIds: [], accepted: false, isFinished: false }
    messages.set(phone, message)
    message.bizIds.push(bizId)
    const kind = modeFor(phone)
    // A provider that hangs, disconnects or returns garbage may or may not have sent the message.
    message.accepted ||= kind === 'normal' || kind === 'slow' || (kind !== 'reject' && coin(phone))
    const behaviour = await behave(
      phone,
      kind,
      json(200, { result: 'accepted', id: `v${bizId}` }),
      json(200, { result: 'refused', reason: 'content', code: 'NO' }),
    )
    message.isFinished = true
    return behaviour
  })

  const market = await startFakeUpstream(async (request) => {
    const number = request.query.get('idCard') ?? ''
    persons.set(number, (persons.get(number) ?? 0) + 1)
    const verdict = json(200, { status: coin(number) ? '01' : '02' })
    return behave(number, modeFor(number), verdict, json(200, { status: '203' }))
  })

  const jump = await startFakeUpstream(async (request) => {
    const address = request.query.get('target') ?? ''
    addresses.set(address, (addresses.get(address) ?? 0) + 1)
    const verdict = coin(address)
      ? text(302, '', { location: address })
      : text(200, '<html><body>已停止访问该网页</body></html>', { 'content-type': 'text/html' })
    return behave(address, modeFor(address), verdict, text(404, 'no'))
  })

  return {
    environment: {
      SMS_GATEWAYS: 'http',
      SMS_HTTP_URL: sms.url,
      SMS_HTTP_SECRET: secret,
      SMS_RECEIPT_SECRET: receiptSecret,
      IDENTITY_GATEWAYS: 'market',
      IDENTITY_MARKET_PRESET: 'idcert',
      IDENTITY_MARKET_URL: `${market.url}idcert`,
      IDENTITY_MARKET_APPCODE: 'fault-suite',
      DOMAIN_GATEWAYS: 'jump',
      DOMAIN_JUMP_URL: `${jump.url}?target={url}`,
      GATEWAY_TIMEOUT_MS: '600',
    },
    messages,
    persons,
    addresses,
    queries: () => queries,
    setMode(next) {
      mode = next
    },
    async sendReceipts(serviceUrl) {
      const receipts = [...messages.values()].map(({ phone, bizIds, accepted }) => ({
        phone_number: phone,
        biz_id: bizIds[0],
        status: accepted ? 'delivered' : 'failed',
        code: accepted ? 'DELIVRD' : 'UNDELIV',
      }))
      for (let start = 0; start < receipts.length; start += 200) {
        const body = JSON.stringify({ receipts: receipts.slice(start, start + 200) })
        const timestamp = String(Math.floor(Date.now() / 1000))
        const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
        const response = await fetch(`${serviceUrl}/receipts/sms/http/${receiptSecret}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-tollgate-timestamp': timestamp,
            'x-tollgate-signature': `sha256=${signature}`,
          },
          body,
        })
        if (response.status !== 200) throw new Error(`the receipts endpoint returned ${response.status}`)
        await response.body?.cancel()
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([sms.close(), market.close(), jump.close()])
    },
  }
}
