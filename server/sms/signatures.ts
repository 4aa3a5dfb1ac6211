// The signatures of an account: added by the account holder or an operator, used only after the operator's approval.
import { signNameProblem } from '../../contract/sign-name.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import { maxNoteLength } from '../../contract/console/limits.ts'
import {
  maxSignaturesPerAccount,
  type SignatureType,
  signatureTypes,
  type TemplateState,
} from '../../contract/sms-text.ts'
import { isStorableText } from '../../contract/values.ts'
import { type Account, findById, lockAccount, updateAccount } from '../accounts/store.ts'
import type { Database, Tx } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { AppError, invalidField } from '../http/errors.ts'
import {
  findSignatureById,
  findSignatures,
  insertSignature,
  lockSignature,
  removeSignature,
  type SignatureRow,
  updateSignature,
} from './signature-store.ts'
import { requireReason, reviewActions } from './templates.ts'

export interface SignatureInput {
  readonly signName: string
  readonly type?: SignatureType
  readonly note?: string
  /** Only for the operator; an account's new signature is in review. */
  readonly status?: TemplateState
  readonly reason?: string
}

export interface SignatureReview {
  readonly status: TemplateState
  readonly reason?: string | undefined
  /** The one that the reviewer has read, so that later proofs are not approved unseen. */
  readonly revision?: number
}

export async function addSignature(
  db: Database,
  actor: Actor,
  accountId: number,
  input: SignatureInput,
): Promise<SignatureRow> {
  const signName = input.signName.trim()
  const problem = signNameProblem(signName)
  if (problem) throw invalidField('sign_name', problem)
  const type = input.type ?? 'company'
  if (!signatureTypes.includes(type))
    throw invalidField('type', {
      zh: `签名类型必须是 ${signatureTypes.join('、')}`,
      en: `the type is one of ${signatureTypes.join(', ')}`,
    })
  const note = requireNote(input.note ?? '')
  const status = (actor.kind !== 'account' && input.status) || '审核中'
  const reason = actor.kind === 'account' ? '' : requireReason(status, input.reason ?? '')
  return db.write(async (tx) => {
    const account = await lockAccount(tx, accountId)
    if (!account) throw noSuchSignature()
    if ((await findSignatures(tx, accountId)).length >= maxSignaturesPerAccount)
      throw invalidField('sign_name', {
        zh: `每个账户最多 ${maxSignaturesPerAccount} 个签名`,
        en: `an account has ${maxSignaturesPerAccount} signatures at most`,
      })
    const row = await insertSignature(tx, {
      account_id: accountId,
      sign_name: signName,
      type,
      status,
      reason,
      note,
    })
    if (!row) throw invalidField('sign_name', { zh: '该签名已存在', en: 'the signature exists already' })
    if (status === '审核通过') await useAsDefault(tx, account, signName)
    await recordChange(tx, actor, 'signature.create', account.username, { name: signName, state: status })
    return row
  })
}

/** The first approved signature becomes the account's default; a signature that is no longer approved is not. */
export async function reviewSignature(
  db: Database,
  actor: Actor,
  id: number,
  review: SignatureReview,
): Promise<void> {
  const reason = requireReason(review.status, review.reason ?? '')
  await db.write(async (tx) => {
    const { account, row } = await lockBoth(tx, (await findSignatureById(tx, id))?.account_id ?? 0, id)
    if (review.revision !== undefined && review.revision !== row.revision)
      throw new AppError(1002, {
        zh: '签名材料已被修改，请重新查看',
        en: 'the signature was changed meanwhile, read it again',
      })
    await updateSignature(tx, { ...row, status: review.status, reason })
    if (review.status === '审核通过') await useAsDefault(tx, account, row.sign_name)
    else await clearDefault(tx, account, row.sign_name)
    await emitEvents(tx, [
      {
        accountId: account.id,
        type: 'signature.reviewed',
        data: { sign_name: row.sign_name, status: review.status, reason },
      },
    ])
    const details = { id, name: row.sign_name, ...(reason !== '' && { reason }) }
    await recordChange(tx, actor, `signature.${reviewActions[review.status]}`, account.username, details)
  })
}

/** Undefined: the platform's signature is the default. */
export async function changeDefaultSignature(
  db: Database,
  accountId: number,
  id: number | undefined,
): Promise<void> {
  await db.write(async (tx) => {
    const row = id === undefined ? undefined : (await lockBoth(tx, accountId, id)).row
    if (row && row.status !== '审核通过') throw noSuchSignature()
    await updateAccount(tx, accountId, { sign_name: row?.sign_name ?? null })
  })
}

export async function deleteSignature(
  db: Database,
  actor: Actor,
  accountId: number,
  id: number,
): Promise<void> {
  await db.write(async (tx) => {
    const { account, row } = await lockBoth(tx, accountId, id)
    await clearDefault(tx, account, row.sign_name)
    await removeSignature(tx, id)
    await recordChange(tx, actor, 'signature.delete', account.username, { id, name: row.sign_name })
  })
}

export interface SignatureDetails extends SignatureRow {
  readonly isDefault: boolean
}

/** Oldest first. */
export async function listSignatures(db: Database, accountId: number): Promise<SignatureDetails[]> {
  const account = await findById(db, accountId)
  const rows = await findSignatures(db, accountId)
  return rows.map((row) => ({ ...row, isDefault: row.sign_name === account?.sign_name }))
}

/** For changes of its proofs. */
export async function lockOwnSignature(tx: Tx, accountId: number, id: number): Promise<SignatureRow> {
  return (await lockBoth(tx, accountId, id)).row
}

/** Throws when the signature is not the account's. */
async function lockBoth(
  tx: Tx,
  accountId: number,
  id: number,
): Promise<{ account: Account; row: SignatureRow }> {
  const account = await lockAccount(tx, accountId)
  const row = await lockSignature(tx, id)
  if (!account || row?.account_id !== accountId) throw noSuchSignature()
  return { account, row }
}

async function useAsDefault(tx: Tx, account: Account, signName: string): Promise<void> {
  if (account.sign_name === null) await updateAccount(tx, account.id, { sign_name: signName })
}

async function clearDefault(tx: Tx, account: Account, signName: string): Promise<void> {
  if (account.sign_name === signName) await updateAccount(tx, account.id, { sign_name: null })
}

function requireNote(given: string): string {
  const note = given.trim()
  if (note.length <= maxNoteLength && isStorableText(note)) return note
  throw invalidField('note', {
    zh: `说明最多 ${maxNoteLength} 个字符`,
    en: `a note has ${maxNoteLength} characters at most`,
  })
}

export function noSuchSignature(): AppError {
  return new AppError(1007, { zh: '签名不存在', en: 'There is no such signature' })
}
