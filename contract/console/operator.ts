// The operator's pages: overview, accounts, redeem codes, audit log, settings. Accounts get `forbidden` from all of them.
import type { ApiType } from '../credits.ts'
import {
  type Day,
  type DayRange,
  type Empty,
  type File,
  type Moment,
  type Noted,
  type Page,
  type PageQuery,
  route,
  type Slice,
  type SliceQuery,
} from './route.ts'
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
    /** Failures that are not the caller's: 1005 and 5000. */
    readonly our_errors: number
  }[]
  /** Over the last 15 minutes, of the newest 5,000 calls at most; null when there were none. */
  readonly latency: readonly {
    readonly endpoint: EndpointName
    readonly calls: number
    readonly p50_ms: number
    readonly p95_ms: number
    readonly p99_ms: number
  }[]
  /** Last 30 days: granted (adjustments included) and used (refunds taken off). */
  readonly credits: readonly { readonly api_type: ApiType; readonly sold: number; readonly used: number }[]
  readonly operations: { readonly open: number; readonly overdue: number; readonly oldest_at: Moment | null }
  readonly errors: readonly {
    readonly endpoint: EndpointName
    readonly code: number
    readonly count: number
  }[]
  /** Of the file system that holds DATA_DIR. */
  readonly disk: {
    readonly free_bytes: number
    readonly total_bytes: number
    readonly database_bytes: number
  }
  readonly request_log: { readonly waiting: number; readonly dropped: number }
  readonly gateways: readonly {
    readonly group: 'sms' | 'identity' | 'domain_check'
    readonly names: readonly string[]
    /** Those of them that are left alone right now, because they keep failing. */
    readonly down?: readonly string[]
  }[]
}

export interface AccountQuery extends PageQuery {
  /** Part of the user name, or an id. */
  readonly q?: string
  readonly state?: 'active' | 'expired' | 'suspended' | 'operator'
  readonly sort?: 'created' | 'username' | 'expires'
  readonly order?: 'asc' | 'desc'
}

export interface AccountRow extends AccountFacts {
  readonly balances: readonly Balance[]
  readonly last_call_at: Moment | null
}

export interface AccountRateLimit {
  readonly per_second: number
  readonly burst: number
}

export interface AccountDetail extends AccountRow {
  /** Its own limit; null: the platform's. */
  readonly rate_limit: AccountRateLimit | null
  readonly platform_rate_limit: AccountRateLimit | null
  readonly calls_7d: number
  readonly failed_7d: number
  readonly sessions: number
}

export interface NewAccount extends Noted {
  readonly username: string
  /** A random one when left out. */
  readonly password?: string
  readonly expires_on?: Day | null
  readonly credits?: Readonly<Partial<Record<ApiType, number>>>
}

export interface CreatedAccount {
  readonly account: AccountDetail
  /** This once. */
  readonly password: string
}

/** What is left out stays as it is; null takes it away. */
export interface AccountChange extends Noted {
  readonly expires_on?: Day | null
  readonly suspended?: boolean
  readonly sms_enabled?: boolean
  readonly sign_name?: string | null
  readonly rate_limit?: AccountRateLimit | null
}

export interface CreditChange extends Noted {
  readonly api_type: ApiType
  readonly direction: 'grant' | 'take'
  readonly amount: number
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

export interface NewRedeemBatch extends Noted {
  readonly api_type: ApiType
  readonly amount: number
  /** 1 to 10,000. */
  readonly count: number
  readonly expires_on?: Day | null
}

export interface MadeRedeemBatch {
  readonly batch: RedeemBatch
  /** The whole codes, this once: only their hashes are kept. */
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
  /** Whom or what it concerned: a user name, a batch number. */
  readonly target: string
  readonly note: string
  /** What changed, as `name: value`; never a secret. */
  readonly details: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditFilter extends DayRange {
  readonly actor?: string
  readonly action?: string
  readonly target?: string
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

export const operatorRoutes = {
  overview: route<Empty, Overview>('GET', '/operator/overview'),

  accounts: route<AccountQuery, Page<AccountRow>>('GET', operatorAccounts),
  account: route<Empty, AccountDetail>('GET', `${operatorAccounts}/:id`),
  createAccount: route<NewAccount, CreatedAccount>('POST', operatorAccounts),
  changeAccount: route<AccountChange, AccountDetail>('PATCH', `${operatorAccounts}/:id`),
  /** A random new password, told this once; ends the account's sessions. */
  resetPassword: route<Noted, { readonly password: string }>('POST', `${operatorAccounts}/:id/password`),
  changeCredits: route<CreditChange, Balance>('POST', `${operatorAccounts}/:id/credits`),

  redeemBatches: route<PageQuery, Page<RedeemBatch>>('GET', redeemBatches),
  makeRedeemBatch: route<NewRedeemBatch, MadeRedeemBatch>('POST', redeemBatches),
  redeemBatch: route<
    PageQuery & { readonly state?: RedeemCodeRow['state'] },
    Page<RedeemCodeRow> & { readonly batch: RedeemBatch }
  >('GET', `${redeemBatches}/:id`),
  /** States and hints; the codes themselves were shown when they were made. */
  redeemBatchCsv: route<Empty, File>('GET', `${redeemBatches}/:id/codes.csv`),
  /** All codes of the batch that nobody has taken. */
  revokeRedeemBatch: route<Noted, { readonly revoked: number }>('POST', `${redeemBatches}/:id/revoke`),
  revokeRedeemCode: route<Noted, Empty>('POST', '/operator/redeem-codes/:id/revoke'),

  audit: route<AuditFilter & SliceQuery, Slice<AuditEntry>>('GET', '/operator/audit'),
  auditCsv: route<AuditFilter, File>('GET', '/operator/audit.csv'),

  settings: route<Empty, { readonly items: readonly SettingInForce[] }>('GET', '/operator/settings'),
} as const
