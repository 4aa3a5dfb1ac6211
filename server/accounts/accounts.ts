// Rules for accounts and API keys, used by the console, the command line and the first start.
import type { AuditAction } from '../../contract/audit-actions.ts'
import { signNameProblem } from '../../contract/sign-name.ts'
import { type Actor, recordChange, recordOwnChange, requireSession } from '../audit/audit.ts'
import type { AuditDetails } from '../audit/store.ts'
import { deleteRecoveries } from './mail-store.ts'
import { deleteSessions } from './session-store.ts'
import { formatDay, startOfDay } from '../../contract/time.ts'
import type { OperatorRole } from '../../contract/console/roles.ts'
import { priceNames } from '../../contract/credits.ts'
import { maxAlertPercents } from '../../contract/events.ts'
import type { Text } from '../../contract/text.ts'
import { usernameProblem } from '../../contract/usernames.ts'
import { printable } from '../../contract/values.ts'
import type { Database, Queries, Tx } from '../db/database.ts'
import { emitEvents } from '../events/emit.ts'
import { AppError, invalidField, requireNoProblems } from '../http/errors.ts'
import { readAllowList, readScopes } from './key-limits.ts'
import { requireKeySecret } from './key-secret-store.ts'
import { formatKeyHint, generateApiKey, hashKey } from './key.ts'
import { generatePassword, hashPassword, passwordProblem } from './password.ts'
import { knownShare, systemShare } from './password-turns.ts'
import { approveSignName } from './sign-name-store.ts'
import { ownPrices, readPrices } from './prices.ts'
import {
  type Account,
  type AccountUpdate,
  findByUsername,
  insertAccount,
  insertKey,
  lockAccount,
  lockByPassword,
  lockOwners,
  replaceKey,
  type Role,
  updateAccount,
} from './store.ts'

export interface NewAccountInput {
  readonly username: string
  /** Generated when left out. */
  readonly password?: string | undefined
  readonly role?: Role
  /** Of an operator; `owner` when left out. */
  readonly operatorRole?: OperatorRole
  readonly expiresOn?: string | undefined
  /** The share of the queue in which the password is hashed; the actor's if left out. */
  readonly share?: string
}

export interface AccountWithSecrets {
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
): Promise<AccountWithSecrets> {
  const { username } = input
  requireNoProblems({ username: usernameProblem(username) })
  const password = input.password ?? generatePassword()
  requireNoProblems({ password: passwordProblem(password, username) })
  const passwordHash = await hashPassword(password, input.share ?? shareOf(actor))
  const role = input.role ?? 'account'
  const operatorRole = input.operatorRole ?? 'owner'
  const expiresOn = input.expiresOn === undefined ? null : requireDay(input.expiresOn)
  const id = await db.write(async (tx) => {
    const inserted = await insertAccount(tx, {
      username,
      role,
      operatorRole,
      passwordHash,
      expiresOn,
    })
    if (inserted === undefined) return undefined
    await more?.write(tx, inserted)
    await recordChange(tx, actor, 'account.create', username, {
      ...(role === 'operator' && { role: operatorRole === 'owner' ? role : operatorRole }),
      expires_on: expiresOn,
      ...more?.details,
    })
    return inserted
  })
  if (id === undefined) throw invalidField('username', { zh: '用户名已被使用', en: 'the user name is taken' })
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
    if (!(await insertKey(tx, session.account_id, created))) return undefined
    await recordOwnChange(tx, session.account_id, 'key.create')
    return key
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
  /** Of the API key; null for all. */
  readonly scopes?: readonly string[] | null | undefined
  /** Addresses and CIDR ranges that the API key may be used from; null for any. */
  readonly allowIps?: readonly string[] | null | undefined
  /** Prices that differ from those of the installation; null for none. */
  readonly prices?: Readonly<Record<string, number>> | null | undefined
  /** The prices are changed only while they are these, if given. */
  readonly pricesBefore?: Readonly<Record<string, number>> | null | undefined
  /** Percentages of the last grant at which low credits are reported; empty: none. */
  readonly alertPercents?: readonly number[] | undefined
}

/** What is changed with the account: problems found before, and rows written in the same transaction. */
export interface FurtherChange {
  readonly problems: Readonly<Record<string, Text>>
  readonly details: AuditDetails
  write(tx: Tx): Promise<void>
}

/**
 * Throws one error that names every problem. A suspension or a new password ends all sessions of the account but
 * `keepSession`, and invalidates its recovery links. Returns how many sessions ended.
 */
export async function changeAccount(
  db: Database,
  actor: Actor,
  account: Account,
  input: AccountInput,
  keepSession?: number,
  further?: FurtherChange,
): Promise<number> {
  const { suspended, smsEnabled, password } = input
  requireNoProblems({ ...accountProblems(account, input), ...further?.problems })
  const { change } = readChange(account, input)
  if (password !== undefined) change.password_hash = await hashPassword(password, shareOf(actor))
  return db.write(async (tx) => {
    // Only then: every other change locks its account first, then the operator who makes it.
    if (suspended === true && account.role === 'operator') await requireOtherOwner(tx, account.id)
    await requireSameCredentials(tx, actor)
    if (change.prices !== undefined && input.pricesBefore !== undefined)
      await requireSamePrices(tx, account.id, input.pricesBefore)
    await updateAccount(tx, account.id, change)
    if (change.sign_name) await approveSignName(tx, account.id, change.sign_name)
    await further?.write(tx)
    const endsSessions = suspended === true || password !== undefined
    const ended = endsSessions ? await deleteSessions(tx, account.id, keepSession) : 0
    if (endsSessions) await deleteRecoveries(tx, account.id)
    const { password_hash: passwordHash, ...details } = {
      ...change,
      ...(suspended !== undefined && { suspended }),
      ...(smsEnabled !== undefined && { sms_enabled: smsEnabled }),
      ...further?.details,
    }
    const isOnlyPassword = passwordHash !== undefined && Object.keys(details).length === 0
    await recordChange(
      tx,
      actor,
      isOnlyPassword ? passwordAction(actor) : 'account.change',
      account.username,
      { ...details, ...(passwordHash !== undefined && !isOnlyPassword && { password_changed: true }) },
    )
    return ended
  })
}

