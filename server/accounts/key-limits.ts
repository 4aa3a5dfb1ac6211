// The limits of an API key: the scopes it has, and the addresses it may be used from.
import { LRUCache } from 'lru-cache'
import {
  includesScope,
  isScope,
  maxAllowedAddresses,
  type Scope,
  scopes as allScopes,
} from '../../contract/scopes.ts'
import type { Text } from '../../contract/text.ts'
import { printable } from '../../contract/values.ts'
import { createAddressCheck, isAddressOrRange } from '../http/address.ts'
import { AppError } from '../http/errors.ts'
import type { Account } from './store.ts'

export type KeyRestrictions = Pick<Account, 'scopes' | 'allow_ips'>

/** The scope is undefined for an unknown action, which is rejected later. */
export function requireKeyAllows(limits: KeyRestrictions, scope: Scope | undefined, address: string): void {
  if (limits.allow_ips !== null && !isAllowedAddress(limits.allow_ips, address)) throw addressNotAllowed()
  if (limits.scopes !== null && scope !== undefined && !includesScope(limits.scopes.split(','), scope)) {
    throw scopeMissing()
  }
}

/** Results by list and address: an account calls from few addresses, and comparing one with a whole list takes several times as long. */
const checks = new LRUCache<string, LRUCache<string, boolean>>({
  max: 1_000,
  memoMethod: (list) => {
    const check = createAddressCheck(list.split(','))
    // The interface of a link-local address is not part of it.
    return new LRUCache<string, boolean>({
      max: 100,
      memoMethod: (address) => check(address.replace(/%.*$/, '')),
    })
  },
})

export const isAllowedAddress = (list: string, address: string): boolean => checks.memo(list).memo(address)

function addressNotAllowed(): AppError {
  const text = { zh: '来源地址不在允许范围', en: 'The address of the caller is not in the allowed range' }
  return new AppError(1004, text, { status: 403 })
}

function scopeMissing(): AppError {
  const text = { zh: '无权执行此操作', en: 'No permission for this operation' }
  return new AppError(1004, text, { status: 403 })
}

type ReadList = { readonly value: string | null } | { readonly problem: Text }

/** Returns what is stored. Null means all scopes. */
export function readScopes(given: readonly string[] | null): ReadList {
  if (given === null) return { value: null }
  const items = cleaned(given)
  const wrong = items.filter((item) => !isScope(item))
  if (items.length > 0 && wrong.length === 0) return { value: items.join(',') }
  const known = allScopes.join(',')
  return wrong.length === 0
    ? { problem: { zh: `必须至少有一项权限：${known}`, en: `at least one scope is required: ${known}` } }
    : {
        problem: {
          zh: `权限 ${quoted(wrong)} 不存在，可选 ${known}`,
          en: `there is no scope ${quoted(wrong)}; there are ${known}`,
        },
      }
}

/** Returns what is stored. Null means any address. */
export function readAllowList(given: readonly string[] | null): ReadList {
  if (given === null) return { value: null }
  const items = cleaned(given.map((item) => item.toLowerCase()))
  const wrong = items.filter((item) => !isAddressOrRange(item))
  if (wrong.length > 0) {
    return {
      problem: {
        zh: `不是地址或 CIDR 范围：${quoted(wrong)}`,
        en: `not an address or a CIDR range: ${quoted(wrong)}`,
      },
    }
  }
  if (items.length > 0 && items.length <= maxAllowedAddresses) return { value: items.join(',') }
  return {
    problem: {
      zh: `必须有 1 至 ${maxAllowedAddresses} 个地址`,
      en: `1 to ${maxAllowedAddresses} addresses are needed`,
    },
  }
}

function cleaned(items: readonly string[]): string[] {
  return [...new Set(items.map((item) => item.trim()).filter((item) => item !== ''))]
}

function quoted(items: readonly string[]): string {
  const shown = items.slice(0, 5).map(printable).join(', ')
  return items.length > 5 ? `${shown}, …` : shown
}
