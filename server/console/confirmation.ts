// Sensitive changes need a recent proof of who the user is, so that a stolen session cannot change credentials or credits.
import type { AccountActor } from '../audit/audit.ts'
import { ConsoleProblem } from './problem.ts'
import type { SignedInRequest } from './access.ts'
import type { SignedIn } from './sessions.ts'

/** Throws unless the user confirmed within the last minutes. Signing in is not a confirmation: its session may be stolen immediately. */
export function requireConfirmation({ signedIn }: Pick<SignedInRequest, 'signedIn'>): void {
  if (!signedIn.confirmed) throw confirmationRequired()
}

/** The user of a session in which they confirmed who they are. */
export function confirmedUser({ signedIn }: Pick<SignedInRequest, 'signedIn'>): AccountActor {
  requireConfirmation({ signedIn })
  return { kind: 'account', accountId: signedIn.user.id, sessionId: signedIn.session.id }
}

/** A user who did not sign in with a password may not have one. */
export function confirmWith({ session, hasSecondFactor }: SignedIn): 'password' | 'code' | 'oidc' {
  if (session.method === 'password') return 'password'
  return hasSecondFactor ? 'code' : 'oidc'
}

function confirmationRequired(): ConsoleProblem {
  return new ConsoleProblem('confirmation_required', {
    zh: '请先确认身份，再重试',
    en: 'Confirm who you are, then try again',
  })
}
