// The rules of links between accounts and users of the OpenID provider.
import type { AuditAction } from '../../contract/audit-actions.ts'
import { maxOidcLinks } from '../../contract/console/limits.ts'
import { type Actor, recordChange, recordOwnChange, requireSession } from '../audit/audit.ts'
import type { Database, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import {
  deleteOidcLink,
  deleteOidcSessions,
  findOidcLink,
  insertOidcLink,
  listOidcLinks,
} from './oidc-store.ts'
import type { Session } from './session-store.ts'
import { lockAccount } from './store.ts'

/** A user of the provider: the subject is unique at the issuer and never reassigned, unlike a mail address. */
export interface OidcSubject {
  readonly issuer: string
  readonly subject: string
  /** For display only. */
  readonly name: string
}

/** Issuers are compared in this form, with or without a trailing slash. */
export function issuerOf(url: string): string {
  return new URL(url).href
}

export async function linkOidc(
  db: Database,
  who: Actor | { readonly session: Session },
  accountId: number,
  { issuer, subject, name }: OidcSubject,
): Promise<void> {
  await db.write(async (tx) => {
    if ('session' in who) await requireSession(tx, who.session.id)
    await lockAccount(tx, accountId)
    if ((await listOidcLinks(tx, accountId)).length >= maxOidcLinks) throw tooManyLinks()
    if (!(await insertOidcLink(tx, { issuer, subject, account_id: accountId, name }))) throw linkedAlready()
    await record(tx, who, 'oidc.link', accountId, subject)
  })
}

/** Ends the sessions that began at the provider. False when there was no such link. `keepLast` refuses the only link of its issuer. */
export function unlinkOidc(
  db: Database,
  who: Actor | { readonly session: Session },
  accountId: number,
  { issuer, subject, keepLast }: Pick<OidcSubject, 'issuer' | 'subject'> & { readonly keepLast: boolean },
): Promise<boolean> {
  return db.write(async (tx) => {
    if ('session' in who) await requireSession(tx, who.session.id)
    await lockAccount(tx, accountId)
    if (keepLast) {
      const links = (await listOidcLinks(tx, accountId)).filter((link) => link.issuer === issuer)
      if (links.length === 1 && links[0]!.subject === subject) throw onlyWayIn()
    }
    if (!(await deleteOidcLink(tx, accountId, issuer, subject))) return false
    await record(tx, who, 'oidc.unlink', accountId, subject)
    await deleteOidcSessions(tx, accountId)
    return true
  })
}

async function record(
  tx: Tx,
  who: Actor | { readonly session: Session },
  action: AuditAction,
  accountId: number,
  subject: string,
): Promise<void> {
  const details = { subject }
  if (!('session' in who)) return recordChange(tx, who, action, { accountId }, details)
  await recordOwnChange(tx, accountId, action, details)
}

/** Whether the subject belongs to the account. */
export async function ownsSubject(
  db: Database,
  accountId: number,
  { issuer, subject }: OidcSubject,
): Promise<boolean> {
  return (await findOidcLink(db, issuer, subject))?.account_id === accountId
}

function linkedAlready(): AppError {
  return new AppError(
    1002,
    {
      zh: '该统一登录用户已关联账户',
      en: 'this user of the OpenID provider is linked to an account already',
    },
    { status: 409 },
  )
}

function onlyWayIn(): AppError {
  return new AppError(
    1002,
    { zh: '这是唯一的登录方式，不能解除', en: 'It is the only way to sign in and cannot be removed' },
    { status: 409 },
  )
}

function tooManyLinks(): AppError {
  return new AppError(1002, {
    zh: `每个账户最多关联 ${maxOidcLinks} 个统一登录用户`,
    en: `an account has at most ${maxOidcLinks} links to the OpenID provider`,
  })
}
