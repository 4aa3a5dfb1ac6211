// What the fake payment providers share. They run on loopback, verify every request with real keys, and sign every answer
// and notification.
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeBillRow } from './fake-bills.ts'

const newKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

export const merchant = newKeys()
export const vendor = newKeys()
export const stranger = newKeys()

export const sign = (text: string, key: string) => createSign('RSA-SHA256').update(text).sign(key, 'base64')
export const verify = (text: string, signature: string) =>
  createVerify('RSA-SHA256').update(text).verify(merchant.publicKey, signature, 'base64')

/** What the provider knows about an order. */
export interface Trade {
  amount: number
  currency: string
  state: 'open' | 'paid' | 'closed'
  /** By refund number. */
  refunds: Map<string, number>
  session: string
}

export const emptyTrade: Trade = {
  amount: 0,
  currency: 'CNY',
  state: 'open',
  refunds: new Map(),
  session: '',
}

/** How the provider misbehaves from now on. */
export type Fault =
  | 'none'
  | 'down'
  | 'silent'
  | 'nonsense'
  | 'unsigned'
  | 'error'
  | 'silent_refund'
  | 'refund_refused'
  | 'refund_waits'
  | 'refund_closed'
  | 'refund_abnormal'
  | 'lies_unpaid'
  | 'bad_bill'
  | 'sign_last'

export interface FakeProvider extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>
  readonly trades: Map<string, Trade>
  /** By day. A day without one has no bill. */
  readonly bills: Map<string, readonly FakeBillRow[]>
  fault: Fault
  /** Calls that match get no answer before `release`, as `GET /v3/…`. */
  hold: RegExp | undefined
  /** How many were held so far. */
  held: number
  release(): void
  /** Sees every request that is answered. */
  onRequest: ((request: IncomingMessage, body: string) => void) | undefined
  /** Requests with a wrong signature or content. */
  readonly problems: string[]
  pay(number: string): void
  /** A notification as it is sent: headers and body. */
  notify(number: string, change?: NotificationChange): SentNotification
  post(url: string, notification: SentNotification): Promise<{ status: number; body: string }>
}

export interface NotificationChange {
  readonly amount?: number
  readonly merchant?: string
  readonly key?: string
  readonly ageS?: number
  readonly cut?: boolean
  readonly currency?: string
}

export interface SentNotification {
  readonly headers: Record<string, string>
  readonly body: string
}

type Handle = (fake: FakeProvider, request: IncomingMessage, body: string, response: ServerResponse) => void

export async function startFake(
  handle: Handle,
  settings: (url: string) => Record<string, string>,
  notify: (fake: FakeProvider, number: string, change: NotificationChange) => SentNotification,
): Promise<FakeProvider> {
  let waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (fake.fault === 'down') return void request.socket.destroy()
      if (fake.fault === 'silent') return
      if (fake.fault === 'error') return void response.writeHead(502).end('<html>bad gateway</html>')
      if (fake.fault === 'nonsense') return void response.writeHead(200).end('{"ok":"yes"}')
      const body = Buffer.concat(chunks).toString()
      const answer = () => {
        fake.onRequest?.(request, body)
        handle(fake, request, body, response)
      }
      if (!fake.hold?.test(`${request.method} ${request.url}`)) return answer()
      waiting.push(answer)
      fake.held += 1
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fake: FakeProvider = {
    settings: settings(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    trades: new Map(),
    bills: new Map(),
    fault: 'none',
    hold: undefined,
    held: 0,
    onRequest: undefined,
    release() {
      for (const answer of waiting) answer()
      waiting = []
    },
    problems: [],
    pay(number) {
      const trade = fake.trades.get(number)
      if (!trade) throw new Error(`no trade ${number}`)
      trade.state = 'paid'
    },
    notify: (number, change = {}) => notify(fake, number, change),
    async post(url, { headers, body }) {
      const response = await fetch(url, { method: 'POST', headers, body })
      return { status: response.status, body: await response.text() }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
  return fake
}
