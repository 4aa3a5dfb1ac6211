// Three loopback vendors that misbehave, and that remember what really reached them.
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

/** How all three behave. `mixed`: mostly well, and now and then in one of the other ways. */
export type Mood = 'well' | 'mixed' | 'hang' | 'slow' | 'cut' | 'garbage' | 'refuse'

const badMoods = ['hang', 'slow', 'cut', 'garbage', 'refuse'] as const

/** Few enough that a breaker seldom opens, which would keep everything else from being tried. */
const badShare = 0.2

export interface SentMessage {
  readonly phone: string
  /** Every serial number under which this number was sent something: more than one request is a second send. */
  readonly bizIds: string[]
  /** Whether the vendor took the message, whatever it then answered. */
  accepted: boolean
  /** Whether its answer, if any, has been given. */
  answered: boolean
}

export interface Gateways extends AsyncDisposable {
  /** What a service needs to use them. */
  readonly environment: Readonly<Record<string, string>>
  readonly messages: ReadonlyMap<string, SentMessage>
  /** Questions by ID number, and by address. */
  readonly persons: ReadonlyMap<string, number>
  readonly addresses: ReadonlyMap<string, number>
  /** Questions about messages, asked by the sweeper. */
  readonly queries: () => number
  setMood(mood: Mood): void
  /** Tells the service what became of every message, as vendors do, and again for those it has heard of before. */
  sendReceipts(serviceUrl: string): Promise<void>
}

const secret = 'fault-suite-gateway-secret'
const receiptSecret = 'fault-suite-receipts'

export async function startGateways(seed: string): Promise<Gateways> {
  const messages = new Map<string, SentMessage>()
  const persons = new Map<string, number>()
  const addresses = new Map<string, number>()
  let queries = 0
  let mood: Mood = 'mixed'

  /** By what is asked for, not by the order of arrival: the same seed treats the same number alike. */
  function moodFor(subject: string): Exclude<Mood, 'mixed'> {
    if (mood !== 'mixed') return mood
    const random = seededRandom(`${seed} mood ${subject}`)
    return random.chance(badShare) ? random.pick(badMoods) : 'well'
  }

  function coin(subject: string): boolean {
    return seededRandom(`${seed} coin ${subject}`).chance(0.5)
  }

  /** Work takes a moment, so that there is always something under way when a fault strikes. */
  async function work(subject: string, kind: Exclude<Mood, 'mixed'>): Promise<void> {
    const random = seededRandom(`${seed} work ${subject}`)
    await sleep(kind === 'slow' ? random.between(250, 450) : random.between(2, 60))
  }

  async function behave(
    subject: string,
    kind: Exclude<Mood, 'mixed'>,
    good: Behaviour,
    refusal: Behaviour,
  ): Promise<Behaviour> {
    await work(subject, kind)
    switch (kind) {
      case 'well':
      case 'slow':
        return good
      case 'refuse':
        return refusal
      case 'hang':
        return hang()
      case 'cut':
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
      if (mood === 'hang') return hang()
      const accepted = messages.get(phone)?.accepted === true && messages.get(phone)?.bizIds[0] === bizId
      return json(
        200,
        accepted ? { result: 'found', status: 'accepted', id: `v${bizId}` } : { result: 'not_found' },
      )
    }
    const message = messages.get(phone) ?? { phone, bizIds: [], accepted: false, answered: false }
    messages.set(phone, message)
    message.bizIds.push(bizId)
    const kind = moodFor(phone)
    // Whoever hangs, cuts or talks nonsense may have sent the message or not.
    message.accepted ||= kind === 'well' || kind === 'slow' || (kind !== 'refuse' && coin(phone))
    const behaviour = await behave(
      phone,
      kind,
      json(200, { result: 'accepted', id: `v${bizId}` }),
      json(200, { result: 'refused', reason: 'content', code: 'NO' }),
    )
    message.answered = true
    return behaviour
  })

  const market = await startFakeUpstream(async (request) => {
    const number = request.query.get('idCard') ?? ''
    persons.set(number, (persons.get(number) ?? 0) + 1)
    const verdict = json(200, { status: coin(number) ? '01' : '02' })
    return behave(number, moodFor(number), verdict, json(200, { status: '203' }))
  })

  const jump = await startFakeUpstream(async (request) => {
    const address = request.query.get('target') ?? ''
    addresses.set(address, (addresses.get(address) ?? 0) + 1)
    const verdict = coin(address)
      ? text(302, '', { location: address })
      : text(200, '<html><body>已停止访问该网页</body></html>', { 'content-type': 'text/html' })
    return behave(address, moodFor(address), verdict, text(404, 'no'))
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
    setMood(next) {
      mood = next
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
        const answer = await fetch(`${serviceUrl}/receipts/sms/http/${receiptSecret}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'x-tollgate-timestamp': timestamp,
            'x-tollgate-signature': `sha256=${signature}`,
          },
          body,
        })
        if (answer.status !== 200) throw new Error(`receipts were answered with ${answer.status}`)
        await answer.body?.cancel()
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([sms.close(), market.close(), jump.close()])
    },
  }
}
