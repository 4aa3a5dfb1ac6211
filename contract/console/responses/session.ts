// Responses about the current account and its sessions.
import { Type } from 'typebox'
import { priceNames } from '../../credits.ts'
import { operatorRoles } from '../roles.ts'
import { gatewayGroup } from '../values.ts'
import type { ResponseOf } from '../route.ts'
import { day, apiType, Empty } from '../fields.ts'
import { moment, orNull, byName, listOf } from './fields.ts'

const pricesByName = byName(priceNames, Type.Integer())

const role = Type.Enum(['account', 'operator'])

/** Of an operator; null for account holders. */
const operatorRole = orNull(Type.Enum([...operatorRoles]))

export const Balance = Type.Object({
  api_type: apiType,
  total: Type.Integer(),
  used: Type.Integer(),
  remaining: Type.Integer(),
})
export type Balance = ResponseOf<typeof Balance>

export const AccountFacts = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  role,
  operator_role: operatorRole,
  created_at: moment,
  /** The last valid day; null when the account never expires. */
  expires_on: orNull(day),
  expired: Type.Boolean(),
  suspended: Type.Boolean(),
  sms_enabled: Type.Boolean(),
  sign_name: orNull(Type.String()),
  /** `tg_abcd••••••wxyz`; null when there is no key. */
  key_hint: orNull(Type.String()),
  key_created_at: orNull(moment),
})
export type AccountFacts = ResponseOf<typeof AccountFacts>

export const Me = Type.Object({
  /** The account that is shown: the user's, or the one an operator views (`view_as`). */
  account: AccountFacts,
  balances: Type.Array(Balance),
  /** Credits per call of the account that is shown. */
  prices: pricesByName,
  /** Who is signed in. Differs from `account` only while an operator views another account. */
  user: Type.Object({
    id: Type.Integer(),
    username: Type.String(),
    role,
    operator_role: operatorRole,
    /** The operator has to enable the second factor before anything else. */
    must_enrol: Type.Boolean(),
  }),
  /** What `confirm` takes in this session. */
  confirm_with: Type.Enum(['password', 'code', 'oidc']),
  /** True while an operator views another account. */
  read_only: Type.Boolean(),
  csrf_token: Type.String(),
  /** The latest time at which the session ends. */
  session_ends_at: moment,
  /** The language of messages. */
  language: Type.Enum(['zh', 'en']),
})
export type Me = ResponseOf<typeof Me>

/** What the first page needs, whether or not the user is signed in. */
export const Start = Type.Object({
  version: Type.String(),
  /** {base_url} of the public API, for samples. */
  public_url: Type.String(),
  /** Whether visitors can create accounts. */
  sign_up: Type.Boolean(),
  /** PASSWORD_LOGIN. */
  password_login: Type.Boolean(),
  /** Whether users can sign in at an OpenID provider. */
  oidc: Type.Boolean(),
  /** Whether a forgotten password can be replaced by mail. */
  recovery: Type.Boolean(),
  /** Products that run on the sandbox gateway, which calls no provider. */
  sandbox: Type.Array(gatewayGroup),
  /** Credits per call, without the price plan of an account. */
  prices: pricesByName,
  /** DOMAIN_MAX_URLS. */
  domain_max_urls: Type.Integer(),
  me: orNull(Me),
})
export type Start = ResponseOf<typeof Start>

export const SessionFacts = Type.Object({
  id: Type.Integer(),
  /** The session of this request. */
  current: Type.Boolean(),
  created_at: moment,
  seen_at: moment,
  address: Type.String(),
  /** The user agent, cut to 200 characters. */
  agent: Type.String(),
})
export type SessionFacts = ResponseOf<typeof SessionFacts>

export const sessionResponses = {
  start: Start,
  me: Me,
  signIn: Me,
  secondStep: Me,
  requestRecovery: Empty,
  recover: Empty,
  signUp: Me,
  signOut: Empty,
  sessions: listOf(SessionFacts),
  endSession: Empty,
  endOtherSessions: Type.Object({ ended: Type.Integer() }),
  changePassword: Type.Object({ ended: Type.Integer() }),
}
