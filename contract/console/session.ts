// Signing in and out, the current account, its sessions and its password.
import { Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { password, username, Empty } from './fields.ts'
import { CodeInput, mailAddress } from './security.ts'
import type { sessionResponses } from './responses/session.ts'

const SignIn = Type.Object({ username, password })

const RecoveryRequest = Type.Object({ mail: mailAddress })

const Recovery = Type.Object({
  /** From the link of the mail. */
  token: Type.String({ minLength: 1, maxLength: 100 }),
  new_password: password,
})

const PasswordChange = Type.Object({ current_password: password, new_password: password })

export const sessionRoutes = withResponses<typeof sessionResponses>()({
  start: route('GET', '/start', Empty),
  me: route('GET', '/me', Empty),
  signIn: route('POST', '/sign-in', SignIn),
  /** Within ten minutes after `signIn` was answered with `second_factor_required`: a code of the app, or a recovery code. */
  secondStep: route('POST', '/sign-in/second', CodeInput),
  /** Sends a link to a verified address. The response is the same for every address. */
  requestRecovery: route('POST', '/recover', RecoveryRequest),
  /** Sets a new password and ends all sessions. */
  recover: route('POST', '/recover/finish', Recovery),
  /** Only while `sign_up` is on. The new account is signed in. */
  signUp: route('POST', '/sign-up', SignIn),
  signOut: route('POST', '/sign-out', Empty),
  sessions: route('GET', '/sessions', Empty),
  endSession: route('POST', '/sessions/:id/end', Empty),
  endOtherSessions: route('POST', '/sessions/end-others', Empty),
  /** Ends all other sessions. */
  changePassword: route('POST', '/password', PasswordChange),
})
