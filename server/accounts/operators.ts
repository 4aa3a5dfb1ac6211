// Rules for operators: their roles, and the tokens that open the operator's JSON API to programs.
import { createHmac } from 'node:crypto'
import { maxTokenNameLength, maxTokens } from '../../contract/console/operators.ts'
import { isTokenScope, type OperatorRole, tokenScopes } from '../../contract/console/roles.ts'
import type { Text } from '../../contract/text.ts'
import { formatDay, startOfDay } from '../../contract/time.ts'
import { hasHiddenCharacters, printable } from '../../contract/values.ts'
import { type Actor, recordChange } from '../audit/audit.ts'
import type { Database, Queries } from '../db/database.ts'
import { invalidField, requireNoProblems } from '../http/errors.ts'
import { base62, randomText } from '../random.ts'
import { hashKey } from './key.ts'
import {
  countTokens,
  deleteToken,
  findTokenByHash,
  insertToken,
  type OperatorToken,
} from './operator-token-store.ts'
import { type Account, lockOwners, updateAccount } from './store.ts'

/** There is always an owner who is not suspended. */
export async function changeRole(
  db: Database,
  actor: Actor,
  account: Account,
  role: OperatorRole,
): Promise<void> {
  if (account.role !== 'operator') {
    throw invalidField('role', { zh: '只有管理员有角色', en: 'only operators have a role' })
  }
  await db.write(async (tx) => {
    // All owners are locked, so that two of them cannot demote each other at the same time.
    const owners = await lockOwners(tx)
    if (role !== 'owner' && owners.every((id) => id === account.id)) {
      throw invalidField('role', { zh: '不能变更最后一位所有者', en: 'the last owner stays an owner' })
    }
    // Before the change, which may concern the role of the actor.
    await recordChange(tx, actor, 'account.role', account.username, { role })
    await updateAccount(tx, account.id, { operator_role: role })
  })
}

export interface NewTokenInput {
  readonly name: string
  readonly scopes: readonly string[]
  /** The last valid day; null or undefined: valid until it is revoked. */
  readonly expires_on?: string | null | undefined
}

export interface CreatedToken {
  readonly token: OperatorToken
  /** Shown once, stored as a hash. */
  readonly secret: string
}

/** `checksumSecret` keys the checksum that keeps invented tokens away from the database. */
export async function createToken(
  db: Database,
  actor: Actor,
  operator: Account,
  input: NewTokenInput,
  checksumSecret: string,
): Promise<CreatedToken> {
  const name = input.name.trim()
  const scopes = [...new Set(input.scopes.map((scope) => scope.trim()).filter((scope) => scope !== ''))]
  const expiresOn = input.expires_on ?? null
  requireNoProblems(tokenProblems(name, scopes, expiresOn))
  const secret = generateToken(checksumSecret)
  const token = await db.write(async (tx) => {
    await lockOwners(tx)
    if ((await countTokens(tx)) >= maxTokens) {
      throw invalidField('name', {
        zh: `最多 ${maxTokens} 个令牌`,
        en: `there are ${maxTokens} tokens at most`,
      })
    }
    const inserted = await insertToken(tx, {
      account_id: operator.id,
      name,
      token_hash: hashKey(secret),
      hint: `${secret.slice(0, 8)}••••••${secret.slice(-4)}`,
      scopes: scopes.join(','),
      expires_on: expiresOn,
    })
    await recordChange(tx, actor, 'token.create', name, {
      operator: operator.username,
      scopes: scopes.join(','),
      ...(expiresOn !== null && { expires_on: expiresOn }),
    })
    return inserted
  })
  if (!token) throw new Error('the token was not inserted')
  return { token, secret }
}

/** By field. */
function tokenProblems(
  name: string,
  scopes: readonly string[],
  expiresOn: string | null,
): Readonly<Record<string, Text>> {
  const problems: Record<string, Text> = {}
  if (name === '' || [...name].length > maxTokenNameLength || hasHiddenCharacters(name)) {
    problems['name'] = {
      zh: `名称必须是 1 至 ${maxTokenNameLength} 个可见字符`,
      en: `a name has 1 to ${maxTokenNameLength} visible characters`,
    }
  }
  const wrong = scopes.filter((scope) => !isTokenScope(scope))
  if (wrong.length > 0 || scopes.length === 0) {
    const which = wrong.slice(0, 5).map(printable).join(', ')
    problems['scopes'] = {
      zh: `权限 ${which} 无效，可选 ${tokenScopes.join(',')}`,
      en: `the scopes ${which} are invalid; there are ${tokenScopes.join(',')}`,
    }
  }
  if (
    expiresOn !== null &&
    (startOfDay(expiresOn) === undefined || isTokenExpired({ expires_on: expiresOn }))
  ) {
    problems['expires_on'] = {
      zh: `${printable(expiresOn)} 不是今天或以后的日期 YYYY-MM-DD`,
      en: `${printable(expiresOn)} is not a date YYYY-MM-DD from today on`,
    }
  }
  return problems
}

/** A token is valid until the end of its last day in Shanghai. */
export function isTokenExpired({ expires_on: on }: Pick<OperatorToken, 'expires_on'>): boolean {
  return on !== null && on < formatDay(Date.now())
}

/** Returns false when there is no such token. */
export function revokeToken(db: Database, actor: Actor, id: number): Promise<boolean> {
  return db.write(async (tx) => {
    const name = await deleteToken(tx, id)
    if (name === undefined) return false
    await recordChange(tx, actor, 'token.revoke', name, { id })
    return true
  })
}

/** Undefined when the token is invented, revoked or expired. */
export async function findToken(
  queries: Queries,
  secret: string,
  checksumSecret: string,
): Promise<OperatorToken | undefined> {
  const random = tokenPattern.exec(secret)?.[1]
  if (random === undefined || !secret.endsWith(checksumOf(random, checksumSecret))) return undefined
  const token = await findTokenByHash(queries, hashKey(secret))
  return token && !isTokenExpired(token) ? token : undefined
}

const tokenPattern = /^tgo_([0-9A-Za-z]{43})[0-9a-f]{8}$/

function generateToken(checksumSecret: string): string {
  const random = randomText(base62, 43)
  return `tgo_${random}${checksumOf(random, checksumSecret)}`
}

function checksumOf(random: string, secret: string): string {
  return createHmac('sha256', secret).update(random).digest('hex').slice(0, 8)
}
