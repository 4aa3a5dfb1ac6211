// Fake payment providers on loopback: they verify every request with real keys and sign every answer and notification.
import {
  createCipheriv,
  createHash,
  createHmac,
  createSign,
  createVerify,
  generateKeyPairSync,
  randomBytes,
} from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { alipayBill, type FakeBillRow, stripeList, wechatpayBill } from './fake-bills.ts'

const newKeys = () =>
  generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

export const merchant = newKeys()
export const vendor = newKeys()
export const stranger = newKeys()

export const apiV3Key = '0123456789abcdef0123456789ABCDEF'
export const publicKeyId = 'PUB_KEY_ID_0111111111112026010200000001'
export const webhookSecret = 'whsec_test_0123456789abcdef0123456789abcdef'
export const appId = '2021000000000001'
export const mchId = '1900000001'
const wxAppId = 'wx0000000000000001'

const sign = (text: string, key: string) => createSign('RSA-SHA256').update(text).sign(key, 'base64')
const verify = (text: string, signature: string) =>
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

/** How the provider misbehaves from now on. */
export type Fault =
  | 'none'
  | 'down'
  | 'silent'
  | 'nonsense'
  | 'unsigned'
  | 'error'
  | 'silent_refund'
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

async function startFake(
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

const yuan = (minor: number) => `${Math.floor(minor / 100)}.${String(minor % 100).padStart(2, '0')}`
const fen = (text: string) => Number(text.replace('.', ''))

const textOf = (fields: Record<string, string>) =>
  Object.keys(fields)
    .filter((name) => name !== 'sign')
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&')

export function startAlipay(): Promise<FakeProvider> {
  return startFake(
    (fake, request, body, response) => {
      const url = new URL(request.url!, 'http://localhost')
      if (url.pathname === '/bill') {
        const rows = fake.bills.get(url.searchParams.get('day')!) ?? []
        return void response.end(fake.fault === 'bad_bill' ? 'PK' : alipayBill(rows))
      }
      const fields = Object.fromEntries([...url.searchParams, ...new URLSearchParams(body)])
      if (!verify(textOf(fields), fields['sign'] ?? ''))
        fake.problems.push(`signature of ${fields['method']}`)
      const content = JSON.parse(fields['biz_content'] ?? '{}') as Record<string, string>
      const number = content['out_trade_no']!
      const trade = fake.trades.get(number)
      const node = `${fields['method']!.replaceAll('.', '_')}_response`
      const answer = (value: Record<string, string>) => {
        const raw = JSON.stringify(value).replaceAll('/', '\\/')
        const signed =
          fake.fault === 'unsigned' ? sign(raw, stranger.privateKey) : sign(raw, vendor.privateKey)
        response.setHeader('content-type', 'text/html;charset=utf-8')
        response.end(
          fake.fault === 'sign_last'
            ? `{"${node}":${raw},"sign":"${signed}"}`
            : `{"sign":"${signed}","${node}":${raw}}`,
        )
      }
      const ok = { code: '10000', msg: 'Success' }
      const notExist = { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.TRADE_NOT_EXIST' }
      switch (fields['method']) {
        case 'alipay.trade.precreate':
          fake.trades.set(number, {
            amount: fen(content['total_amount']!),
            currency: 'CNY',
            state: 'open',
            refunds: new Map(),
            session: '',
          })
          return answer({ ...ok, out_trade_no: number, qr_code: `https://qr.alipay.com/${number}` })
        case 'alipay.trade.query': {
          if (!trade || trade.state === 'open' || fake.fault === 'lies_unpaid') return answer(notExist)
          const status = trade.state === 'paid' ? 'TRADE_SUCCESS' : 'TRADE_CLOSED'
          const total = yuan(trade.amount)
          return answer({
            ...ok,
            out_trade_no: number,
            trade_no: `ali${number}`,
            trade_status: status,
            total_amount: total,
          })
        }
        case 'alipay.trade.close':
          return answer(notExist)
        case 'alipay.trade.refund': {
          if (!trade) return answer(notExist)
          const known = trade.refunds.has(content['out_request_no']!)
          trade.refunds.set(content['out_request_no']!, fen(content['refund_amount']!))
          if (fake.fault === 'silent_refund') return
          return answer({
            ...ok,
            out_trade_no: number,
            fund_change: known ? 'N' : 'Y',
            refund_fee: content['refund_amount']!,
          })
        }
        case 'alipay.data.dataservice.bill.downloadurl.query': {
          const day = content['bill_date']!
          if (!fake.bills.has(day)) return answer({ ...notExist, sub_code: 'isp.bill_not_exist' })
          const address = fake.settings['ALIPAY_ENDPOINT']!.replace('/gateway.do', `/bill?day=${day}`)
          return answer({ ...ok, bill_download_url: address })
        }
        case 'alipay.trade.fastpay.refund.query': {
          const done = trade?.refunds.has(content['out_request_no']!)
          return answer({ ...ok, out_trade_no: number, ...(done && { refund_status: 'REFUND_SUCCESS' }) })
        }
        default:
          fake.problems.push(`method ${fields['method']}`)
          return answer({ code: '40002', msg: 'bad' })
      }
    },
    (url) => ({
      ALIPAY_APP_ID: appId,
      ALIPAY_PRIVATE_KEY: merchant.privateKey,
      ALIPAY_PUBLIC_KEY: vendor.publicKey,
      ALIPAY_ENDPOINT: `${url}/gateway.do`,
    }),
    (fake, number, change) => {
      const trade = fake.trades.get(number)
      const fields: Record<string, string> = {
        notify_time: '2026-01-02 11:04:42',
        notify_type: 'trade_status_sync',
        notify_id: number,
        app_id: change.merchant ?? appId,
        charset: 'utf-8',
        version: '1.0',
        trade_no: `ali${number}`,
        out_trade_no: number,
        trade_status: 'TRADE_SUCCESS',
        total_amount: yuan(change.amount ?? trade?.amount ?? 0),
        seller_id: '2088000000000001',
        passback_params: 'a%3D1 +',
        ...(change.currency !== undefined && { trans_currency: change.currency }),
      }
      const signature = sign(textOf(fields), change.key ?? vendor.privateKey)
      const body = new URLSearchParams({ ...fields, sign: signature, sign_type: 'RSA2' }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded; text/html; charset=utf-8' }
      return { headers, body: change.cut ? body.slice(0, -40) : body }
    },
  )
}

function wechatHeaders(body: string, key: string, ageS = 0): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageS)
  const nonce = randomBytes(16).toString('hex')
  return {
    'wechatpay-timestamp': timestamp,
    'wechatpay-nonce': nonce,
    'wechatpay-serial': publicKeyId,
    'wechatpay-signature': sign(`${timestamp}\n${nonce}\n${body}\n`, key),
  }
}

export function startWechatpay(): Promise<FakeProvider> {
  return startFake(
    (fake, request, body, response) => {
      const header = request.headers.authorization ?? ''
      const part = (name: string) => new RegExp(`${name}="([^"]+)"`).exec(header)?.[1] ?? ''
      const message = [request.method, request.url, part('timestamp'), part('nonce_str'), body, ''].join('\n')
      if (!verify(message, part('signature')) || part('mchid') !== mchId)
        fake.problems.push(`signature of ${request.url}`)
      const answer = (status: number, value?: unknown) => {
        const text = value === undefined ? '' : JSON.stringify(value)
        const key = fake.fault === 'unsigned' ? stranger.privateKey : vendor.privateKey
        response.writeHead(status, status < 300 ? wechatHeaders(text, key) : {}).end(text)
      }
      const content = (body === '' ? {} : JSON.parse(body)) as {
        out_trade_no?: string
        out_refund_no?: string
        amount?: { total: number; refund: number }
      }
      const url = request.url!
      if (url.startsWith('/v3/bill')) {
        const { pathname, searchParams } = new URL(url, 'http://localhost')
        const day = searchParams.get('bill_date') ?? ''
        const rows = fake.bills.get(day)
        if (!rows) return answer(400, { code: 'NO_STATEMENT_EXIST', message: 'none' })
        const { file, content: plain } = wechatpayBill(rows)
        if (pathname === '/v3/billdownload/file') {
          return void response.end(fake.fault === 'bad_bill' ? wechatpayBill([]).file : file)
        }
        const hash = createHash('sha1').update(plain).digest('hex')
        // The host is WeChat Pay's own; the path is what counts.
        const address = `https://api.mch.weixin.qq.com/v3/billdownload/file?bill_date=${day}`
        return answer(200, { hash_type: 'SHA1', hash_value: hash, download_url: address })
      }
      if (url === '/v3/pay/transactions/native') {
        fake.trades.set(content.out_trade_no!, {
          amount: content.amount!.total,
          currency: 'CNY',
          state: 'open',
          refunds: new Map(),
          session: '',
        })
        return answer(200, { code_url: `weixin://wxpay/bizpayurl?pr=${content.out_trade_no}` })
      }
      const number = /out-trade-no\/(\w+)/.exec(url)?.[1] ?? content.out_trade_no ?? ''
      const trade = fake.trades.get(number)
      if (url.endsWith('/close')) {
        if (trade?.state === 'open') trade.state = 'closed'
        return answer(204)
      }
      if (url.startsWith('/v3/pay/')) {
        if (!trade) return answer(404, { code: 'ORDER_NOT_EXIST', message: 'none' })
        const isPaid = trade.state === 'paid' && fake.fault !== 'lies_unpaid'
        return answer(200, {
          ...transaction(number, trade),
          trade_state: isPaid ? 'SUCCESS' : trade.state === 'closed' ? 'CLOSED' : 'NOTPAY',
        })
      }
      if (request.method === 'POST') {
        trade!.refunds.set(content.out_refund_no!, content.amount!.refund)
        if (fake.fault === 'silent_refund') return
        return answer(200, {
          out_refund_no: content.out_refund_no,
          refund_id: `wx${content.out_refund_no}`,
          status: 'PROCESSING',
        })
      }
      const refundNumber = url.split('/').at(-1)!
      const isKnown = [...fake.trades.values()].some(({ refunds }) => refunds.has(refundNumber))
      return isKnown
        ? answer(200, { out_refund_no: refundNumber, refund_id: `wx${refundNumber}`, status: 'SUCCESS' })
        : answer(404, { code: 'RESOURCE_NOT_EXISTS', message: 'none' })
    },
    (url) => ({
      WECHATPAY_MCH_ID: mchId,
      WECHATPAY_APP_ID: wxAppId,
      WECHATPAY_SERIAL: '444F4864EA9B34415C1D2E3F405162738495A6B7',
      WECHATPAY_PRIVATE_KEY: merchant.privateKey,
      WECHATPAY_API_V3_KEY: apiV3Key,
      WECHATPAY_PUBLIC_KEY_ID: publicKeyId,
      WECHATPAY_PUBLIC_KEY: vendor.publicKey,
      WECHATPAY_ENDPOINT: url,
    }),
    (fake, number, change) => {
      const trade = {
        ...(fake.trades.get(number) ?? emptyTrade),
        ...(change.amount !== undefined && { amount: change.amount }),
      }
      const plain = JSON.stringify({
        ...transaction(number, trade, change.currency),
        mchid: change.merchant ?? mchId,
        trade_state: 'SUCCESS',
      })
      const nonce = 'fdasfjihihi1'
      const cipher = createCipheriv('aes-256-gcm', apiV3Key, nonce)
      cipher.setAAD(Buffer.from('transaction'))
      const ciphertext = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      const body = JSON.stringify({
        id: `EV-${number}`,
        resource_type: 'encrypt-resource',
        event_type: 'TRANSACTION.SUCCESS',
        resource: {
          original_type: 'transaction',
          algorithm: 'AEAD_AES_256_GCM',
          ciphertext: ciphertext.toString('base64'),
          associated_data: 'transaction',
          nonce,
        },
      })
      const headers = wechatHeaders(body, change.key ?? vendor.privateKey, change.ageS)
      return {
        headers: { 'content-type': 'application/json', ...headers },
        body: change.cut ? body.slice(0, -9) : body,
      }
    },
  )
}

const emptyTrade: Trade = { amount: 0, currency: 'CNY', state: 'open', refunds: new Map(), session: '' }

const transaction = (number: string, trade: Trade, currency = 'CNY') => ({
  mchid: mchId,
  appid: wxAppId,
  out_trade_no: number,
  transaction_id: `42${number}`,
  trade_type: 'NATIVE',
  amount: { total: trade.amount, payer_total: trade.amount, currency },
})

export function startStripe(): Promise<FakeProvider> {
  const session = (number: string, trade: Trade) => ({
    id: trade.session,
    object: 'checkout.session',
    url: `https://checkout.stripe.com/c/pay/${trade.session}`,
    mode: 'payment',
    client_reference_id: number,
    amount_total: trade.amount,
    currency: trade.currency.toLowerCase(),
    status: trade.state === 'paid' ? 'complete' : trade.state === 'closed' ? 'expired' : 'open',
    payment_status: trade.state === 'paid' ? 'paid' : 'unpaid',
    payment_intent: `pi_${trade.session}`,
  })
  return startFake(
    (fake, request, body, response) => {
      if (request.headers.authorization !== 'Bearer sk_test_0001') fake.problems.push('authorization')
      const fields = Object.fromEntries(new URLSearchParams(body))
      const answer = (status: number, value: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      const url = request.url!
      if (url === '/v1/checkout/sessions') {
        const number = fields['client_reference_id']!
        const trade: Trade = {
          amount: Number(fields['line_items[0][price_data][unit_amount]']),
          currency: fields['line_items[0][price_data][currency]']!.toUpperCase(),
          state: 'open',
          refunds: new Map(),
          session: `cs_test_${number}`,
        }
        fake.trades.set(number, trade)
        return answer(200, session(number, trade))
      }
      const { pathname, searchParams } = new URL(url, 'http://localhost')
      const from = searchParams.get('created[gte]')
      if (from !== null) {
        const day = new Date(Number(from) * 1000 + 8 * 3_600_000).toISOString().slice(0, 10)
        const kind = pathname === '/v1/charges' ? 'charges' : 'refunds'
        if (fake.fault === 'bad_bill') return answer(500, { error: { type: 'api_error' } })
        const all = stripeList(kind, fake.bills.get(day) ?? []) as { id: string }[]
        const after = searchParams.get('starting_after')
        const first = after === null ? 0 : all.findIndex((one) => one.id === after) + 1
        const limit = Number(searchParams.get('limit'))
        return answer(200, {
          data: all.slice(first, first + limit),
          has_more: all.length > first + limit,
        })
      }
      const id = /sessions\/([\w]+)/.exec(url)?.[1] ?? fields['payment_intent']?.slice(3)
      const [number, trade] = [...fake.trades].find(([, one]) => one.session === id) ?? []
      if (!number || !trade) return answer(404, { error: { code: 'resource_missing' } })
      if (url.endsWith('/expire')) {
        if (trade.state === 'open') trade.state = 'closed'
        return answer(200, session(number, trade))
      }
      if (url === '/v1/refunds') {
        const key = String(request.headers['idempotency-key'])
        trade.refunds.set(key, Number(fields['amount']))
        if (fake.fault === 'silent_refund') return
        return answer(200, { id: `re_${key}`, status: 'succeeded' })
      }
      const shown = fake.fault === 'lies_unpaid' ? { ...trade, state: 'open' as const } : trade
      return answer(200, session(number, shown))
    },
    (url) => ({
      STRIPE_SECRET_KEY: 'sk_test_0001',
      STRIPE_WEBHOOK_SECRET: webhookSecret,
      STRIPE_ENDPOINT: url,
    }),
    (fake, number, change) => {
      const trade = fake.trades.get(number) ?? emptyTrade
      const object = {
        ...session(number, { ...trade, state: 'paid' }),
        amount_total: change.amount ?? trade.amount,
        ...(change.currency !== undefined && { currency: change.currency.toLowerCase() }),
      }
      const body = JSON.stringify({
        id: `evt_${number}`,
        type: 'checkout.session.completed',
        livemode: change.merchant !== undefined,
        data: { object },
      })
      const timestamp = Math.floor(Date.now() / 1000) - (change.ageS ?? 0)
      const secret = change.key === undefined ? webhookSecret : 'whsec_other'
      const signature = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')
      const headers = {
        'content-type': 'application/json',
        'stripe-signature': `t=${timestamp},v1=${signature}`,
      }
      return { headers, body: change.cut ? body.slice(0, -9) : body }
    },
  )
}
