// The roles of operators, the areas of their console, and which role may read or change which area.
import type { Text } from '../text.ts'

export const operatorRoles = ['owner', 'finance', 'support', 'auditor'] as const

export type OperatorRole = (typeof operatorRoles)[number]

export const roleTexts: Readonly<Record<OperatorRole, { readonly name: Text; readonly text: Text }>> = {
  owner: {
    name: { zh: '所有者', en: 'Owner' },
    text: { zh: '全部权限，包括角色与令牌', en: 'Everything, including roles and tokens' },
  },
  finance: {
    name: { zh: '财务', en: 'Finance' },
    text: { zh: '额度、兑换码、订单与套餐', en: 'Credits, redeem codes, orders and packages' },
  },
  support: {
    name: { zh: '客服', en: 'Support' },
    text: {
      zh: '查看账户、以账户视角查看、审核与举报',
      en: 'Reads accounts, views as an account, reviews and reports',
    },
  },
  auditor: {
    name: { zh: '审计', en: 'Auditor' },
    text: { zh: '只读', en: 'Reads everything, changes nothing' },
  },
}

export interface OperatorArea {
  readonly text: Text
  /** Routes whose paths start with one of these belong to the area; the longest one counts. */
  readonly paths: readonly string[]
  /** Owners may do everything, auditors read everything. These may read too; who may write may also read. */
  readonly readers: readonly OperatorRole[]
  readonly writers: readonly OperatorRole[]
}

/**
 * The one table of rights. A new operator route belongs to an area by its path; a test fails for a route without an area, and
 * until then only owners may use it.
 */
export const operatorAreas = {
  overview: {
    text: { zh: '总览', en: 'Overview' },
    paths: ['/operator/overview', '/operator/waiting'],
    readers: ['finance', 'support'],
    writers: [],
  },
  accounts: {
    text: { zh: '账户', en: 'Accounts' },
    paths: ['/operator/accounts'],
    readers: ['finance', 'support'],
    writers: [],
  },
  credits: {
    text: { zh: '额度', en: 'Credits' },
    paths: ['/operator/accounts/:id/credits'],
    readers: [],
    writers: ['finance'],
  },
  redeem_codes: {
    text: { zh: '兑换码', en: 'Redeem codes' },
    paths: ['/operator/redeem-batches', '/operator/redeem-codes'],
    readers: [],
    writers: ['finance'],
  },
  orders: {
    text: { zh: '订单、套餐、对账单与发票', en: 'Orders, packages, statements and invoices' },
    paths: [
      '/operator/orders',
      '/operator/packages',
      '/operator/payments',
      '/operator/income',
      '/operator/statements',
      '/operator/invoices',
    ],
    readers: [],
    writers: ['finance'],
  },
  reviews: {
    text: { zh: '审核与举报', en: 'Reviews and reports' },
    paths: [
      '/operator/reviews',
      '/operator/proofs',
      '/operator/link-reports',
      '/operator/bans',
      '/operator/replies',
      '/operator/sms',
    ],
    readers: [],
    writers: ['support'],
  },
  domains: {
    text: { zh: '域名池', en: 'Domain pools' },
    paths: ['/operator/domains', '/operator/link-domains'],
    readers: ['support'],
    writers: [],
  },
  gateways: {
    text: { zh: '网关', en: 'Gateways' },
    paths: ['/operator/gateways'],
    readers: ['support'],
    writers: [],
  },
  audit: { text: { zh: '审计日志', en: 'Audit log' }, paths: ['/operator/audit'], readers: [], writers: [] },
  settings: {
    text: { zh: '设置与告警', en: 'Settings and alerts' },
    paths: ['/operator/settings', '/operator/alerts'],
    readers: [],
    writers: [],
  },
  /** New operators, roles and tokens. */
  operators: {
    text: { zh: '角色与令牌', en: 'Roles and tokens' },
    paths: ['/operator/accounts/:id/role', '/operator/operators', '/operator/tokens'],
    readers: [],
    writers: [],
  },
} as const satisfies Readonly<Record<string, OperatorArea>>

export type AreaName = keyof typeof operatorAreas

const areaNames = Object.keys(operatorAreas) as readonly AreaName[]

/** Who may view an account as its holder sees it. */
export const viewers: readonly OperatorRole[] = ['owner', 'support']

/** The area of a route's path as declared, for example `/operator/accounts/:id`. */
export function areaOf(path: string): AreaName | undefined {
  let found: { readonly name: AreaName; readonly length: number } | undefined
  for (const name of areaNames) {
    for (const prefix of operatorAreas[name].paths) {
      const isBelow = path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}.`)
      if (isBelow && prefix.length > (found?.length ?? 0)) found = { name, length: prefix.length }
    }
  }
  return found?.name
}

export type Access = 'read' | 'write'

export function mayAccess(role: OperatorRole, area: AreaName | undefined, access: Access): boolean {
  if (role === 'owner') return true
  if (area === undefined) return false
  const { readers, writers }: OperatorArea = operatorAreas[area]
  if (writers.includes(role)) return true
  return access === 'read' && (role === 'auditor' || readers.includes(role))
}

/** Roles and tokens are managed by people only. */
export type TokenArea = Exclude<AreaName, 'operators'>

export const tokenAreas: readonly TokenArea[] = areaNames.filter((name) => name !== 'operators')

/** Scopes of operator tokens, by area. */
export type TokenScope = `${TokenArea}:${Access}`

export const tokenScopes: readonly TokenScope[] = tokenAreas.flatMap((name): TokenScope[] => [
  `${name}:read`,
  `${name}:write`,
])

export function isTokenScope(value: string): value is TokenScope {
  return (tokenScopes as readonly string[]).includes(value)
}

/** `write` includes `read`. */
export function tokenAllows(scopes: readonly string[], area: AreaName | undefined, access: Access): boolean {
  if (area === undefined || area === 'operators') return false
  return scopes.includes(`${area}:write`) || (access === 'read' && scopes.includes(`${area}:read`))
}
