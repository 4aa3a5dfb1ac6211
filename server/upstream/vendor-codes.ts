// Turns a vendor's error code into an outcome, by the vendor's table. Codes that are not in the table are ambiguous.
import type { Failure } from './outcome.ts'

/**
 * `not_sent` has a cause on our side, `throttled_us` is our rate limit at this vendor, and `not_here` concerns only this template or
 * signature at this vendor.
 */
export type CodeMeaning<RefusalReason extends string> =
  | { readonly refused: RefusalReason }
  | 'throttled_recipient'
  | 'throttled_us'
  | 'not_here'
  | 'not_sent'
  | 'ambiguous'

/** A key that ends in `.*` means all sub-codes. */
export function outcomeOfCode(code: unknown, table: ReadonlyMap<string, CodeMeaning<string>>): Failure {
  if (typeof code !== 'string') return { kind: 'ambiguous', reason: 'no_code' }
  const meaning = table.get(code) ?? table.get(`${code.split('.')[0]}.*`)
  if (meaning === undefined) return { kind: 'ambiguous', reason: 'unlisted_code' }
  if (typeof meaning === 'object') return { kind: 'refused', code, reason: meaning.refused }
  switch (meaning) {
    case 'throttled_recipient':
      return { kind: 'throttled', concerns: 'recipient', reason: code }
    case 'throttled_us':
      return { kind: 'throttled', concerns: 'us', reason: code }
    case 'not_here':
      return { kind: 'not_sent', reason: code, onlyThisRequest: true }
    case 'not_sent':
    case 'ambiguous':
      return { kind: meaning, reason: code }
  }
}
