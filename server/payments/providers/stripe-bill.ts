// What Stripe received and refunded on one day: the lists of charges and refunds, page by page.
import { endOfDay, startOfDay } from '../../../contract/time.ts'
import { isRecord } from '../../../contract/values.ts'
import { idText, type JsonObject, valueAt } from '../../upstream/json.ts'
import { type Bill, type BillRow, BillProblem } from '../bills/bill.ts'

/** Small enough that a page stays below the limit of an answer. */
const pageSize = 25
/** More than a million a day. */
const maxPages = 50_000

export type StripeGet = (
  path: string,
) => Promise<{ readonly body: JsonObject | undefined; readonly reason: string }>

export async function fetchStripeBill(day: string, get: StripeGet): Promise<Bill> {
  const [start, end] = [startOfDay(day) ?? 0, endOfDay(day) ?? 0]
  const range = `created[gte]=${start / 1000}&created[lt]=${end / 1000}`
  return { kind: 'rows', rows: rowsOf(range, get) }
}

async function* rowsOf(range: string, get: StripeGet): AsyncGenerator<BillRow> {
  for await (const charge of listAll('/v1/charges', range, get)) {
    if (charge['paid'] !== true || charge['status'] !== 'succeeded') continue
    yield {
      kind: 'payment',
      orderNumber: idText(valueAt(charge, 'metadata.order')) ?? '',
      tradeNumber: idText(charge['payment_intent']) ?? '',
      refundNumber: '',
      ...amountOf(charge),
    }
  }
  for await (const refund of listAll('/v1/refunds', `${range}&expand[0]=data.charge`, get)) {
    if (refund['status'] === 'failed' || refund['status'] === 'canceled') continue
    yield {
      kind: 'refund',
      orderNumber: idText(valueAt(refund, 'charge.metadata.order')) ?? '',
      tradeNumber: idText(refund['payment_intent']) ?? '',
      refundNumber: idText(valueAt(refund, 'metadata.refund')) ?? '',
      ...amountOf(refund),
    }
  }
}

function amountOf({ amount, currency }: JsonObject): Pick<BillRow, 'amount' | 'currency'> {
  return {
    amount: typeof amount === 'number' && Number.isSafeInteger(amount) ? amount : -1,
    currency: typeof currency === 'string' ? currency.toUpperCase() : '',
  }
}

async function* listAll(path: string, query: string, get: StripeGet): AsyncGenerator<JsonObject> {
  let after = ''
  for (let page = 0; page < maxPages; page += 1) {
    const { body, reason } = await get(`${path}?limit=${pageSize}&${query}${after}`)
    const items: unknown = body?.['data']
    if (!Array.isArray(items)) throw new BillProblem(reason)
    for (const item of items) if (isRecord(item)) yield item
    if (body?.['has_more'] !== true) return
    const last = idText(valueAt(items.at(-1), 'id'))
    if (last === undefined) throw new BillProblem('no_id')
    after = `&starting_after=${encodeURIComponent(last)}`
  }
  throw new BillProblem('too_large')
}
