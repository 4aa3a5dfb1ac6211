// Responses about the security of an account.
import { Type } from 'typebox'
import { secondFactorKinds, signInMethods } from '../limits.ts'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment, orNull, sliceOf } from './fields.ts'

export const SecurityState = Type.Object({
  second_factor: Type.Object({
    /** Null: not enabled. */
    enabled_at: orNull(moment),
    recovery_codes_left: Type.Integer(),
    /** OPERATOR_2FA=required, and the user is an operator: it cannot be disabled. */
    required: Type.Boolean(),
  }),
  mail: Type.Object({
    /** Without MAIL_URL no address can be verified. */
    available: Type.Boolean(),
    address: orNull(Type.String()),
  }),
})
export type SecurityState = ResponseOf<typeof SecurityState>

export const SignInFacts = Type.Object({
  id: Type.Integer(),
  at: moment,
  address: Type.String(),
  /** Province or country; empty when unknown. */
  place: Type.String(),
  network: Type.String(),
  /** Browser and operating system. */
  device: Type.String(),
  method: Type.Enum([...signInMethods]),
  second_factor: Type.Enum([...secondFactorKinds]),
  /** From a device that the account never signed in from before, or from a new network in a new place. */
  is_new: Type.Boolean(),
})
export type SignInFacts = ResponseOf<typeof SignInFacts>

const RecoveryCodes = Type.Object({ recovery_codes: Type.Array(Type.String()) })

export const securityResponses = {
  state: SecurityState,
  confirm: Empty,
  /** `uri` is the text of the QR code, `secret` the key to type. */
  enrol: Type.Object({ secret: Type.String(), uri: Type.String() }),
  enable: RecoveryCodes,
  renewCodes: RecoveryCodes,
  disable: Empty,
  signIns: sliceOf(SignInFacts),
  /** `sent` is false when the mail server refused the mail. */
  setMail: Type.Object({ sent: Type.Boolean() }),
  verifyMail: Empty,
  removeMail: Empty,
}
