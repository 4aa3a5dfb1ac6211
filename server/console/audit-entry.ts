// The operator behind a console request, as the audit log names them.
import type { OperatorActor } from '../audit/audit.ts'
import { oneLine } from './fields.ts'
import type { SignedInRequest } from './routes.ts'

export function operatorOf({ user }: SignedInRequest, { note }: { readonly note: string }): OperatorActor {
  return { kind: 'operator', name: user.username, note: oneLine(note) }
}
