// The rows of the bills of Alipay and WeChat Pay: CSV without quotes, in which names of goods may contain commas.
import { parseMinor } from '../../../contract/payments.ts'
import { type BillRow, BillProblem } from './bill.ts'

type ReadCell = (cells: readonly string[], title: string) => string

/** Finds a cell by the title of its column. Cells after the one with free text are counted from the end. */
function cellReader(titles: readonly string[], freeText: string): ReadCell {
  const free = titles.indexOf(freeText)
  return (cells, title) => {
    const index = titles.indexOf(title)
    if (index === -1) return ''
    const isAfter = free !== -1 && index > free
    return cells[isAfter ? cells.length - titles.length + index : index] ?? ''
  }
}

const hasAll = (titles: readonly string[], ...wanted: readonly string[]) =>
  wanted.every((title) => titles.includes(title))

const clean = (text: string) => text.replaceAll(/[\t\uFEFF]/g, '').trim()

/** `-12.30` in a refund is 1230. */
const amountOf = (text: string) => parseMinor(text.replace(/^-/, '')) ?? -1

/** 业务明细: comments begin with #. Files without the columns of payments, such as the sums, have no rows. */
export async function* alipayRows(lines: AsyncIterable<string>): AsyncGenerator<BillRow> {
  let cell: ReadCell | undefined
  for await (const line of lines) {
    if (line.startsWith('#') || line.trim() === '') continue
    const cells = line.split(',').map(clean)
    if (!cell) {
      const titles = cells.map((title) => title.replaceAll('(', '（').replaceAll(')', '）'))
      if (!hasAll(titles, '支付宝交易号', '商户订单号', '业务类型', '订单金额（元）')) return
      cell = cellReader(titles, '商品名称')
      continue
    }
    const type = cell(cells, '业务类型')
    if (type !== '交易' && type !== '退款') continue
    const isRefund = type === '退款'
    yield {
      kind: isRefund ? 'refund' : 'payment',
      orderNumber: cell(cells, '商户订单号'),
      tradeNumber: cell(cells, '支付宝交易号'),
      refundNumber: isRefund ? cell(cells, '退款批次号/请求号') : '',
      amount: amountOf(cell(cells, '订单金额（元）')),
      currency: 'CNY',
    }
  }
}

/** 交易账单 ALL: a grave accent before every value, and sums at the end. */
export async function* wechatpayRows(lines: AsyncIterable<string>): AsyncGenerator<BillRow> {
  let cell: ReadCell | undefined
  for await (const line of lines) {
    if (!cell) {
      const titles = line.split(',').map(clean)
      if (!hasAll(titles, '微信订单号', '商户订单号', '交易状态', '货币种类')) {
        throw new BillProblem('unknown_columns')
      }
      cell = cellReader(titles, '商品名称')
      continue
    }
    // The titles of the sums have no accent.
    if (!line.startsWith('`')) return
    const cells = line.slice(1).split(',`').map(clean)
    const state = cell(cells, '交易状态')
    if (state !== 'SUCCESS' && state !== 'REFUND') continue
    const isRefund = state === 'REFUND'
    if (isRefund && cell(cells, '退款状态') === 'FAIL') continue
    yield {
      kind: isRefund ? 'refund' : 'payment',
      orderNumber: cell(cells, '商户订单号'),
      tradeNumber: cell(cells, '微信订单号'),
      refundNumber: isRefund ? cell(cells, '商户退款单号') : '',
      amount: amountOf(
        isRefund
          ? cell(cells, '申请退款金额') || cell(cells, '退款金额')
          : cell(cells, '订单金额') || cell(cells, '应结订单金额'),
      ),
      currency: cell(cells, '货币种类'),
    }
  }
}
