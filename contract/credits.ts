// The four credit types, their names and prices.
import type { Text } from './text.ts'

export const apiTypes = ['short_link', 'sms', 'id_verification', 'domain_check'] as const

export type ApiType = (typeof apiTypes)[number]

export const apiTypeNames: Readonly<Record<ApiType, Text>> = {
  short_link: { zh: '短链接', en: 'Short links' },
  sms: { zh: '短信', en: 'SMS' },
  id_verification: { zh: '身份核验', en: 'Identity verification' },
  domain_check: { zh: '域名检测', en: 'Domain check' },
}

export function isApiType(value: string): value is ApiType {
  return (apiTypes as readonly string[]).includes(value)
}

/** Credits per call; for SMS per billed part, for domain checks per URL. */
export const prices = {
  generate: 1,
  execute_update: 1,
  sms_part: 1,
  identity: 1,
  domain: 1,
} as const

export type PriceName = keyof typeof prices

export type Prices = Readonly<Record<PriceName, number>>

export const priceNames = Object.keys(prices) as readonly PriceName[]

export const priceTexts: Readonly<Record<PriceName, Text>> = {
  generate: { zh: '生成短链接', en: 'Create a short link' },
  execute_update: { zh: '更换短链接地址', en: 'Refresh the addresses of a link' },
  sms_part: { zh: '短信（每条计费短信）', en: 'SMS, per billed part' },
  identity: { zh: '身份核验', en: 'Identity verification' },
  domain: { zh: '域名检测（每个网址）', en: 'Domain check, per URL' },
}

export const maxPrice = 999_999

/** The periods of caps on the credits that an account may use. */
export const capPeriods = ['day', 'month'] as const

export type CapPeriod = (typeof capPeriods)[number]

/** Larger grants are mistakes; the sum of many stays far below 2^53. */
export const maxGrant = 1_000_000_000
