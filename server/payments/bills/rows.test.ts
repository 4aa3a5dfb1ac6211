// Bills of Alipay and WeChat Pay: names with commas, sums that are no rows, and files that are damaged.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { alipayBill, wechatpayBill } from '../../../test/support/fake-bills.ts'
import { BillProblem, type BillRow } from './bill.ts'
import { gunzip, linesOf, requireIntact, sha1OfGzip, unzip } from './lines.ts'
import { alipayRows, wechatpayRows } from './rows.ts'

const number = 'T20260102030405ABCDEFGHJK'
const rows = [
  { number, amount: 1999, name: '套餐, 标准, 大' },
  { number, amount: 500, refund: `${number}R1` },
]

async function readAlipay(bytes: Buffer): Promise<BillRow[]> {
  const found: BillRow[] = []
  for (const content of unzip(bytes)) {
    for await (const row of alipayRows(linesOf(content, 'gbk'))) found.push(row)
  }
  return found
}

describe('bills', () => {
  it('are read into payments and refunds', async () => {
    const payment = { kind: 'payment', orderNumber: number, refundNumber: '', amount: 1999, currency: 'CNY' }
    const refund = { ...payment, kind: 'refund', refundNumber: `${number}R1`, amount: 500 }
    assert.deepEqual(await readAlipay(alipayBill(rows)), [
      { ...payment, tradeNumber: `ali${number}` },
      { ...refund, tradeNumber: `ali${number}` },
    ])
    const { file } = wechatpayBill(rows)
    assert.deepEqual(await Array.fromAsync(wechatpayRows(linesOf(gunzip(file), 'utf-8'))), [
      { ...payment, tradeNumber: `42${number}` },
      { ...refund, tradeNumber: `42${number}` },
    ])
  })

  it('that are damaged, cut or something else are refused, never half read without an error', async () => {
    const whole = alipayBill(rows)
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from('<html>'),
      Buffer.alloc(30),
      whole.subarray(0, -8),
      whole.subarray(40),
    ]) {
      await assert.rejects(readAlipay(bytes), BillProblem)
    }
    const directory = whole.indexOf('PK\u0001\u0002')
    for (const position of [60, directory - 20, directory + 17]) {
      const damaged = Buffer.from(whole)
      damaged.fill(damaged[position]! ^ 0xff, position, position + 1)
      await assert.rejects(requireIntact(damaged), BillProblem)
    }
    const { file } = wechatpayBill(rows)
    for (const bytes of [file.subarray(0, -12), Buffer.from('nonsense')]) {
      await assert.rejects(sha1OfGzip(bytes), BillProblem)
    }
    const other = gzipSync('<html>\n<body>')
    await assert.rejects(Array.fromAsync(wechatpayRows(linesOf(gunzip(other), 'utf-8'))), BillProblem)
    const endless = gzipSync('x'.repeat(200_000))
    await assert.rejects(Array.fromAsync(linesOf(gunzip(endless), 'utf-8')), BillProblem)
  })
})