/** There is always an owner who is not suspended. The owners are locked, so that two cannot suspend each other at the same time. */
async function requireOtherOwner(tx: Tx, accountId: number): Promise<void> {
  const owners = await lockOwners(tx)
  if (owners.length === 1 && owners[0] === accountId)
    throw invalidField('suspended', {
      zh: '不能停用最后一位所有者',
      en: 'the last owner cannot be suspended',
    })
}

async function requireSamePrices(
  tx: Tx,
  accountId: number,
  before: Readonly<Record<string, number>> | null,
): Promise<void> {
  const prices = (await lockAccount(tx, accountId))?.prices ?? null
  const current: Readonly<Record<string, number>> = prices === null ? {} : ownPrices(prices)
  if (priceNames.every((name) => current[name] === before?.[name])) return
  throw new AppError(
    1005,
    {
      zh: '账户的价格已被他人修改，请刷新后重试',
      en: 'The prices of the account have been changed meanwhile; reload and try again',
    },
    { status: 409 },
  )
}

function passwordAction(actor: Actor): AuditAction {
  return actor.kind === 'account' ? 'account.change_password' : 'account.reset_password'
}

/** By field; empty when the change is possible. */
export function accountProblems(account: Account, input: AccountInput): Readonly<Record<string, Text>> {
  return readChange(account, input).problems
}

/** Without the password, which takes time to hash. */
function readChange(
  { username }: Account,
  { expires, suspended, smsEnabled, signName: givenSign, password, rateLimit, ...limits }: AccountInput,
): { change: AccountUpdate; problems: Record<string, Text> } {
  const change: AccountUpdate = {}
  const problems: Record<string, Text> = {}
  if (expires !== undefined) {
    const problem = expires === 'never' ? undefined : dayProblem(expires)
    if (problem) problems['expires_on'] = problem
    change.expires_on = expires === 'never' ? null : expires
  }
  if (suspended !== undefined) change.suspended = suspended ? 1 : 0
  if (smsEnabled !== undefined) change.sms_enabled = smsEnabled ? 1 : 0
  // As the API reads it: calls could never name a signature with blanks around it.
  const signName = givenSign?.trim()
  if (signName !== undefined) {
    const problem = signName === '' ? undefined : signNameProblem(signName)
    if (problem) problems['sign_name'] = problem
    change.sign_name = signName === '' ? null : signName
  }
  if (password !== undefined) {
    const problem = passwordProblem(password, username)
    if (problem) problems['password'] = problem
  }
  if (rateLimit !== undefined) change.rate_limit = rateLimit && `${rateLimit.perSecond},${rateLimit.burst}`
  if (limits.alertPercents !== undefined) {
    const problem = alertPercentsProblem(limits.alertPercents)
    if (problem) problems['alert_percents'] = problem
    change.alert_percents = limits.alertPercents.toSorted((one, other) => other - one).join(',')
  }
  const lists = {
    ...(limits.scopes !== undefined && { scopes: readScopes(limits.scopes) }),
    ...(limits.allowIps !== undefined && { allow_ips: readAllowList(limits.allowIps) }),
    ...(limits.prices !== undefined && { prices: readPrices(limits.prices) }),
  }
  for (const [name, read] of Object.entries(lists)) {
    if ('problem' in read) problems[name] = read.problem
    else change[name as keyof typeof lists] = read.value
  }
  return { change, problems }
}

function alertPercentsProblem(percents: readonly number[]): Text | undefined {
  const isValid =
    percents.length <= maxAlertPercents &&
    new Set(percents).size === percents.length &&
    percents.every((percent) => Number.isInteger(percent) && percent >= 1 && percent <= 99)
  if (isValid) return undefined
  return {
    zh: `必须是最多 ${maxAlertPercents} 个 1 至 99 的不同整数`,
    en: `must be at most ${maxAlertPercents} different whole numbers from 1 to 99`,
  }
}

function shareOf(actor: Actor): string {
  if (actor.kind === 'operator') return `operator ${actor.name}`
  return actor.kind === 'account' ? knownShare(`account ${actor.accountId}`) : systemShare
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
    throw invalidField('username', { zh: `账户 ${username} 不存在`, en: `there is no account ${username}` })
  }
  return account
}

/** An account is valid until the end of its last day in Shanghai. */
export function isExpired(account: Pick<Account, 'expires_on'>, now: number = Date.now()): boolean {
  return account.expires_on !== null && account.expires_on < formatDay(now)
}

function requireDay(day: string): string {
  requireNoProblems({ expires_on: dayProblem(day) })
  return day
}

function dayProblem(day: string): Text | undefined {
  if (startOfDay(day) !== undefined) return undefined
  return {
    zh: `日期 ${printable(day)} 无效，格式为 YYYY-MM-DD`,
    en: `${printable(day)} is not a date YYYY-MM-DD`,
  }
}
