// Bans of links and hosts, and reports by visitors: their limits and reasons.
import type { Text } from './text.ts'

export const banLimits = {
  hosts: 10_000,
  noteLength: 200,
} as const

export const reportReasons = {
  fraud: { zh: '诈骗、钓鱼', en: 'Fraud or phishing' },
  malware: { zh: '病毒、恶意软件', en: 'Malware' },
  illegal: { zh: '违法内容', en: 'Illegal content' },
  spam: { zh: '垃圾信息', en: 'Spam' },
  other: { zh: '其他', en: 'Other' },
} as const satisfies Record<string, Text>

export type ReportReason = keyof typeof reportReasons

export function isReportReason(text: string): text is ReportReason {
  return Object.hasOwn(reportReasons, text)
}

export const reportStates = ['open', 'banned', 'dismissed'] as const

export const reportDecisions = ['ban_link', 'ban_host', 'dismiss'] as const
export type ReportDecision = (typeof reportDecisions)[number]

export const reportLimits = {
  addressLength: 2_048,
  detailsLength: 1_000,
  contactLength: 200,
  /** Of one network, in ten minutes. */
  perNetwork: 5,
  /** The same of an IPv6 /48. */
  perSite: 20,
  windowMs: 600_000,
  /** Of one address; further ones are accepted and not stored. */
  openPerAddress: 20,
  open: 10_000,
  decidedKeepDays: 180,
  openKeepDays: 365,
} as const

/** The answer to a target on a banned host. */
export const bannedTarget: Text = { zh: '目标地址被平台禁止', en: 'The target is banned by the platform' }
