// What an API key may do. Every operation of an endpoint names the scope it needs.
import type { Text } from './text.ts'

export const scopes = [
  'short_link:read',
  'short_link:write',
  'sms:read',
  'sms:write',
  'id_verification:write',
  'domain_check:write',
] as const

export type Scope = (typeof scopes)[number]

export const scopeNames: Readonly<Record<Scope, Text>> = {
  'short_link:read': { zh: '查询短链接', en: 'Read short links' },
  'short_link:write': { zh: '生成、修改和查询短链接', en: 'Create, change and read short links' },
  'sms:read': {
    zh: '查询短信记录、模板和额度',
    en: 'Read messages, templates and credits',
  },
  'sms:write': { zh: '发送短信和查询', en: 'Send messages and read' },
  'id_verification:write': { zh: '身份核验', en: 'Verify identities' },
  'domain_check:write': { zh: '域名检测', en: 'Check domains' },
}

/** Addresses and ranges that a key may be limited to. */
export const maxAllowedAddresses = 100

export function isScope(value: string): value is Scope {
  return (scopes as readonly string[]).includes(value)
}

/** `write` includes `read`. */
export function includesScope(granted: readonly string[], needed: Scope): boolean {
  return granted.includes(needed) || granted.includes(needed.replace(/:read$/, ':write'))
}
