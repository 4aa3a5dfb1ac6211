// The rate limit of an account over several processes. Each process draws tokens from the common bucket, a few more than it
// needs right now when the account calls often, and gives them out without asking anybody.
import type { RateLimit, Taken } from './token-bucket.ts'
import type { Drawn, Wish } from './port.ts'

/** What is drawn ahead is a twentieth of the burst at most; so a burst below 20 is counted call by call, exactly. */
const aheadOfBurst = 1 / 20

/** Tokens drawn ahead and not used for so long are dropped. So much demand is drawn ahead, too. */
const leaseMs = 1_000

/** When more accounts are watched than this, the ones not seen for longest are forgotten; their tokens at hand are lost. */
const mostWatched = 100_000

/** Told whether the common buckets have answered. */
type Waiter = (isAnswered: boolean) => void

interface Lease {
  limit: RateLimit
  /** Tokens at hand, until when. */
  have: number
  until: number
  /** What was in the common bucket, when. */
  left: number
  at: number
  /** Nothing was there; until when it need not be asked again. */
  emptyUntil: number
  /** Calls since the last draw began, and when that was. */
  calls: number
  drawnAt: number
  /** How many are drawn ahead, by the demand of late. */
  ahead: number
  /** Those the present draw asks for, and those who came after it began. */
  asked: Waiter[]
  waiting: Waiter[]
  isDrawing: boolean
}

export interface LeaseOptions {
  readonly draw: (wishes: readonly Wish[]) => Promise<readonly Drawn[]>
  /** Answers instead while the common buckets are away. */
  readonly alone: (accountId: number, limit: RateLimit) => Taken
  readonly isAway: () => boolean
  readonly now?: () => number
}

export interface Leases {
  take(accountId: number, limit: RateLimit): Taken | Promise<Taken>
}

export function openLeases(options: LeaseOptions): Leases {
  const { draw, alone, isAway } = options
  const now = options.now ?? (() => performance.now())
  const leases = new Map<number, Lease>()
  let asking = new Map<number, Lease>()
  let isUnderWay = false

  function leaseOf(accountId: number, limit: RateLimit): Lease {
    let lease = leases.get(accountId)
    if (!lease) {
      if (leases.size >= mostWatched) forgetOne()
      lease = {
        limit,
        have: 0,
        until: 0,
        left: 0,
        at: 0,
        emptyUntil: 0,
        calls: 0,
        drawnAt: now(),
        ahead: 0,
        asked: [],
        waiting: [],
        isDrawing: false,
      }
      leases.set(accountId, lease)
    } else if (lease.limit.perSecond !== limit.perSecond || lease.limit.burst !== limit.burst) {
      Object.assign(lease, { limit, have: 0, emptyUntil: 0, ahead: 0 })
    }
    return lease
  }

  function forgetOne(): void {
    for (const [accountId, lease] of leases) {
      // Somebody waits for its answer.
      if (lease.isDrawing) continue
      leases.delete(accountId)
      return
    }
  }

  function ask(accountId: number, lease: Lease): void {
    if (lease.isDrawing) return
    lease.isDrawing = true
    asking.set(accountId, lease)
    if (!isUnderWay) {
      isUnderWay = true
      setImmediate(() => void drawAll())
    }
  }

  /** One question at a time; whoever comes meanwhile is in the next one. */
  async function drawAll(): Promise<void> {
    while (asking.size > 0) {
      const batch = [...asking]
      asking = new Map()
      const wishes = batch.map(([accountId, lease]) => wishOf(accountId, lease))
      const drawn = await draw(wishes).catch(() => undefined)
      for (const [index, [accountId, lease]] of batch.entries()) settle(accountId, lease, drawn?.[index])
    }
    isUnderWay = false
  }

  function wishOf(accountId: number, lease: Lease): Wish {
    const time = now()
    const demand = (lease.calls * leaseMs) / Math.max(leaseMs / 10, time - lease.drawnAt)
    lease.ahead = Math.min(Math.floor(lease.limit.burst * aheadOfBurst), Math.floor(demand))
    lease.calls = 0
    lease.drawnAt = time
    lease.asked = lease.waiting
    lease.waiting = []
    return { accountId, limit: lease.limit, wanted: lease.asked.length + lease.ahead }
  }

  function settle(accountId: number, lease: Lease, drawn: Drawn | undefined): void {
    lease.isDrawing = false
    const { asked } = lease
    lease.asked = []
    if (!drawn) {
      for (const answer of [...asked, ...lease.waiting.splice(0)]) answer(false)
      return
    }
    const time = now()
    lease.have = (time < lease.until ? lease.have : 0) + drawn.granted
    lease.until = time + leaseMs
    lease.left = drawn.left
    lease.at = time
    lease.emptyUntil = drawn.left < 1 ? time + ((1 - drawn.left) / lease.limit.perSecond) * 1000 : 0
    for (const answer of asked) answer(true)
    // For those who came later nothing was asked: they get what is at hand, or ask in their turn if there may be more.
    const isEmpty = drawn.left < 1
    for (const answer of lease.waiting.splice(0, isEmpty ? Infinity : Math.floor(lease.have))) answer(true)
    if (lease.waiting.length > 0) ask(accountId, lease)
  }

  function taken(lease: Lease, time: number): Taken {
    const { perSecond, burst } = lease.limit
    if (lease.have < 1) {
      const waitMs = Math.max(0, lease.emptyUntil - time)
      return { allowed: false, left: 0, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
    }
    lease.have -= 1
    const inflow = ((time - lease.at) / 1000) * perSecond
    const tokens = Math.min(burst, lease.have + lease.left + inflow)
    return {
      allowed: true,
      left: Math.floor(tokens),
      resetSeconds: Math.ceil((burst - tokens) / perSecond),
    }
  }

  return {
    take(accountId, limit) {
      const lease = leaseOf(accountId, limit)
      const time = now()
      lease.calls += 1
      if (time >= lease.until) lease.have = 0
      if (lease.have >= 1) {
        const answer = taken(lease, time)
        // Before they run out, so that nobody has to wait.
        if (lease.have < lease.ahead / 2 && time >= lease.emptyUntil && !isAway()) ask(accountId, lease)
        return answer
      }
      if (isAway()) return alone(accountId, limit)
      if (time < lease.emptyUntil) return taken(lease, time)
      return new Promise((resolve) => {
        lease.waiting.push((isAnswered) =>
          resolve(isAnswered ? taken(lease, now()) : alone(accountId, limit)),
        )
        ask(accountId, lease)
      })
    },
  }
}
