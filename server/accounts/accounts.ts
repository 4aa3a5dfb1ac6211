// Accounts as the operator and the account holder handle them: made, changed, given and deprived of a key.
import { formatDay, startOfDay } from '../../contract/time.ts'
import type { Text } from '../../contract/text.ts'
import type { Database } from '../db/database.ts'
import { AppError } from '../http/errors.ts'
import { hashKey, hintOfKey, makeKey } from './key.ts'
import { hashPassword, makePassword, passwordProblem } from './password.ts'
import {
  type Account,
  type AccountChange,
  findByUsername,
  insertAccount,
  type NewAccount,
  replaceKey,
  type Role,
  updateAccount,
} from './store.ts'

const usernamePattern = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]{0,62}[\p{L}\p{N}]$/u

export interface CreatedAccount {
  readonly id: number
  readonly username: string
  readonly password: string
}

export interface AccountDraft {
  readonly username: string
  /** A random one when left out. */
  readonly password?: string | undefined
  readonly role?: Role
  readonly expiresOn?: string | undefined
}

/** Checks the wish and hashes the password: what is left is to insert the row. */
export async function draftAccount(wish: AccountDraft): Promise<{ row: NewAccount; password: string }> {
  if (!usernamePattern.test(wish.username)) {
    throw invalid(
      '用户名须为 2 至 64 个字母、数字、汉字或 _ . @ -，首尾为字母、数字或汉字',
      'a user name has 2 to 64 letters, digits or _ . @ -, and begins and ends with a letter or digit',
    )
  }
  const password = wish.password ?? makePassword()
  requireGoodPassword(password, wish.username)
  const expiresOn = wish.expiresOn === undefined ? null : requireDay(wish.expiresOn)
  const passwordHash = await hashPassword(password)
  return { row: { username: wish.username, role: wish.role ?? 'account', passwordHash, expiresOn }, password }
}

export async function createAccount(db: Database, wish: AccountDraft): Promise<CreatedAccount> {
  const { row, password } = await draftAccount(wish)
  const id = await db.write((tx) => insertAccount(tx, row))
  if (id === undefined) throw nameTaken()
  return { id, username: wish.username, password }
}

export function nameTaken(): AppError {
  return invalid('用户名已被使用', 'the user name is taken')
}

/** A new key with what is stored of it. */
export function makeKeyRow(): { key: string; hash: string; hint: string } {
  const key = makeKey()
  return { key, hash: hashKey(key), hint: hintOfKey(key) }
}

/** Gives the account a new key; the old one, if any, is invalid from the next request on. The key is returned this once. */
export async function resetKey(db: Database, accountId: number): Promise<string> {
  const { key, hash, hint } = makeKeyRow()
  await db.write((tx) => replaceKey(tx, accountId, { hash, hint }))
  return key
}

export async function clearKey(db: Database, accountId: number): Promise<void> {
  await db.write((tx) => replaceKey(tx, accountId, undefined))
}

export interface AccountWish {
  /** A day, or `never`. */
  readonly expires?: string | undefined
  readonly suspended?: boolean | undefined
  readonly smsEnabled?: boolean | undefined
  /** An empty text takes the signature away. */
  readonly signName?: string | undefined
  readonly password?: string | undefined
}

export async function changeAccount(db: Database, account: Account, wish: AccountWish): Promise<void> {
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
  await db.write((tx) => updateAccount(tx, account.id, change))
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
  if (length < 2 || length > 20)
    return { zh: '签名须为 2 至 20 个字符', en: 'a signature has 2 to 20 characters' }
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
