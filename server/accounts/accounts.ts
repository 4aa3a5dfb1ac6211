// Accounts as the operator and the account holder handle them: made, changed, given and deprived of a key.
import { formatDay, startOfDay } from '../../contract/time.ts'
import { sms } from '../../contract/sms.ts'
import type { Text } from '../../contract/text.ts'
import type { Database, Tx } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { hashKey, hintOfKey, makeKey } from './key.ts'
import { hashPassword, makePassword, passwordProblem } from './password.ts'
import {
  type Account,
  type AccountChange,
  findByUsername,
  insertAccount,
  insertKey,
  replaceKey,
  type Role,
  updateAccount,
} from './store.ts'

const usernamePattern = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]{0,62}[\p{L}\p{N}]$/u

/** What commits together with a change: the line of the audit log that tells of it. */
export type Alongside = (tx: Tx) => Promise<void>

export interface CreatedAccount {
  readonly id: number
  readonly username: string
  readonly password: string
}

export async function createAccount(
  db: Database,
  wish: { username: string; password?: string | undefined; role?: Role; expiresOn?: string | undefined },
  alongside?: (tx: Tx, id: number) => Promise<void>,
): Promise<CreatedAccount> {
  if (!usernamePattern.test(wish.username)) {
    throw invalid(
      '用户名须为 2 至 64 个字母、数字、汉字或 _ . @ -，首尾为字母、数字或汉字',
      'a user name has 2 to 64 letters, digits or _ . @ -, and begins and ends with a letter or digit',
    )
  }
  const password = wish.password ?? makePassword()
  requireGoodPassword(password, wish.username)
  const passwordHash = await hashPassword(password)
  const id = await db.write(async (tx) => {
    const inserted = await insertAccount(tx, {
      username: wish.username,
      role: wish.role ?? 'account',
      passwordHash,
      expiresOn: wish.expiresOn === undefined ? null : requireDay(wish.expiresOn),
    })
    if (inserted !== undefined) await alongside?.(tx, inserted)
    return inserted
  })
  if (id === undefined) throw invalid('用户名已被使用', 'the user name is taken')
  return { id, username: wish.username, password }
}

/** Gives the account a new key; the old one, if any, is invalid from the next request on. The key is returned this once. */
export async function resetKey(db: Database, accountId: number, alongside?: Alongside): Promise<string> {
  const key = makeKey()
  await db.write(async (tx) => {
    await replaceKey(tx, accountId, { hash: hashKey(key), hint: hintOfKey(key) })
    await alongside?.(tx)
  })
  return key
}

/** A key for an account that has none; undefined when it has one already. */
export async function generateKey(db: Database, accountId: number): Promise<string | undefined> {
  const key = makeKey()
  const made = await db.write((tx) => insertKey(tx, accountId, { hash: hashKey(key), hint: hintOfKey(key) }))
  return made ? key : undefined
}

export async function clearKey(db: Database, accountId: number, alongside?: Alongside): Promise<void> {
  await db.write(async (tx) => {
    await replaceKey(tx, accountId, undefined)
    await alongside?.(tx)
  })
}

export interface AccountWish {
  /** A day, or `never`. */
  readonly expires?: string | undefined
  readonly suspended?: boolean | undefined
  readonly smsEnabled?: boolean | undefined
  /** An empty text takes the signature away. */
  readonly signName?: string | undefined
  readonly password?: string | undefined
  /** Calls a second and burst; null: the platform's limit. */
  readonly rateLimit?: { readonly perSecond: number; readonly burst: number } | null | undefined
}

export async function changeAccount(
  db: Database,
  account: Account,
  wish: AccountWish,
  alongside?: Alongside,
): Promise<void> {
  const change: AccountChange = {}
  if (wish.expires !== undefined)
    change.expires_on = wish.expires === 'never' ? null : requireDay(wish.expires)
  if (wish.suspended !== undefined) change.suspended = wish.suspended ? 1 : 0
  if (wish.smsEnabled !== undefined) change.sms_enabled = wish.smsEnabled ? 1 : 0
  if (wish.signName !== undefined)
    change.sign_name = wish.signName === '' ? null : requireSignName(wish.signName)
  if (wish.password !== undefined) {
    requireGoodPassword(wish.password, account.username)
    change.password_hash = await hashPassword(wish.password)
  }
  if (wish.rateLimit !== undefined)
    change.rate_limit = wish.rateLimit && `${wish.rateLimit.perSecond},${wish.rateLimit.burst}`
  await db.write(async (tx) => {
    await updateAccount(tx, account.id, change)
    await alongside?.(tx)
  })
}

export async function requireAccount(db: Database, username: string): Promise<Account> {
  const account = await findByUsername(db, username)
  if (!account) throw invalid(`没有账户 ${username}`, `there is no account ${username}`)
  return account
}

/** Valid through the whole of its last day in Shanghai. */
export function isExpired(account: Account, now: number = Date.now()): boolean {
  return account.expires_on !== null && account.expires_on < formatDay(now)
}

/** What keeps a signature out of the brackets it is put in. */
export function signNameProblem(signName: string): Text | undefined {
  const length = [...signName].length
  const { minLength, maxLength } = sms.operations.send.parameters.sign_name
  if (length < minLength || length > maxLength) {
    return {
      zh: `签名须为 ${minLength} 至 ${maxLength} 个字符`,
      en: `a signature has ${minLength} to ${maxLength} characters`,
    }
  }
  if (/[【】[\]\p{Cc}]/u.test(signName)) return { zh: '签名不能含括号', en: 'a signature holds no brackets' }
  return undefined
}

function requireSignName(signName: string): string {
  const problem = signNameProblem(signName)
  if (problem) throw new AppError(1002, problem)
  return signName
}

function requireGoodPassword(password: string, username: string): void {
  const problem = passwordProblem(password, username)
  if (problem) throw new AppError(1002, problem)
}

function requireDay(day: string): string {
  if (startOfDay(day) === undefined)
    throw invalid(`日期 ${day} 无效，格式为 YYYY-MM-DD`, `${day} is no date YYYY-MM-DD`)
  return day
}

function invalid(zh: string, en: string): AppError {
  return new AppError(1002, { zh, en })
}
