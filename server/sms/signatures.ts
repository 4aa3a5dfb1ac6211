// An account's signature: requested by the account holder, used only after the operator's approval.
import { type Actor, recordChange } from '../audit/audit.ts'
import type { TemplateState } from '../../contract/sms-text.ts'
import { signNameProblem } from '../accounts/accounts.ts'
import { type Account, findById, updateAccount } from '../accounts/store.ts'
import type { Database } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { AppError } from '../http/errors.ts'
import { decideSignature, lockSignature, replaceSignature } from './signature-store.ts'
import { requireReason, reviewActions } from './templates.ts'

/** An empty text removes the signature and the pending request. */
export async function requestSignature(db: Database, account: Account, input: string): Promise<void> {
  const signName = input.trim()
  const problem = signName === '' ? undefined : signNameProblem(signName)
  if (problem) throw new AppError(1002, problem, { fields: { sign_name: problem } })
  await db.write(async (tx) => {
    if (signName === '') await updateAccount(tx, account.id, { sign_name: null })
    const isCurrent = signName === '' || signName === account.sign_name
    await replaceSignature(tx, account.id, isCurrent ? undefined : signName)
  })
}

export interface SignatureReview {
  readonly status: TemplateState
  readonly reason?: string | undefined
}

/** Approval makes it the account's signature; a later rejection removes it. */
export async function reviewSignature(
  db: Database,
  actor: Actor,
  id: number,
  review: SignatureReview,
): Promise<void> {
  const reason = requireReason(review.status, review.reason ?? '')
  await db.write(async (tx) => {
    const request = await lockSignature(tx, id)
    const account = request && (await findById(tx, request.account_id))
    if (!request || !account) {
      throw new AppError(1007, { zh: '签名申请不存在', en: 'There is no such signature request' })
    }
    await decideSignature(tx, id, { status: review.status, reason })
    if (review.status === '审核通过') await updateAccount(tx, account.id, { sign_name: request.sign_name })
    else if (account.sign_name === request.sign_name) await updateAccount(tx, account.id, { sign_name: null })
    const details = { id, name: request.sign_name, ...(reason !== '' && { reason }) }
    await emitEvents(tx, [
      {
        accountId: account.id,
        type: 'signature.reviewed',
        data: { sign_name: request.sign_name, status: review.status, reason },
      },
    ])
    await recordChange(tx, actor, `signature.${reviewActions[review.status]}`, account.username, details)
  })
}
