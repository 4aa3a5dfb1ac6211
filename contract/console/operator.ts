// Operator pages: overview, accounts, redeem codes, audit log, settings. Account holders get `forbidden`.
import { type Static, Type } from 'typebox'
import { maxAccountRate, maxRedeemBatchSize } from './limits.ts'
import {
  amount,
  apiType,
  dayRange,
  Empty,
  note,
  Noted,
  optionalDay,
  optionalText,
  order,
  page,
  PageQuery,
  password,
  slice,
  username,
} from './fields.ts'
import { type CsvFile, type Day, type Moment, type Page, route, type Slice } from './route.ts'
import type { ApiType } from '../credits.ts'
import type { EndpointName } from './home.ts'
import type { AccountFacts, Balance } from './session.ts'

export interface Overview {
  readonly now: Moment
  readonly version: string
  readonly started_at: Moment
  readonly engine: 'sqlite' | 'postgres'
  readonly accounts: { readonly total: number; readonly active_7d: number; readonly suspended: number }
  /** Today so far and the days before, today last. */
  readonly days: readonly {
    readonly day: Day
    readonly calls: Readonly<Record<EndpointName, number>>
    readonly total: number
    readonly succeeded: number
    /** Failures the caller did not cause: 1005 and 5000. */
    readonly our_errors: number
  }[]
  /** Of the newest 5,000 calls of the last 15 minutes; endpoints without calls are left out. */
  readonly latency: readonly {
    readonly endpoint: EndpointName
    readonly calls: number
    readonly p50_ms: number
    readonly p95_ms: number
    readonly p99_ms: number
  }[]
  /** Last 30 days: granted (adjustments included) and used (minus refunds). */
  readonly credits: readonly { readonly api_type: ApiType; readonly sold: number; readonly used: number }[]
  readonly operations: { readonly open: number; readonly overdue: number; readonly oldest_at: Moment | null }
  readonly errors: readonly {
    readonly endpoint: EndpointName
    readonly code: number
    readonly count: number
  }[]
  /** Of the file system of DATA_DIR. */
  readonly disk: {
    readonly free_bytes: number
    readonly total_bytes: number
    readonly database_bytes: number
  }
  readonly request_log: { readonly waiting: number; readonly dropped: number }
  readonly gateways: readonly {
    readonly group: 'sms' | 'identity' | 'domain_check'
    readonly names: readonly string[]
    /** Those whose circuit breaker is not closed. */
    readonly down?: readonly string[]
  }[]
}

export interface AccountRow extends AccountFacts {
  readonly balances: readonly Balance[]
  readonly last_call_at: Moment | null
}

export interface AccountDetail extends AccountRow {
  /** Null when the platform's limit applies. */
  readonly rate_limit: AccountRateLimit | null
  readonly platform_rate_limit: AccountRateLimit | null
  readonly calls_7d: number
  readonly failed_7d: number
  readonly sessions: number
}

export interface CreatedAccount {
  readonly account: AccountDetail
  /** Shown only in this response. */
  readonly password: string
}

export interface RedeemBatch {
  readonly id: number
  readonly api_type: ApiType
  readonly amount: number
  readonly count: number
  readonly redeemed: number
  readonly revoked: number
  readonly expires_on: Day | null
  readonly note: string
  readonly created_by: string
  readonly created_at: Moment
}

export interface CreatedRedeemBatch {
  readonly batch: RedeemBatch
  /** The whole codes. Only their hashes are stored. */
  readonly codes: readonly string[]
}

export interface RedeemCodeRow {
  readonly id: number
  /** `TG-AB••-••••-••••-••YZ` */
  readonly hint: string
  readonly state: 'unused' | 'redeemed' | 'revoked'
  readonly redeemed_by: string | null
  readonly redeemed_at: Moment | null
  readonly revoked_at: Moment | null
}

export interface AuditEntry {
  readonly id: number
  readonly at: Moment
  /** The operator's user name, or `cli` for the command line. */
  readonly actor: string
  /** `account.create`, `credits.grant` … */
  readonly action: string
  /** What was changed: a user name, a batch number. */
  readonly target: string
  readonly note: string
  /** What changed, as `name: value`; never a secret. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>
}

export interface SettingInForce {
  readonly name: string
  readonly text: string
  /** Null for secrets and for what is not set. */
  readonly value: string | null
  readonly secret: boolean
  /** Whether it was set, not what it was set to. */
  readonly is_set: boolean
}

const operatorAccounts = '/operator/accounts'
const redeemBatches = '/operator/redeem-batches'

