// Operator pages: overview, accounts, redeem codes, audit log, settings. Account holders get `forbidden`.
import { type Static, type TInteger, type TOptional, Type } from 'typebox'
import { maxPrice, type PriceName, priceNames } from '../credits.ts'
import { keyLimitFields } from './key.ts'
import { maxRedeemBatchSize, maxContactLength } from './limits.ts'
import { route, withResponses } from './route.ts'
import {
  optionalDay,
  apiType,
  amount,
  password,
  username,
  optionalText,
  order,
  note,
  slice,
  page,
  dayRange,
  Empty,
  PageQuery,
  Noted,
} from './fields.ts'
import type { operatorResponses } from './responses/operator.ts'
import { AccountRateLimit } from './values.ts'

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

const ownPrices = Type.Object(
  Object.fromEntries(
    priceNames.map((name) => [name, Type.Optional(Type.Integer({ minimum: 0, maximum: maxPrice }))]),
  ) as Record<PriceName, TOptional<TInteger>>,
)

/**
 * A field that is left out does not change; null removes the value. `prices_before` are the own prices that the operator saw: the
 * change is refused when they are others by now, because `prices` replaces all of them.
 */
export const AccountChange = Type.Object({
  expires_on: optionalDay,
  suspended: Type.Optional(Type.Boolean()),
  sms_enabled: Type.Optional(Type.Boolean()),
  sign_name: Type.Optional(Type.Union([Type.String({ maxLength: 100 }), Type.Null()])),
  rate_limit: Type.Optional(
    Type.Union([AccountRateLimit, Type.Null()], {
      problem: { zh: '必须是两个正整数：每秒与突发', en: 'Must be two whole numbers: a second, and burst' },
    }),
  ),
  ...keyLimitFields,
  prices: Type.Optional(Type.Union([ownPrices, Type.Null()])),
  prices_before: Type.Optional(Type.Union([ownPrices, Type.Null()])),
  note,
})
export type AccountChange = Static<typeof AccountChange>

/** A field that is left out or empty is not known. */
const contactText = Type.Optional(Type.String({ maxLength: maxContactLength }))

const ContactInput = Type.Object({
  company: contactText,
  name: contactText,
  phone: contactText,
  mail: contactText,
})

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

export const operatorRoutes = withResponses<typeof operatorResponses>()({
  waiting: route('GET', '/operator/waiting', Empty),
  overview: route('GET', '/operator/overview', Empty),

  accounts: route('GET', operatorAccounts, AccountQuery),
  account: route('GET', `${operatorAccounts}/:id`, Empty),
  createAccount: route('POST', operatorAccounts, NewAccount),
  changeAccount: route('PATCH', `${operatorAccounts}/:id`, AccountChange),
  /** Generates a password, shown only in this response, and ends the sessions of the account. */
  resetPassword: route('POST', `${operatorAccounts}/:id/password`, Noted),
  /** Contact data and notes that operators keep about the account. */
  file: route('GET', `${operatorAccounts}/:id/file`, Empty),
  changeContact: route('PUT', `${operatorAccounts}/:id/contact`, ContactInput),
  addNote: route('POST', `${operatorAccounts}/:id/notes`, Noted),
  changeCredits: route('POST', `${operatorAccounts}/:id/credits`, CreditChange),

  redeemBatches: route('GET', redeemBatches, PageQuery),
  makeRedeemBatch: route('POST', redeemBatches, NewRedeemBatch),
  redeemBatch: route('GET', `${redeemBatches}/:id`, RedeemCodeQuery),
  /** States and hints; the codes themselves were shown when they were created. */
  redeemBatchCsv: route('GET', `${redeemBatches}/:id/codes.csv`, Empty),
  /** Revokes all unused codes of the batch. */
  revokeRedeemBatch: route('POST', `${redeemBatches}/:id/revoke`, Noted),
  revokeRedeemCode: route('POST', '/operator/redeem-codes/:id/revoke', Noted),

  audit: route('GET', '/operator/audit', Type.Object({ ...AuditFilter.properties, ...slice })),
  auditCsv: route('GET', '/operator/audit.csv', AuditFilter),

  settings: route('GET', '/operator/settings', Empty),
})
