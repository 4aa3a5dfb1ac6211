// Authenticates an API call: common parameters, then credentials, the limits of the key, and the rate limit.
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
}

export interface AuthenticatorOptions {
  readonly findByKey: FindByKey
  /** Undefined means no limit. */
  readonly rateLimit: RateLimit | undefined
  readonly limits: CallLimits
  /** Keys the checksums of API keys. */
  readonly keySecret: string
}

interface CommonValues {
  readonly api_key: string
  readonly username?: string
  readonly action?: string
}

export type Authenticate = <const P extends Parameters>(
  call: Call,
  common: P,
) => Promise<{ caller: Caller; values: Values<P> }>

/** About 2 MB. */
const maxIssuedHashes = 10_000

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { limits, keySecret } = options
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

  return async (call, common) => {
    const values = requireParameters(call, common)
    const { api_key: key, username, action } = values as unknown as CommonValues
    // The checksum keeps floods of invented keys away from the database. Only a key from before checksums were keyed can be
    // imitated, so it is not looked up while its network is blocked.
    const found = readKey(key)
    const isLookedUp =
      found !== undefined && (found.form === 'issued' || !limits.isBlocked(networkOf(call.address)))
    const keyHash = found?.hash
    const account = isLookedUp ? await options.findByKey(found.hash) : undefined
    if (!account || (username !== undefined && username !== account.username)) {
      const retryAfter = limits.fail(networkOf(call.address))
      throw retryAfter === undefined ? wrongCredentials() : tooFrequent(retryAfter)
    }
    call.trace.accountId = account.id
    call.trace.username = account.username
    if (account.scopes !== null || account.allow_ips !== null) {
      requireKeyAllows(account, operationOf(call.endpoint, action)?.scope, call.address)
    }
    const limit = limitOf(account, options.rateLimit)
    if (limit) sendLimitHeaders(call, limit, await limits.take(account.id, limit))
    markStep(call, 'checked')
    return { caller: { account, keyHash }, values }
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
