// Who makes a change, and the audit row that is written in the transaction of the change.
import type { AuditAction } from '../../contract/audit-actions.ts'
import type { Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import {
  type AuditDetails,
  findUsername,
  insertAudit,
  lockOperator,
  lockSession,
  type OperatorRights,
} from './store.ts'
import { claimOperatorCall, lockToken, type OperatorCall } from './operator-call-store.ts'

/**
 * Every function that an operator can change something with takes an actor. Changes by operators are recorded, and those of
 * account holders who had to confirm who they are: they concern credentials. The system acts on the first start.
 */
export type Actor = OperatorActor | AccountActor | { readonly kind: 'system' }

export interface OperatorActor {
  readonly kind: 'operator'
  /** User name, or `cli` for the command line. */
  readonly name: string
  /** Why the operator makes the change. */
  readonly note?: string | undefined
  /** Of a request. The change fails if the operator's role has changed by the time it is written. */
  readonly operator?: OperatorRights
  /** The session of a change in the console. The change fails if the session has ended by the time it is written. */
  readonly sessionId?: number
  /** The token of a change by a program. The change fails if it was revoked. */
  readonly token?: { readonly id: number }
  /** Of a change with an Idempotency-Key. The change fails if the key was used before. */
  readonly call?: OperatorCall | undefined
}

export interface AccountActor {
  readonly kind: 'account'
  readonly accountId: number
  /** Stored hash of the password that was just confirmed. The change fails if it is no longer the account's. */
  readonly passwordHash?: string
  /** The session in which the user confirmed who they are. The change fails if it has ended. */
  readonly sessionId?: number
}

export const systemActor: Actor = { kind: 'system' }

/** The account that was changed, or the name of anything else. */
export type AuditTarget = string | { readonly accountId: number }

/** Throws when the session has ended. Else it cannot end before the transaction does. */
export async function requireSession(tx: Tx, id: number): Promise<void> {
  if (!(await lockSession(tx, id))) throw new AppError(1003, { zh: '请重新登录', en: 'Sign in again' })
}

/** A body may arrive long after the access of its request was checked. */
async function requireOperator(tx: Tx, operator: OperatorRights): Promise<void> {
  if (await lockOperator(tx, operator)) return
  throw new AppError(1003, { zh: '权限已变更，请重新登录', en: 'Your role has changed, sign in again' })
}

async function requireToken(tx: Tx, { id }: NonNullable<OperatorActor['token']>): Promise<void> {
  if (!(await lockToken(tx, id))) throw new AppError(1003, { zh: '令牌无效', en: 'The token is invalid' })
}

async function requireFirst(tx: Tx, call: OperatorCall): Promise<void> {
  if (await claimOperatorCall(tx, call)) return
  const text = {
    zh: '同一 Idempotency-Key 的更改已经完成',
    en: 'The change with this Idempotency-Key was made',
  }
  throw new AppError(1005, text, { status: 409 })
}

/** Call this in the transaction of the change. `details` never hold a secret. */
export async function recordChange(
  tx: Tx,
  actor: Actor,
  action: AuditAction,
  target: AuditTarget,
  details: AuditDetails = {},
): Promise<void> {
  if (actor.kind === 'account' && isConfirmed(actor))
    await recordOwnChange(tx, actor.accountId, action, details)
  if (actor.kind !== 'operator') return
  if (actor.sessionId !== undefined) await requireSession(tx, actor.sessionId)
  if (actor.operator) await requireOperator(tx, actor.operator)
  if (actor.token) await requireToken(tx, actor.token)
  if (actor.call) await requireFirst(tx, actor.call)
  const name = typeof target === 'string' ? target : await findUsername(tx, target.accountId)
  await insertAudit(tx, { actor: actor.name, action, target: name, note: actor.note, details })
}

function isConfirmed({ passwordHash, sessionId }: AccountActor): boolean {
  return passwordHash !== undefined || sessionId !== undefined
}

/** A change of an account's own credentials or sessions, by its holder. Returns the user name. */
export async function recordOwnChange(
  tx: Tx,
  accountId: number,
  action: AuditAction,
  details: AuditDetails = {},
): Promise<string> {
  const username = await findUsername(tx, accountId)
  await insertAudit(tx, { actor: username, action, target: username, details })
  return username
}
