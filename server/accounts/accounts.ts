// Rules for accounts and API keys, used by the console, the command line and the first start.
import { type Actor, recordChange, requireSession } from '../audit/audit.ts'
import type { AuditDetails } from '../audit/store.ts'
import { deleteSessions } from './session-store.ts'
import { formatDay, startOfDay } from '../../contract/time.ts'
import { sms } from '../../contract/sms.ts'
import type { Text } from '../../contract/text.ts'
import { usernameProblem } from '../../contract/usernames.ts'
import { hasHiddenCharacters } from '../../contract/values.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { AppError } from '../http/errors.ts'
import { requireKeySecret } from './key-secret-store.ts'
import { formatKeyHint, generateApiKey, hashKey } from './key.ts'
import { generatePassword, hashPassword, passwordProblem, systemShare } from './password.ts'
import { approveSignName } from './sign-name-store.ts'
import {
  type Account,
  type AccountChange,
  findByUsername,
  insertAccount,
  insertKey,
  lockByPassword,
  replaceKey,
  type Role,
  updateAccount,
} from './store.ts'

export interface NewAccountInput {
  readonly username: string
  /** Generated when left out. */
  readonly password?: string | undefined
  readonly role?: Role
  readonly expiresOn?: string | undefined
  /** Whose turn it is to hash a password; default: the actor's. */
  readonly share?: string
}

export interface CreatedAccount {
  readonly id: number
  readonly username: string
  readonly password: string
  readonly passwordHash: string
}

/** `more` is written in the same transaction and named in the audit row. */
export async function createAccount(
  db: Database,
  actor: Actor,
  input: NewAccountInput,
  more?: { readonly details?: AuditDetails; write(tx: Tx, id: number): Promise<void> },
): Promise<CreatedAccount> {
  const { username } = input
  requireValid('username', usernameProblem(username))
  const password = input.password ?? generatePassword()
  requireValid('password', passwordProblem(password, username))
  const passwordHash = await hashPassword(password, input.share ?? shareOf(actor))
  const role = input.role ?? 'account'
  const expiresOn = input.expiresOn === undefined ? null : requireDay(input.expiresOn)
  const id = await db.write(async (tx) => {
    const inserted = await insertAccount(tx, { username, role, passwordHash, expiresOn })
    if (inserted === undefined) return undefined
    await more?.write(tx, inserted)
    await recordChange(tx, actor, 'account.create', username, {
      ...(role === 'operator' && { role }),
      expires_on: expiresOn,
      ...more?.details,
    })
    return inserted
  })
  if (id === undefined) throw invalid('username', { zh: '用户名已被使用', en: 'the user name is taken' })
  return { id, username, password, passwordHash }
}

/** Replaces the account's key; the old one is invalid from the next request on. Returns the new key, which is not stored. */
export async function resetKey(db: Database, actor: Actor, accountId: number): Promise<string> {
  return db.write(async (tx) => {
    await requireSameCredentials(tx, actor)
    const key = generateApiKey(await requireKeySecret(tx))
    await replaceKey(tx, accountId, { hash: hashKey(key), hint: formatKeyHint(key) })
    await emitEvents(tx, [{ accountId, type: 'key.reset', data: { key_hint: formatKeyHint(key) } }])
    await recordChange(tx, actor, 'key.reset', { accountId })
    return key
  })
}

/** Creates a key for an account without one, in a session; undefined when the account already has a key. */
export async function createFirstKey(
  db: Database,
  session: { readonly id: number; readonly account_id: number },
): Promise<string | undefined> {
  return db.write(async (tx) => {
    await requireSession(tx, session.id)
    const key = generateApiKey(await requireKeySecret(tx))
    const created = { hash: hashKey(key), hint: formatKeyHint(key) }
    return (await insertKey(tx, session.account_id, created)) ? key : undefined
  })
}

export async function clearKey(db: Database, actor: Actor, accountId: number): Promise<void> {
  await db.write(async (tx) => {
    await requireSameCredentials(tx, actor)
    await replaceKey(tx, accountId, undefined)
    await recordChange(tx, actor, 'key.clear', { accountId })
  })
}

