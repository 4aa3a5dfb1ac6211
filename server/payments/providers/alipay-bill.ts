// Alipay's bill of one day: the address comes in a signed answer, the file is a ZIP archive of CSV files in GBK.
import { download } from '../../upstream/download.ts'
import type { JsonObject } from '../../upstream/json.ts'
import { type Bill, type BillRow, downloadTimeouts, maxBillBytes } from '../bills/bill.ts'
import { linesOf, requireIntact, unzip } from '../bills/lines.ts'
import { alipayRows } from '../bills/rows.ts'
import { storableReason } from '../port.ts'

export interface AlipayBillOptions {
  readonly day: string
  readonly timeoutMs: number
  /** A signed answer, or why there is none. */
  readonly call: (
    method: string,
    content: Readonly<Record<string, string>>,
  ) => Promise<{ readonly fields: JsonObject } | { readonly reason: string }>
}

/** The address is valid for 30 seconds. Nothing is granted because of a bill, so its file needs no signature of its own. */
export async function fetchAlipayBill({ day, timeoutMs, call }: AlipayBillOptions): Promise<Bill> {
  const content = { bill_type: 'trade', bill_date: day }
  const answer = await call('alipay.data.dataservice.bill.downloadurl.query', content)
  if (!('fields' in answer)) return { kind: 'unknown', reason: answer.reason }
  const { code, sub_code: subCode, bill_download_url: url } = answer.fields
  if (code === '40004' && /bill_not_exist$/i.test(String(subCode))) return { kind: 'none' }
  if (code !== '10000' || typeof url !== 'string' || URL.parse(url) === null) {
    return { kind: 'unknown', reason: storableReason(subCode ?? code) }
  }
  const limits = { timeoutMs: timeoutMs * downloadTimeouts, maxBytes: maxBillBytes }
  const file = await download(url, {}, limits)
  if (file.kind === 'failed') return { kind: 'unknown', reason: file.reason }
  return { kind: 'rows', rows: rowsOf(file.bytes) }
}

async function* rowsOf(bytes: Buffer): AsyncGenerator<BillRow> {
  await requireIntact(bytes)
  for (const content of unzip(bytes)) yield* alipayRows(linesOf(content, 'gbk'))
}
