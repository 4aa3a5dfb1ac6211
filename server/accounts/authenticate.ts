// Authenticates an API call: common parameters, then credentials, the limits of the key, and the rate limit.
import type { Operation } from '../../contract/endpoint.ts'
import type { Parameters, Values } from '../../contract/parameters.ts'
import { type Call, markStep, operationOf, requireParameters } from '../http/call.ts'
import { networkOf } from '../http/address.ts'
import { AppError, tooFrequent } from '../http/errors.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { CallLimits, RateLimit, RateLimitResult } from '../limits/token-bucket.ts'
import { memoizePerTick } from '../http/memoize-per-tick.ts'
import { isExpired } from './accounts.ts'
import { requireKeyAllows } from './key-limits.ts'
import { formOfKey, hashKey } from './key.ts'
import type { Account, FindByKey } from './store.ts'

export interface Caller {
  readonly account: Account
  /** Hash of the key that was sent; the charge checks that it is still valid. Undefined for calls from the console. */
  readonly keyHash: string | undefined
  /** Of the account's row when its key was looked up. Undefined on SQLite and for calls from the console. */
  readonly version?: string | undefined
}

/** The accounts of keys that this process has charged before. The charge checks that they have not changed since. */
export interface KnownAccounts {
  find(keyHash: string): Caller | undefined
  /** To be called after a charge: a key whose calls are refused is looked up each time. */
  remember(caller: Caller): void
  forget(keyHash: string): void
}

export interface AuthenticatorOptions {
  readonly findByKey: FindByKey
  /** Undefined means no limit. */
  readonly rateLimit: RateLimit | undefined
  readonly limits: CallLimits
  /** Undefined on SQLite, which has no versions of rows. */
  readonly knownAccounts: KnownAccounts | undefined
  /** Keys the checksums of API keys. */
  readonly keySecret: string
}

interface CommonValues {
  readonly api_key: string
  readonly username?: string
  readonly action?: string
}

/** `chargedOnce`: operations that write nothing before their charge, so that their calls may use a known account. */
export type Authenticate = <const P extends Parameters>(
  call: Call,
  common: P,
  chargedOnce?: readonly Operation[],
) => Promise<{ caller: Caller; values: Values<P> }>

const noOperations: readonly Operation[] = []

/** About 2 MB. */
const maxIssuedHashes = 10_000

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { limits, keySecret, knownAccounts } = options
  /** Hashes of keys that this installation has issued: the checksum takes several times as long as the hash. */
  const issued = createLazyCache<string, true>({ max: maxIssuedHashes })
  const readKey = memoizePerTick((key: string) => {
    const hash = hashKey(key)
    if (issued().get(hash)) return { form: 'issued', hash }
    const form = formOfKey(key, keySecret)
    if (form === 'malformed') return undefined
    if (form === 'issued') issued().set(hash, true)
    return { form, hash }
  })

  /** What the limits answered to calls that may run again. */
  const counted = new WeakMap<Call, { readonly name: string; readonly result: RateLimitResult }>()

  return async (call, common, chargedOnce = noOperations) => {
    const values = requireParameters(call, common)
    const { api_key: key, username, action } = values as unknown as CommonValues
    // The checksum keeps floods of invented keys away from the database. Only a key from before checksums were keyed can be
    // imitated, so it is not looked up while its network is blocked.
    const found = readKey(key)
    const isLookedUp =
      found !== undefined && (found.form === 'issued' || !limits.isBlocked(networkOf(call.address)))
    const operation = operationOf(call.endpoint, action)
    const mayBeKnown = isLookedUp && operation !== undefined && chargedOnce.includes(operation)
    const known = mayBeKnown ? findKnown(call, found.hash, username) : undefined
    const caller = known ?? (isLookedUp ? await lookUp(found.hash) : undefined)
    if (!caller || (username !== undefined && username !== caller.account.username)) {
      const retryAfter = limits.fail(networkOf(call.address))
      throw retryAfter === undefined ? wrongCredentials() : tooFrequent(retryAfter)
    }
    const { account } = caller
    call.trace.accountId = account.id
    call.trace.username = account.username
    if (account.scopes !== null || account.allow_ips !== null) {
      requireKeyAllows(account, operation?.scope, call.address)
    }
    const limit = limitOf(account, options.rateLimit)
    if (limit) sendLimitHeaders(call, limit, await countCall(call, account.id, limit))
    markStep(call, 'checked')
    return { caller, values }
  }

  async function lookUp(keyHash: string): Promise<Caller | undefined> {
    const account = await options.findByKey(keyHash)
    return account && { account, keyHash, version: account.version ?? undefined }
  }

  /** For calls that a charge will confirm. */
  function findKnown(call: Call, keyHash: string, username: string | undefined): Caller | undefined {
    if (call.knownAccount === 'refused') knownAccounts?.forget(keyHash)
    if (call.knownAccount !== 'allowed') return undefined
    const caller = knownAccounts?.find(keyHash)
    if (!caller || (username !== undefined && username !== caller.account.username)) return undefined
    call.knownAccount = 'used'
    return caller
  }

  /** A call that runs again is counted once, unless its limit has changed meanwhile. */
  async function countCall(call: Call, accountId: number, limit: RateLimit): Promise<RateLimitResult> {
    const name = `${accountId} ${limit.perSecond} ${limit.burst}`
    const earlier = call.knownAccount === 'refused' ? counted.get(call) : undefined
    if (earlier?.name === name) return earlier.result
    const result = await limits.take(accountId, limit)
    if (call.knownAccount === 'used') counted.set(call, { name, result })
    return result
  }
}

function sendLimitHeaders(call: Call, limit: RateLimit, taken: RateLimitResult): void {
  call.responseHeaders.push(
    'RateLimit-Policy',
    `"account";q=${limit.burst};w=${Math.ceil(limit.burst / limit.perSecond)}`,
    'RateLimit',
    `"account";r=${taken.remaining};t=${taken.resetSeconds}`,
  )
  if (!taken.allowed) throw tooFrequent(taken.resetSeconds)
}

function limitOf(account: Account, platform: RateLimit | undefined): RateLimit | undefined {
  if (account.rate_limit === null) return platform
  const [perSecond, burst] = account.rate_limit.split(',').map(Number)
  return perSecond && burst ? { perSecond, burst } : platform
}

/** The same error for an unknown user, a wrong key and a cleared key. */
export function wrongCredentials(): AppError {
  return new AppError(1003, {
    zh: '认证失败，用户名或 API 密钥错误',
    en: 'Authentication failed, wrong user name or API key',
  })
}

export function requireNotSuspended(account: Pick<Account, 'suspended'>): void {
  if (account.suspended === 1) throw accountSuspended()
}

export function accountSuspended(): AppError {
  return new AppError(1004, { zh: '账户已停用', en: 'The account is suspended' }, { status: 403 })
}

/** An expired account may only read. The short link endpoint responds with 400, the others with 403. */
export function requireNotExpired(account: Pick<Account, 'expires_on'>, status: 400 | 403): void {
  if (isExpired(account)) throw accountExpired(status)
}

export function accountExpired(status: 400 | 403): AppError {
  return new AppError(1004, { zh: '账户已过期', en: 'Account expired' }, { status })
}

export function smsDisabled(): AppError {
  return new AppError(1006, { zh: '短信服务未开通', en: 'SMS service not enabled' })
}
