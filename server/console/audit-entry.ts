// The audit entry for a change that an operator makes in the console.
import type { AuditDetails, NewAudit } from '../audit/store.ts'
import { oneLine } from './fields.ts'
import type { SignedInAsk } from './routes.ts'

export function entry(
  ask: SignedInAsk,
  action: string,
  target: string,
  why: string,
  details: AuditDetails = {},
): NewAudit {
  return { actor: ask.user.username, action, target, note: oneLine(why), details }
}
