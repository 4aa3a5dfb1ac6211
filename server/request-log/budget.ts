// The daily budget of an account for calls that cost nothing: a key without credits must not fill the disk.
import { dayMs, formatDay, shanghaiOffsetMs } from '../../contract/time.ts'
import type { DayUse } from './store.ts'

export interface LogBudget {
  /** Whether the account may still add to the log on the day of `at`. */
  isOpen(accountId: number, at: number): boolean
  addBytes(accountId: number, at: number, bytes: number): void
  /** Counts a call that is not recorded. */
  skip(accountId: number, at: number): void
  /** What was added since the last call, to be stored. */
  take(): DayUse[]
  putBack(uses: readonly DayUse[]): void
  /** Sums of all processes, as stored. */
  setTotals(totals: readonly DayUse[]): void
}

/** `onUsedUp` is called once for each account and day. */
export function createLogBudget(
  bytesPerDay: number,
  onUsedUp: (accountId: number, day: string) => void,
): LogBudget {
  let today = -1
  /** Accounts whose budget of `today` is used up. */
  let usedUp = new Set<number>()
  let uses = new Map<string, DayUse>()

  function useOf(accountId: number, day: string): DayUse {
    const name = `${accountId} ${day}`
    let use = uses.get(name)
    if (!use) uses.set(name, (use = { account_id: accountId, day, bytes: 0, skipped: 0 }))
    return use
  }

  return {
    isOpen(accountId, at) {
      const day = Math.floor((at + shanghaiOffsetMs) / dayMs)
      if (day > today) {
        today = day
        usedUp = new Set()
      }
      return !usedUp.has(accountId)
    },
    addBytes(accountId, at, bytes) {
      useOf(accountId, formatDay(at)).bytes += bytes
    },
    skip(accountId, at) {
      useOf(accountId, formatDay(at)).skipped += 1
    },
    take() {
      const taken = [...uses.values()]
      uses = new Map()
      return taken
    },
    putBack(failed) {
      // Their calls are dropped, so their bytes are not used.
      for (const { account_id, day, skipped } of failed) useOf(account_id, day).skipped += skipped
    },
    setTotals(totals) {
      const current = formatDay(today * dayMs - shanghaiOffsetMs)
      for (const { account_id, day, bytes } of totals) {
        if (bytes < bytesPerDay || day !== current || usedUp.has(account_id)) continue
        usedUp.add(account_id)
        onUsedUp(account_id, day)
      }
    },
  }
}
