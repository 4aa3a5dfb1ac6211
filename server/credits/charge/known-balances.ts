// What this process last saw of balances without settings. Only a hint: the statement that charges them checks it.
import { createLazyCache } from '../../lazy-cache.ts'
import { type BalanceId, balanceName, type LockedBalance } from './balances-store.ts'

export interface KnownBalance {
  readonly remaining: number
  readonly keyHash: string | null
  /** The day of its last charge. */
  readonly usageDay: string
}

export interface KnownBalances {
  find(balance: BalanceId): KnownBalance | undefined
  set(balance: BalanceId, known: KnownBalance): void
  /** Forgets those with settings. */
  remember(balances: Iterable<LockedBalance>): void
  forget(balances: Iterable<BalanceId>): void
}

/** About 2 MB. */
const maxKnown = 10_000

export function createKnownBalances(): KnownBalances {
  const known = createLazyCache<string, KnownBalance>({ max: maxKnown })
  return {
    find: (balance) => known().get(balanceName(balance)),
    set: (balance, value) => void known().set(balanceName(balance), value),
    remember(balances) {
      for (const balance of balances) {
        const name = balanceName({ accountId: balance.account_id, apiType: balance.api_type })
        if (balance.settings) known().delete(name)
        else {
          const { remaining, key_hash: keyHash, usage_day: usageDay } = balance
          known().set(name, { remaining, keyHash, usageDay })
        }
      }
    },
    forget(balances) {
      for (const balance of balances) known().delete(balanceName(balance))
    },
  }
}
