// Limits of console input that the service enforces and the forms show. Plain numbers, so that forms import no schema library.
import { minuteMs } from '../time.ts'

/** The reason that an operator gives for a change. */
export const maxNoteLength = 200

/** Of each contact field of an account. */
export const maxContactLength = 100

/** The reason for rejecting a template or a signature. */
export const maxReasonLength = 200

export const minUsernameLength = 2
export const maxUsernameLength = 64
export const minPasswordLength = 8
export const maxPasswordLength = 200

/** A redeem code as it is entered. */
export const maxRedeemCodeLength = 200

/** An amount of money as it is entered. */
export const maxAmountLength = 16

/** Codes in one batch. */
export const maxRedeemBatchSize = 10_000

/** Calls per second and burst of one account. */
export const maxAccountRate = 1_000_000

export const signInMethods = ['password', 'oidc'] as const
export type SignInMethod = (typeof signInMethods)[number]

/** What followed the password or the sign-in at the OpenID provider. */
export const secondFactorKinds = ['none', 'totp', 'recovery'] as const
export type SecondFactorKind = (typeof secondFactorKinds)[number]

export const recoveryCodeCount = 10

/** With this many or fewer left, the console asks for new ones. */
export const fewRecoveryCodes = 3

/** A code of an authenticator app or a recovery code, with spaces and hyphens. */
export const maxFactorCodeLength = 40

/** How long a confirmation of the password (or of a second factor) is valid for sensitive changes. */
export const confirmationMs = 5 * minuteMs

/** How long the code of a mail address and the link of a password recovery are valid. */
export const mailTokenMs = 30 * minuteMs

export const maxMailLength = 254

/** Digits of the code that is sent to a mail address. */
export const mailCodeLength = 6

/** Users of the OpenID provider that one account is linked to. */
export const maxOidcLinks = 5
