// Bounds what an account can make the service store without paying: repeated events about one link, and responses of its webhooks.
import type { EventType, PlatformAlertType } from '../../contract/events.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { AttemptRecord } from './dispatch-store.ts'

/** Updates are free and can use a link up, or let it expire, again and again. */
const repeatable: ReadonlySet<EventType | PlatformAlertType> = new Set([
  'link.exhausted',
  'link.expired',
] as const)

const repeats: Allowance = { atOnce: 100, everyMs: 60_000 }

const responses: Allowance = { atOnce: 1_000, everyMs: 10_000 }

/** Above this number, the least recently used ones are forgotten. */
const maxEntries = 100_000

interface Allowance {
  readonly atOnce: number
  /** One more after this time. */
  readonly everyMs: number
}

/** Says whether an account has one left, and uses it. */
function createAllowance({ atOnce, everyMs }: Allowance): (accountId: number) => boolean {
  const accounts = createLazyCache<number, { left: number; at: number }>({ max: maxEntries })
  return (accountId) => {
    const now = performance.now()
    const previous = accounts().get(accountId) ?? { left: atOnce, at: now }
    const left = Math.min(atOnce, previous.left + (now - previous.at) / everyMs)
    accounts().set(accountId, { left: left < 1 ? left : left - 1, at: now })
    return left >= 1
  }
}

interface RepeatableEvent {
  readonly accountId: number
  readonly type: EventType | PlatformAlertType
  readonly alertKey?: string
}

/** Says whether an event may be written: the first one about each link, and some repeats of each account. */
export function createRepeatLimit(): (event: RepeatableEvent) => boolean {
  const known = createLazyCache<string, true>({ max: maxEntries })
  const mayRepeat = createAllowance(repeats)
  return ({ accountId, type, alertKey }) => {
    if (!repeatable.has(type) || alertKey === undefined) return true
    const key = `${accountId} ${alertKey}`
    if (!known().has(key)) {
      known().set(key, true)
      return true
    }
    return mayRepeat(accountId)
  }
}

/** Leaves out the text of a response when the account has stored many of them; its status is always stored. */
export function createResponseBudget(): (accountId: number, record: AttemptRecord) => AttemptRecord {
  const mayStore = createAllowance(responses)
  return (accountId, record) =>
    record.response === '' || mayStore(accountId) ? record : { ...record, response: '' }
}
