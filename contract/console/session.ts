// Signing in and out, the current account, its sessions and its password.
import { type Static, Type } from 'typebox'
import { route, withResponses } from './route.ts'
import { password, username, Empty } from './fields.ts'
import type { sessionResponses } from './responses/session.ts'

export const SignIn = Type.Object({ username, password })
export type SignIn = Static<typeof SignIn>

const PasswordChange = Type.Object({ current_password: password, new_password: password })

export const sessionRoutes = withResponses<typeof sessionResponses>()({
  start: route('GET', '/start', Empty),
  me: route('GET', '/me', Empty),
  signIn: route('POST', '/sign-in', SignIn),
  /** Only while `sign_up` is on. The new account is signed in. */
  signUp: route('POST', '/sign-up', SignIn),
  signOut: route('POST', '/sign-out', Empty),
  sessions: route('GET', '/sessions', Empty),
  endSession: route('POST', '/sessions/:id/end', Empty),
  endOtherSessions: route('POST', '/sessions/end-others', Empty),
  /** Ends all other sessions. */
  changePassword: route('POST', '/password', PasswordChange),
})
