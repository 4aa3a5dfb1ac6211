// The operator of a console request as the actor of a change, with the note they wrote.
import type { OperatorActor } from '../audit/audit.ts'
import { oneLine } from '../../contract/values.ts'
import type { SignedInRequest } from './access.ts'

export function operatorOf(
  { user, signedIn }: SignedInRequest,
  { note }: { readonly note: string },
): OperatorActor {
  const { token, session, call } = signedIn
  const actor = { kind: 'operator', note: oneLine(note), operator: user, call } as const
  return token
    ? { ...actor, name: `${user.username}/${token.name}`, token }
    : { ...actor, name: user.username, sessionId: session.id }
}
