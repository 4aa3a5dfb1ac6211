// The rate limit of an account across several processes. Each process draws tokens from the shared bucket, some ahead of
// demand for accounts that call often, and spends them without another round trip.
import type { DrawRequest, DrawResult } from './port.ts'
import type { RateLimit, RateLimitResult } from './token-bucket.ts'

/** At most this fraction of the burst is drawn ahead. A burst below 20 is therefore counted call by call, exactly. */
const maxAheadOfBurst = 1 / 20

/** Unused tokens expire after this time. Demand of the same time span is drawn ahead. */
const leaseMs = 1_000

/** Above this number of accounts, the oldest lease is dropped together with its unused tokens. */
const maxLeases = 100_000

/** Called with whether the shared buckets responded. */
type LeaseWaiter = (responded: boolean) => void

interface Lease {
  limit: RateLimit
  /** Tokens that this process may spend, and until when. */
  tokens: number
  expiresAt: number
  /** Tokens in the shared bucket, and when they were counted. */
  bucketTokens: number
  updatedAt: number
  /** The bucket is empty until then and need not be asked. */
  emptyUntil: number
  /** Calls since the last draw started, and when that was. */
  calls: number
  drawnAt: number
  /** Tokens to draw ahead, by recent demand. */
  ahead: number
  /** Callers whose tokens the current draw requests, and callers that came after it started. */
  drawing: LeaseWaiter[]
  waiting: LeaseWaiter[]
  isDrawing: boolean
}

export interface LeaseOptions {
  readonly draw: (requests: readonly DrawRequest[]) => Promise<readonly DrawResult[]>
  /** The limit of this process alone, used while the shared buckets are unavailable. */
  readonly takeLocally: (accountId: number, limit: RateLimit) => RateLimitResult
  readonly isAway: () => boolean
  readonly now?: () => number
}

export interface Leases {
  take(accountId: number, limit: RateLimit): Promise<RateLimitResult>
}

export function createLeases(options: LeaseOptions): Leases {
  const { draw, takeLocally, isAway } = options
  const now = options.now ?? (() => performance.now())
  const leases = new Map<number, Lease>()
  let queued = new Map<number, Lease>()
  let isRunning = false

  function getLease(accountId: number, limit: RateLimit): Lease {
    let lease = leases.get(accountId)
    if (!lease) {
      if (leases.size >= maxLeases) dropOldest()
      lease = {
        limit,
        tokens: 0,
        expiresAt: 0,
        bucketTokens: 0,
        updatedAt: 0,
        emptyUntil: 0,
        calls: 0,
        drawnAt: now(),
        ahead: 0,
        drawing: [],
        waiting: [],
        isDrawing: false,
      }
      leases.set(accountId, lease)
    } else if (lease.limit.perSecond !== limit.perSecond || lease.limit.burst !== limit.burst) {
      Object.assign(lease, { limit, tokens: 0, emptyUntil: 0, ahead: 0 })
    }
    return lease
  }

  function dropOldest(): void {
    for (const [accountId, lease] of leases) {
      if (lease.isDrawing) continue
      leases.delete(accountId)
      return
    }
  }

  function queueDraw(accountId: number, lease: Lease): void {
    if (lease.isDrawing) return
    lease.isDrawing = true
    queued.set(accountId, lease)
    if (!isRunning) {
      isRunning = true
      setImmediate(() => void drawAll())
    }
  }

  /** One draw is in flight at a time; accounts that are queued meanwhile go into the next one. */
  async function drawAll(): Promise<void> {
    while (queued.size > 0) {
      const batch = [...queued]
      queued = new Map()
      const requests = batch.map(([accountId, lease]) => createRequest(accountId, lease))
      const results = await draw(requests).catch(() => undefined)
      for (const [index, [accountId, lease]] of batch.entries())
        applyResult(accountId, lease, results?.[index])
    }
    isRunning = false
  }

  function createRequest(accountId: number, lease: Lease): DrawRequest {
    const time = now()
    const demand = (lease.calls * leaseMs) / Math.max(leaseMs / 10, time - lease.drawnAt)
    lease.ahead = Math.min(Math.floor(lease.limit.burst * maxAheadOfBurst), Math.floor(demand))
    lease.calls = 0
    lease.drawnAt = time
    lease.drawing = lease.waiting
    lease.waiting = []
    return { accountId, limit: lease.limit, wanted: lease.drawing.length + lease.ahead }
  }

  function applyResult(accountId: number, lease: Lease, result: DrawResult | undefined): void {
    lease.isDrawing = false
    const { drawing } = lease
    lease.drawing = []
    if (!result) {
      for (const resume of [...drawing, ...lease.waiting.splice(0)]) resume(false)
      return
    }
    const time = now()
    const { granted, bucketTokens } = result
    const isEmpty = bucketTokens < 1
    lease.tokens = (time < lease.expiresAt ? lease.tokens : 0) + granted
    lease.expiresAt = time + leaseMs
    lease.bucketTokens = bucketTokens
    lease.updatedAt = time
    lease.emptyUntil = isEmpty ? time + ((1 - bucketTokens) / lease.limit.perSecond) * 1000 : 0
    for (const resume of drawing) resume(true)
    // Callers that came later were not part of this draw. They get what is left, or, if the bucket may have more, a draw of their own.
    for (const resume of lease.waiting.splice(0, isEmpty ? Infinity : Math.floor(lease.tokens))) resume(true)
    if (lease.waiting.length > 0) queueDraw(accountId, lease)
  }

  function spend(lease: Lease, time: number): RateLimitResult {
    const { perSecond, burst } = lease.limit
    if (lease.tokens < 1) {
      const waitMs = Math.max(0, lease.emptyUntil - time)
      return { allowed: false, remaining: 0, resetSeconds: Math.max(1, Math.ceil(waitMs / 1000)) }
    }
    lease.tokens -= 1
    const inflow = ((time - lease.updatedAt) / 1000) * perSecond
    const tokens = Math.min(burst, lease.tokens + lease.bucketTokens + inflow)
    return {
      allowed: true,
      remaining: Math.floor(tokens),
      resetSeconds: Math.ceil((burst - tokens) / perSecond),
    }
  }

  return {
    async take(accountId, limit) {
      const lease = getLease(accountId, limit)
      const time = now()
      lease.calls += 1
      if (time >= lease.expiresAt) lease.tokens = 0
      if (lease.tokens >= 1) {
        const result = spend(lease, time)
        // Draw again before the tokens run out, so that no call has to wait.
        if (lease.tokens < lease.ahead / 2 && time >= lease.emptyUntil && !isAway())
          queueDraw(accountId, lease)
        return result
      }
      if (isAway()) return takeLocally(accountId, limit)
      if (time < lease.emptyUntil) return spend(lease, time)
      return new Promise((resolve) => {
        lease.waiting.push((responded) =>
          resolve(responded ? spend(lease, now()) : takeLocally(accountId, limit)),
        )
        queueDraw(accountId, lease)
      })
    },
  }
}
