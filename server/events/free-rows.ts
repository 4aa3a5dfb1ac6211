// Bounds what an account can make the service store without paying: repeated events about one link, events about refunded messages,
// and responses of its webhooks.
import type { EventType, PlatformAlertType } from '../../contract/events.ts'
import { createLazyCache } from '../lazy-cache.ts'
import type { AttemptRecord } from './dispatch-store.ts'

/** Updates are free and can use a link up, or let it expire, again and again. */
const repeatable: ReadonlySet<EventType | PlatformAlertType> = new Set([
  'link.exhausted',
  'link.expired',
] as const)

const repeats: Allowance = { atOnce: 100, everyMs: 60_000 }

/** One with ten attempts at 20 webhooks takes 11 kB. */
const refunds: Allowance = { atOnce: 10_000, everyMs: 10_000 }

const responses: Allowance = { atOnce: 1_000, everyMs: 10_000 }

/** Above this number, the least recently used ones are forgotten. */
const maxEntries = 100_000

interface Allowance {
  readonly atOnce: number
  /** One more after this time. */
  readonly everyMs: number
}

interface Allowances {
  /** Says whether an account has one left, and uses it. */
  use(accountId: number): boolean
  /** Gives it one more. */
  add(accountId: number): void
}

function createAllowance({ atOnce, everyMs }: Allowance): Allowances {
  const accounts = createLazyCache<number, { left: number; at: number }>({ max: maxEntries })

  function change(accountId: number, by: 1 | -1): boolean {
    const now = performance.now()
    const previous = accounts().get(accountId) ?? { left: atOnce, at: now }
    const left = Math.min(atOnce, previous.left + (now - previous.at) / everyMs)
    if (left + by < 0) {
      accounts().set(accountId, { left, at: now })
      return false
    }
    accounts().set(accountId, { left: Math.min(atOnce, left + by), at: now })
    return true
  }

  return {
    use: (accountId) => change(accountId, -1),
    add(accountId) {
      // An account that used none has them all.
      if (accounts().has(accountId)) change(accountId, 1)
    },
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
    return mayRepeat.use(accountId)
  }
}

export interface RefundLimit {
  /** The account paid for a message. */
  addPaid(accountId: number): void
  /** Whether the event of a refunded message may be written. */
  mayEmit(accountId: number): boolean
}

/** A message that is refunded costs nothing; an account that also pays for messages gets an event for every one. */
export function createRefundLimit(): RefundLimit {
  const allowance = createAllowance(refunds)
  return { addPaid: allowance.add, mayEmit: allowance.use }
}

/** Leaves out the text of a response when the account has stored many of them; its status is always stored. */
export function createResponseBudget(): (accountId: number, record: AttemptRecord) => AttemptRecord {
  const mayStore = createAllowance(responses)
  return (accountId, record) =>
    record.response === '' || mayStore.use(accountId) ? record : { ...record, response: '' }
}
