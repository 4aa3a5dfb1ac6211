// Who makes a change, and the audit row that is written in the transaction of the change.
import type { Tx } from '../db/database.ts'
import { type AuditDetails, findUsername, insertAudit } from './store.ts'

/**
 * Every function that an operator can change something with takes an actor. Changes by operators are recorded; account
 * holders change only their own data, and the system acts on the first start.
 */
export type Actor = OperatorActor | AccountActor | { readonly kind: 'system' }

export interface OperatorActor {
  readonly kind: 'operator'
  /** User name, or `cli` for the command line. */
  readonly name: string
  /** Why the operator makes the change. */
  readonly note?: string | undefined
}

export interface AccountActor {
  readonly kind: 'account'
  readonly accountId: number
}

export const systemActor: Actor = { kind: 'system' }

/** The account that was changed, or the name of anything else. */
export type AuditTarget = string | { readonly accountId: number }

/** Call this in the transaction of the change. `details` never hold a secret. */
export async function recordChange(
  tx: Tx,
  actor: Actor,
  action: string,
  target: AuditTarget,
  details: AuditDetails = {},
): Promise<void> {
  if (actor.kind !== 'operator') return
  const name = typeof target === 'string' ? target : await findUsername(tx, target.accountId)
  await insertAudit(tx, { actor: actor.name, action, target: name, note: actor.note, details })
}
