// The accounts of keys that this process has charged before: the next paid call needs no look-up of its key. PostgreSQL only.
//
// Only a hint, like the balances that are known: the charge compares the version of the row, and is refused if the account has
// changed since. A call that used a known account and was not charged, for whatever reason, runs again with a look-up. The first
// run has written nothing to the database, because nothing is written before a charge.
import { hourMs } from '../../contract/time.ts'
import type { Call } from '../http/call.ts'
import type { ApiResponse } from '../http/responses.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { Caller, KnownAccounts } from './authenticate.ts'

/** About 8 MB. */
const maxKnown = 10_000

/** A version is a transaction id, which PostgreSQL uses again after four billion transactions. */
const knownForMs = hourMs

export function createKnownAccounts(): KnownAccounts {
  const known = createLazyCache<string, Caller>({
    max: maxKnown,
    ttl: knownForMs,
    ttlResolution: 1_000,
  })
  return {
    find: (keyHash) => known().get(keyHash),
    remember(caller) {
      if (caller.keyHash !== undefined && caller.version !== undefined) known().set(caller.keyHash, caller)
    },
    forget: (keyHash) => void known().delete(keyHash),
  }
}

/** Runs a call again when its account was known and no charge has confirmed it. */
export function confirmAccount(
  handle: (call: Call) => Promise<ApiResponse>,
): (call: Call) => Promise<ApiResponse> {
  return async (call) => {
    try {
      const response = await handle(call)
      if (call.knownAccount !== 'used') return response
    } catch (error) {
      if (call.knownAccount !== 'used') throw error
      if (isUnavailable(error)) {
        forgetAccount(call)
        throw error
      }
    }
    call.knownAccount = 'refused'
    forgetAccount(call)
    return handle(call)
  }
}

/** A call with an old key is not one of the account. */
function forgetAccount({ responseHeaders, trace }: Call): void {
  responseHeaders.length = 0
  trace.accountId = undefined
  trace.username = undefined
  trace.gateway = undefined
  delete trace.steps['checked']
}

/** Another run would wait for the database a second time. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof Error && error.name === 'DatabaseUnavailable'
}
