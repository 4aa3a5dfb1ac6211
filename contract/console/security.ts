// Security of the account: confirmation, second factor, mail address, sign-ins, link to the OpenID provider.
import { type Static, Type } from 'typebox'
import { maxFactorCodeLength, maxMailLength } from './limits.ts'
import { route, withResponses } from './route.ts'
import { Empty, password, slice } from './fields.ts'
import type { securityResponses } from './responses/security.ts'

const code = Type.String({ minLength: 1, maxLength: maxFactorCodeLength })

export const CodeInput = Type.Object({ code })
export type CodeInput = Static<typeof CodeInput>

const Confirmation = Type.Object({ password: Type.Optional(password), code: Type.Optional(code) })

export const mailAddress = Type.String({ minLength: 3, maxLength: maxMailLength })

const MailInput = Type.Object({ address: mailAddress })

export const securityRoutes = withResponses<typeof securityResponses>()({
  state: route('GET', '/security', Empty),
  /**
   * Confirms who the user is, with what `confirm_with` of `me` names. Sensitive changes need a confirmation within the last
   * five minutes and are rejected with `confirmation_required` without one: confirm, then repeat the call.
   */
  confirm: route('POST', '/confirm', Confirmation),
  /** Returns the secret of a new second factor, which is in effect after `enable`. Needs a confirmation. */
  enrol: route('POST', '/second-factor/enrol', Empty),
  /** The recovery codes are only in this response. Ends all other sessions. */
  enable: route('POST', '/second-factor/enable', CodeInput),
  /** Replaces all recovery codes. Needs a confirmation and a code. */
  renewCodes: route('POST', '/second-factor/recovery-codes', CodeInput),
  /** Needs a confirmation and a code. Ends all other sessions. */
  disable: route('POST', '/second-factor/disable', CodeInput),
  signIns: route('GET', '/sign-ins', Type.Object(slice)),
  /** Sends a code to the address. Needs a confirmation. */
  setMail: route('POST', '/mail', MailInput),
  verifyMail: route('POST', '/mail/verify', CodeInput),
  /** Needs a confirmation. */
  removeMail: route('POST', '/mail/remove', Empty),
})
