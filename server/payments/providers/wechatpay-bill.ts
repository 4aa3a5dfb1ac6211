// WeChat Pay's bill of one day: address and digest come in a signed answer, the file is CSV in gzip.
import { download } from '../../upstream/download.ts'
import type { JsonObject } from '../../upstream/json.ts'
import { type Bill, downloadTimeouts, maxBillBytes } from '../bills/bill.ts'
import { gunzip, linesOf, sha1OfGzip } from '../bills/lines.ts'
import { wechatpayRows } from '../bills/rows.ts'

export interface WechatpayBillOptions {
  readonly day: string
  readonly endpoint: string
  readonly timeoutMs: number
  readonly call: (path: string) => Promise<{ readonly body: JsonObject | undefined; readonly reason: string }>
  /** The headers of a signed GET. */
  readonly headers: (path: string) => Readonly<Record<string, string>>
}

export async function fetchWechatpayBill(options: WechatpayBillOptions): Promise<Bill> {
  const answer = await options.call(`/v3/bill/tradebill?bill_date=${options.day}&bill_type=ALL&tar_type=GZIP`)
  if (!answer.body) {
    return answer.reason === 'NO_STATEMENT_EXIST'
      ? { kind: 'none' }
      : { kind: 'unknown', reason: answer.reason }
  }
  const { download_url: given, hash_type: hashType, hash_value: hash } = answer.body
  const url = typeof given === 'string' ? URL.parse(given) : null
  if (url === null || hashType !== 'SHA1' || typeof hash !== 'string') {
    return { kind: 'unknown', reason: 'unknown_answer' }
  }
  // Only the configured host ever gets a signature of ours.
  const path = url.pathname + url.search
  const limits = { timeoutMs: options.timeoutMs * downloadTimeouts, maxBytes: maxBillBytes }
  const file = await download(options.endpoint + path, options.headers(path), limits)
  if (file.kind === 'failed') return { kind: 'unknown', reason: file.reason }
  // The file has no signature; its digest was in the signed answer.
  const digest = await sha1OfGzip(file.bytes).catch(() => undefined)
  if (digest !== hash.toLowerCase()) return { kind: 'unknown', reason: 'wrong_digest' }
  return { kind: 'rows', rows: wechatpayRows(linesOf(gunzip(file.bytes), 'utf-8')) }
}
