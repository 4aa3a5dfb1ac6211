// The operator of a console request as the actor of a change, with the note they wrote.
import type { OperatorActor } from '../audit/audit.ts'
import { oneLine } from './fields.ts'
import type { SignedInRequest } from './routes.ts'

export function operatorOf(
  { user, signedIn }: SignedInRequest,
  { note }: { readonly note: string },
): OperatorActor {
  return { kind: 'operator', name: user.username, note: oneLine(note), sessionId: signedIn.session.id }
}
