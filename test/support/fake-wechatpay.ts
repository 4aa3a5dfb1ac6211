// A fake WeChat Pay: Native payments, queries, refunds, bills and encrypted notifications.
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { wechatpayBill } from './fake-bills.ts'
import {
  emptyTrade,
  type FakeProvider,
  merchant,
  sign,
  startFake,
  stranger,
  type Trade,
  vendor,
  verify,
} from './fake-payments.ts'

export const apiV3Key = '0123456789abcdef0123456789ABCDEF'
export const publicKeyId = 'PUB_KEY_ID_0111111111112026010200000001'
export const mchId = '1900000001'
const wxAppId = 'wx0000000000000001'

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
        const paid = trade.refunds.size > 0 ? 'REFUND' : 'SUCCESS'
        return answer(200, {
          ...transaction(number, trade),
          trade_state: isPaid ? paid : trade.state === 'closed' ? 'CLOSED' : 'NOTPAY',
        })
      }
      if (request.method === 'POST') {
        // Errors are not signed.
        if (fake.fault === 'refund_refused') return answer(403, { code: 'USER_ACCOUNT_ABNORMAL' })
        if (fake.fault === 'refund_waits') return answer(403, { code: 'NOT_ENOUGH' })
        const made = trade!.refunds.get(content.out_refund_no!)
        if (made !== undefined && made !== content.amount!.refund)
          return answer(400, { code: 'INVALID_REQUEST' })
        trade!.refunds.set(content.out_refund_no!, content.amount!.refund)
        if (fake.fault === 'silent_refund') return
        return answer(200, {
          out_refund_no: content.out_refund_no,
          refund_id: `wx${content.out_refund_no}`,
          status: 'PROCESSING',
          amount: { ...content.amount, currency: 'CNY' },
        })
      }
      const refundNumber = url.split('/').at(-1)!
      const known = [...fake.trades.values()].find(({ refunds }) => refunds.has(refundNumber))
      const status =
        fake.fault === 'refund_closed' ? 'CLOSED' : fake.fault === 'refund_abnormal' ? 'ABNORMAL' : 'SUCCESS'
      const amount = { total: known?.amount, refund: known?.refunds.get(refundNumber), currency: 'CNY' }
      return known
        ? answer(200, { out_refund_no: refundNumber, refund_id: `wx${refundNumber}`, status, amount })
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

const transaction = (number: string, trade: Trade, currency = 'CNY') => ({
  mchid: mchId,
  appid: wxAppId,
  out_trade_no: number,
  transaction_id: `42${number}`,
  trade_type: 'NATIVE',
  amount: { total: trade.amount, payer_total: trade.amount, currency },
})
