// Own link domains: how an account proves that a host is its own, and the limits.
import { dayMs } from './time.ts'

/** Of every host name, by RFC 1035. */
export const maxHostLength = 253

/** The TXT record of `s.example.com` is at `_tollgate.s.example.com`. */
const txtPrefix = '_tollgate'

export const ownDomainLimits = {
  perAccount: 20,
  /** The record's name has at most `maxHostLength` characters too. */
  hostLength: maxHostLength - txtPrefix.length - 1,
  /** Attempts to verify, per account and minute. */
  attemptsPerMinute: 20,
  /** How often the record of a verified domain is looked up again. */
  recheckMs: dayMs,
  /** A verified domain whose record is missing for this long is no longer verified. */
  missingMs: 3 * dayMs,
  /** Claims that were not verified in this time are deleted. */
  unverifiedKeepDays: 30,
} as const

export function txtRecordOf(host: string, token: string): { txt_name: string; txt_value: string } {
  return { txt_name: `${txtPrefix}.${host}`, txt_value: `tollgate-verify=${token}` }
}
