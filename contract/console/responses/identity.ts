// Responses of identity verification: one result, and the masked history.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { identityOutcome } from '../values.ts'
import { csvFile, moment, orNull, sliceOf } from './fields.ts'

export const IdentityVerdict = Type.Object({
  outcome: identityOutcome,
  message: Type.String(),
  extra: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()])),
  charged: Type.Integer(),
  given_back: Type.Integer(),
  remaining: Type.Integer(),
  request_id: Type.String(),
})
export type IdentityVerdict = ResponseOf<typeof IdentityVerdict>

export const IdentityRecord = Type.Object({
  id: Type.Integer(),
  at: moment,
  /** `张*` */
  name: Type.String(),
  /** `110105********002X` */
  idcard: Type.String(),
  outcome: identityOutcome,
  gateway: orNull(Type.String()),
  charged: Type.Integer(),
  given_back: Type.Integer(),
  request_id: Type.String(),
})
export type IdentityRecord = ResponseOf<typeof IdentityRecord>

export const identityResponses = {
  verify: IdentityVerdict,
  history: sliceOf(IdentityRecord),
  historyCsv: csvFile,
}
