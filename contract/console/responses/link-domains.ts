// Responses of own domains, bans and reports.
import { Type } from 'typebox'
import { reportStates } from '../../link-abuse.ts'
import { Empty } from '../fields.ts'
import type { ResponseOf } from '../route.ts'
import { listOf, moment, orNull, sliceOf } from './fields.ts'

export const OwnDomain = Type.Object({
  id: Type.Integer(),
  host: Type.String(),
  txt_name: Type.String(),
  txt_value: Type.String(),
  /** `missing`: verified, but the last look-up did not find the record any more. */
  state: Type.Enum(['unverified', 'verified', 'missing']),
  blocked: Type.Boolean(),
  verified_at: orNull(moment),
  checked_at: orNull(moment),
  added_at: moment,
})
export type OwnDomain = ResponseOf<typeof OwnDomain>

export const ownDomainResponses = {
  list: listOf(OwnDomain),
  add: OwnDomain,
  verify: OwnDomain,
  remove: Empty,
} as const

export const LinkBan = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum(['link', 'host']),
  /** The code or the host. */
  value: Type.String(),
  note: Type.String(),
  created_by: Type.String(),
  created_at: moment,
})
export type LinkBan = ResponseOf<typeof LinkBan>

export const LinkReport = Type.Object({
  id: Type.Integer(),
  short_code: Type.String(),
  username: Type.String(),
  target_url: Type.String(),
  is_banned: Type.Boolean(),
  reason: Type.String(),
  details: Type.String(),
  contact: Type.String(),
  state: Type.Enum([...reportStates]),
  decided_by: Type.String(),
  decided_at: orNull(moment),
  at: moment,
})
export type LinkReport = ResponseOf<typeof LinkReport>

export const linkAbuseResponses = {
  bans: sliceOf(LinkBan),
  addBan: Empty,
  removeBan: Empty,
  reports: sliceOf(LinkReport),
  decideReport: Empty,
} as const
