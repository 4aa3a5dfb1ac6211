// Responses of the operator pages: overview, accounts, redeem codes, audit log, settings.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { AccountRateLimit, endpointName, endpointNames, gatewayGroup } from '../values.ts'
import { day, apiType, Empty } from '../fields.ts'
import { KeyLimits } from './key.ts'
import { Balance, AccountFacts } from './session.ts'
import { moment, orNull, extend, byName, listOf, sliceOf, pageOf, csvFile } from './fields.ts'

export const Overview = Type.Object({
  now: moment,
  version: Type.String(),
  started_at: moment,
  engine: Type.Enum(['sqlite', 'postgres']),
  accounts: Type.Object({
    total: Type.Integer(),
    active_7d: Type.Integer(),
    suspended: Type.Integer(),
  }),
  /** Today so far and the days before, today last. */
  days: Type.Array(
    Type.Object({
      day,
      calls: byName(endpointNames, Type.Integer()),
      total: Type.Integer(),
      succeeded: Type.Integer(),
      /** Failures the caller did not cause: 1005 and 5000. */
      our_errors: Type.Integer(),
    }),
  ),
  /** Of the newest 5,000 calls of the last 15 minutes; endpoints without calls are left out. */
  latency: Type.Array(
    Type.Object({
      endpoint: endpointName,
      calls: Type.Integer(),
      p50_ms: Type.Number(),
      p95_ms: Type.Number(),
      p99_ms: Type.Number(),
    }),
  ),
  /** Last 30 days: granted (adjustments included) and used (minus refunds). */
  credits: Type.Array(
    Type.Object({
      api_type: apiType,
      sold: Type.Integer(),
      used: Type.Integer(),
    }),
  ),
  operations: Type.Object({
    open: Type.Integer(),
    overdue: Type.Integer(),
    oldest_at: orNull(moment),
  }),
  errors: Type.Array(
    Type.Object({
      endpoint: endpointName,
      code: Type.Integer(),
      count: Type.Integer(),
    }),
  ),
  /** Of the file system of DATA_DIR. */
  disk: Type.Object({
    free_bytes: Type.Integer(),
    total_bytes: Type.Integer(),
    database_bytes: Type.Integer(),
  }),
  request_log: Type.Object({
    waiting: Type.Integer(),
    dropped: Type.Integer(),
  }),
  gateways: Type.Array(
    Type.Object({
      group: gatewayGroup,
      names: Type.Array(Type.String()),
      /** Those whose circuit breaker is not closed. */
      down: Type.Optional(Type.Array(Type.String())),
    }),
  ),
})
export type Overview = ResponseOf<typeof Overview>

/** Work that waits for an operator. */
export const Waiting = Type.Object({
  /** Templates and signatures to review. */
  reviews: Type.Integer(),
  /** Reports of visitors about short links. */
  reports: Type.Integer(),
  /** Domains of the pools that a platform blocks. */
  blocked_domains: Type.Array(Type.String()),
  /** Invoice requests. */
  invoices: Type.Integer(),
  /** Invoices that an order was refunded of after they were issued. */
  refunded_invoices: Type.Integer(),
  /** Differences that reconciliation found and that are not resolved. */
  payment_differences: Type.Integer(),
})
export type Waiting = ResponseOf<typeof Waiting>

export const AccountRow = extend(AccountFacts, {
  balances: Type.Array(Balance),
  last_call_at: orNull(moment),
})
export type AccountRow = ResponseOf<typeof AccountRow>

export const AccountDetail = extend(AccountRow, {
  /** Null when the platform's limit applies. */
  rate_limit: orNull(AccountRateLimit),
  limits: KeyLimits,
  /** Prices that differ from those of the installation; null: none. */
  own_prices: orNull(Type.Record(Type.String(), Type.Integer())),
  platform_rate_limit: orNull(AccountRateLimit),
  calls_7d: Type.Integer(),
  failed_7d: Type.Integer(),
  sessions: Type.Integer(),
})
export type AccountDetail = ResponseOf<typeof AccountDetail>

export const AccountFile = Type.Object({
  contact: Type.Object({
    company: Type.String(),
    name: Type.String(),
    phone: Type.String(),
    mail: Type.String(),
  }),
  /** Newest first. */
  notes: Type.Array(
    Type.Object({ id: Type.Integer(), at: moment, author: Type.String(), note: Type.String() }),
  ),
})
export type AccountFile = ResponseOf<typeof AccountFile>

const CreatedAccount = Type.Object({
  account: AccountDetail,
  /** Shown only in this response. */
  password: Type.String(),
})

export const RedeemBatch = Type.Object({
  id: Type.Integer(),
  api_type: apiType,
  amount: Type.Integer(),
  count: Type.Integer(),
  redeemed: Type.Integer(),
  revoked: Type.Integer(),
  expires_on: orNull(day),
  note: Type.String(),
  created_by: Type.String(),
  created_at: moment,
})
export type RedeemBatch = ResponseOf<typeof RedeemBatch>

export const CreatedRedeemBatch = Type.Object({
  batch: RedeemBatch,
  /** The whole codes. Only their hashes are stored. */
  codes: Type.Array(Type.String()),
})
export type CreatedRedeemBatch = ResponseOf<typeof CreatedRedeemBatch>

export const RedeemCodeRow = Type.Object({
  id: Type.Integer(),
  /** `TG-AB••-••••-••••-••YZ` */
  hint: Type.String(),
  state: Type.Enum(['unused', 'redeemed', 'revoked']),
  redeemed_by: orNull(Type.String()),
  redeemed_at: orNull(moment),
  revoked_at: orNull(moment),
})
export type RedeemCodeRow = ResponseOf<typeof RedeemCodeRow>

export const AuditEntry = Type.Object({
  id: Type.Integer(),
  at: moment,
  /** The operator's user name, or `cli` for the command line. */
  actor: Type.String(),
  /** `account.create`, `credits.grant` … */
  action: Type.String(),
  /** What was changed: a user name, a batch number. */
  target: Type.String(),
  note: Type.String(),
  /** What changed, as `name: value`; never a secret. */
  details: Type.Record(Type.String(), orNull(Type.Union([Type.String(), Type.Integer(), Type.Boolean()]))),
})
export type AuditEntry = ResponseOf<typeof AuditEntry>

export const SettingInForce = Type.Object({
  name: Type.String(),
  /** The heading under which the page shows it. */
  group: Type.String(),
  text: Type.String(),
  /** Null for secrets and for what is not set. */
  value: orNull(Type.String()),
  secret: Type.Boolean(),
  /** Whether it was set, not what it was set to. */
  is_set: Type.Boolean(),
})

export type SettingInForce = ResponseOf<typeof SettingInForce>

export const operatorResponses = {
  overview: Overview,
  waiting: Waiting,
  file: AccountFile,
  changeContact: AccountFile,
  addNote: AccountFile,
  accounts: pageOf(AccountRow),
  account: AccountDetail,
  createAccount: CreatedAccount,
  changeAccount: AccountDetail,
  resetPassword: Type.Object({ password: Type.String() }),
  changeCredits: Balance,
  redeemBatches: pageOf(RedeemBatch),
  makeRedeemBatch: CreatedRedeemBatch,
  redeemBatch: extend(pageOf(RedeemCodeRow), { batch: RedeemBatch }),
  redeemBatchCsv: csvFile,
  revokeRedeemBatch: Type.Object({ revoked: Type.Integer() }),
  revokeRedeemCode: Empty,
  audit: sliceOf(AuditEntry),
  auditCsv: csvFile,
  settings: listOf(SettingInForce),
}