export interface AccountInput {
  /** A day, or `never`. */
  readonly expires?: string | undefined
  readonly suspended?: boolean | undefined
  readonly smsEnabled?: boolean | undefined
  /** Approved and made the default immediately. An empty text makes the platform's the default. */
  readonly signName?: string | undefined
  readonly password?: string | undefined
  /** Calls per second and burst; null for the platform's limit. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number } | null | undefined
}

/** A suspension or a new password ends all sessions of the account but `keepSession`. Returns how many ended. */
export async function changeAccount(
  db: Database,
  actor: Actor,
  account: Account,
  input: AccountInput,
  keepSession?: number,
): Promise<number> {
  const { expires, suspended, smsEnabled, signName, password, rateLimit } = input
  const change: AccountChange = {}
  if (expires !== undefined) change.expires_on = expires === 'never' ? null : requireDay(expires)
  if (suspended !== undefined) change.suspended = suspended ? 1 : 0
  if (smsEnabled !== undefined) change.sms_enabled = smsEnabled ? 1 : 0
  if (signName !== undefined) {
    if (signName !== '') requireValid('sign_name', signNameProblem(signName))
    change.sign_name = signName === '' ? null : signName
  }
  if (password !== undefined) {
    requireValid('password', passwordProblem(password, account.username))
    change.password_hash = await hashPassword(password, shareOf(actor))
  }
  if (rateLimit !== undefined) change.rate_limit = rateLimit && `${rateLimit.perSecond},${rateLimit.burst}`
  return db.write(async (tx) => {
    await requireSameCredentials(tx, actor)
    await updateAccount(tx, account.id, change)
    if (change.sign_name) await approveSignName(tx, account.id, change.sign_name)
    const endsSessions = suspended === true || password !== undefined
    const ended = endsSessions ? await deleteSessions(tx, account.id, keepSession) : 0
    const { password_hash: passwordHash, ...details } = {
      ...change,
      ...(suspended !== undefined && { suspended }),
      ...(smsEnabled !== undefined && { sms_enabled: smsEnabled }),
    }
    const isOnlyPassword = passwordHash !== undefined && Object.keys(details).length === 0
    await recordChange(
      tx,
      actor,
      isOnlyPassword ? 'account.reset_password' : 'account.change',
      account.username,
      { ...details, ...(passwordHash !== undefined && !isOnlyPassword && { password_changed: true }) },
    )
    return ended
  })
}

function shareOf(actor: Actor): string {
  if (actor.kind === 'operator') return `operator ${actor.name}`
  return actor.kind === 'account' ? `account ${actor.accountId}` : systemShare
}

/** Verifying a password takes time, in which it may have been changed. Then the sessions have ended too. */
async function requireSameCredentials(tx: Tx, actor: Actor): Promise<void> {
  if (actor.kind !== 'account') return
  if (actor.sessionId !== undefined) await requireSession(tx, actor.sessionId)
  if (actor.passwordHash === undefined) return
  if (!(await lockByPassword(tx, actor.accountId, actor.passwordHash))) {
    throw new AppError(1003, {
      zh: '密码已更改，请重新登录',
      en: 'The password has changed, please sign in again',
    })
  }
}

export async function requireAccount(queries: Queries, username: string): Promise<Account> {
  const account = await findByUsername(queries, username)
  if (!account) {
    throw invalid('username', { zh: `没有账户 ${username}`, en: `there is no account ${username}` })
  }
  return account
}

/** An account is valid until the end of its last day in Shanghai. */
export function isExpired(account: Pick<Account, 'expires_on'>, now: number = Date.now()): boolean {
  return account.expires_on !== null && account.expires_on < formatDay(now)
}

/** The signature is sent in 【】, so it must not contain brackets itself. */
export function signNameProblem(signName: string): Text | undefined {
  const length = [...signName].length
  const { minLength, maxLength } = sms.operations.send.parameters.sign_name
  if (length < minLength || length > maxLength) {
    return {
      zh: `签名须为 ${minLength} 至 ${maxLength} 个字符`,
      en: `a signature has ${minLength} to ${maxLength} characters`,
    }
  }
  if (/[\p{Ps}\p{Pe}<>＜＞]/u.test(signName)) {
    return { zh: '签名不能含括号', en: 'a signature holds no brackets' }
  }
  if (hasHiddenCharacters(signName)) {
    return { zh: '签名不能含不可见字符', en: 'a signature holds no invisible characters' }
  }
  return undefined
}

function requireDay(day: string): string {
  if (startOfDay(day) !== undefined) return day
  throw invalid('expires_on', {
    zh: `日期 ${day} 无效，格式为 YYYY-MM-DD`,
    en: `${day} is no date YYYY-MM-DD`,
  })
}

function requireValid(field: string, problem: Text | undefined): void {
  if (problem) throw invalid(field, problem)
}

function invalid(field: string, problem: Text): AppError {
  return new AppError(1002, problem, { fields: { [field]: problem } })
}