/** `q` is a part of the user name, or an id. */
export const AccountQuery = Type.Object({
  ...page,
  q: optionalText,
  state: Type.Optional(Type.Enum(['active', 'expired', 'suspended', 'operator'])),
  sort: Type.Optional(Type.Enum(['created', 'username', 'expires'])),
  order,
})
export type AccountQuery = Static<typeof AccountQuery>

/** The password is generated when left out. */
const NewAccount = Type.Object({
  username,
  password: Type.Optional(password),
  expires_on: optionalDay,
  credits: Type.Optional(
    Type.Object({
      short_link: Type.Optional(amount),
      sms: Type.Optional(amount),
      id_verification: Type.Optional(amount),
      domain_check: Type.Optional(amount),
    }),
  ),
  note,
})

const rate = Type.Integer({ minimum: 1, maximum: maxAccountRate })

const AccountRateLimit = Type.Object({ per_second: rate, burst: rate })
export type AccountRateLimit = Static<typeof AccountRateLimit>

/** A field that is left out does not change; null removes the value. */
export const AccountChange = Type.Object({
  expires_on: optionalDay,
  suspended: Type.Optional(Type.Boolean()),
  sms_enabled: Type.Optional(Type.Boolean()),
  sign_name: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
  rate_limit: Type.Optional(
    Type.Union([AccountRateLimit, Type.Null()], {
      problem: { zh: '须为两个正整数：每秒与突发', en: 'Must be two whole numbers: a second, and burst' },
    }),
  ),
  note,
})
export type AccountChange = Static<typeof AccountChange>

const CreditChange = Type.Object({
  api_type: apiType,
  direction: Type.Enum(['grant', 'take']),
  amount,
  note,
})

const NewRedeemBatch = Type.Object({
  api_type: apiType,
  amount,
  count: Type.Integer({ minimum: 1, maximum: maxRedeemBatchSize }),
  expires_on: optionalDay,
  note,
})

const RedeemCodeQuery = Type.Object({
  ...page,
  state: Type.Optional(Type.Enum(['unused', 'redeemed', 'revoked'])),
})

const auditText = Type.Optional(Type.String({ maxLength: 100 }))

export const AuditFilter = Type.Object({
  ...dayRange,
  actor: auditText,
  action: auditText,
  target: auditText,
})
export type AuditFilter = Static<typeof AuditFilter>

export const operatorRoutes = {
  overview: route('GET', '/operator/overview', Empty).returns<Overview>(),

  accounts: route('GET', operatorAccounts, AccountQuery).returns<Page<AccountRow>>(),
  account: route('GET', `${operatorAccounts}/:id`, Empty).returns<AccountDetail>(),
  createAccount: route('POST', operatorAccounts, NewAccount).returns<CreatedAccount>(),
  changeAccount: route('PATCH', `${operatorAccounts}/:id`, AccountChange).returns<AccountDetail>(),
  /** Generates a password, shown only in this response, and ends the sessions of the account. */
  resetPassword: route('POST', `${operatorAccounts}/:id/password`, Noted).returns<{
    readonly password: string
  }>(),
  changeCredits: route('POST', `${operatorAccounts}/:id/credits`, CreditChange).returns<Balance>(),

  redeemBatches: route('GET', redeemBatches, PageQuery).returns<Page<RedeemBatch>>(),
  makeRedeemBatch: route('POST', redeemBatches, NewRedeemBatch).returns<CreatedRedeemBatch>(),
  redeemBatch: route('GET', `${redeemBatches}/:id`, RedeemCodeQuery).returns<
    Page<RedeemCodeRow> & { readonly batch: RedeemBatch }
  >(),
  /** States and hints; the codes themselves were shown when they were created. */
  redeemBatchCsv: route('GET', `${redeemBatches}/:id/codes.csv`, Empty).returns<CsvFile>(),
  /** Revokes all unused codes of the batch. */
  revokeRedeemBatch: route('POST', `${redeemBatches}/:id/revoke`, Noted).returns<{
    readonly revoked: number
  }>(),
  revokeRedeemCode: route('POST', '/operator/redeem-codes/:id/revoke', Noted).returns<Empty>(),

  audit: route('GET', '/operator/audit', Type.Object({ ...AuditFilter.properties, ...slice })).returns<
    Slice<AuditEntry>
  >(),
  auditCsv: route('GET', '/operator/audit.csv', AuditFilter).returns<CsvFile>(),

  settings: route('GET', '/operator/settings', Empty).returns<{
    readonly items: readonly SettingInForce[]
  }>(),
} as const
