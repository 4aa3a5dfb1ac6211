// A fake Alipay: page and QR payments, queries, refunds, bills and notifications.
import { alipayBill, yuan } from './fake-bills.ts'
import { type FakeProvider, merchant, sign, startFake, stranger, vendor, verify } from './fake-payments.ts'

export const appId = '2021000000000001'

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
          if (fake.fault === 'refund_refused')
            return answer({ ...notExist, sub_code: 'ACQ.TRADE_STATUS_ERROR' })
          const amount = trade.refunds.get(content['out_request_no']!)
          const known = amount !== undefined
          if (known && amount !== fen(content['refund_amount']!))
            return answer({ ...notExist, sub_code: 'ACQ.DISCORDANT_REPEAT_REQUEST' })
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
          const amount = trade?.refunds.get(content['out_request_no']!)
          const done = amount !== undefined && {
            refund_status: 'REFUND_SUCCESS',
            refund_amount: yuan(amount),
          }
          return answer({ ...ok, out_trade_no: number, ...done })
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
