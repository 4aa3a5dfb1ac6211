// Limits on what one account reads and changes in the console: requests at a time and per second, so that one account does not delay the others.
import { type RateLimit, TokenBuckets } from '../limits/token-bucket.ts'
import { tooManyRequests } from './problem.ts'

/** A page sends about ten requests at the same time. */
export const userRate: RateLimit = { perSecond: 30, burst: 300 }

/** Changes of an account holder in the long run. Each leaves rows behind: audit entries, events, deliveries. */
const sustainedRate: RateLimit = { perSecond: 1, burst: 10_000 }

interface UserShare {
  /** Requests that run at the same time; others wait for them. */
  readonly running: number
  readonly waiting: number
}

const shares = {
  page: { running: 4, waiting: 60 },
  /** Files are streamed, so one can run for minutes. */
  file: { running: 2, waiting: 4 },
  /** Some call a provider and take seconds. */
  change: { running: 16, waiting: 500 },
} as const satisfies Readonly<Record<string, UserShare>>

export interface UserLimits {
  /**
   * Waits until it is the user's turn, and returns a function to call afterwards. Throws when too many requests wait. Without a
   * user nothing is limited.
   */
  enter(kind: keyof typeof shares, user: LimitedUser | undefined): Promise<() => void>
}

export interface LimitedUser {
  readonly id: number
  readonly role: 'account' | 'operator'
}

interface Queue {
  running: number
  readonly waiting: (() => void)[]
}

const unlimited = () => undefined

export function createUserLimits(rate: RateLimit | undefined, sustained = sustainedRate): UserLimits {
  const reads = new TokenBuckets()
  const changes = new TokenBuckets()
  const sustainedChanges = new TokenBuckets()
  /** Only of users who are reading. */
  const queues = new Map<string, Queue>()

  function leave(key: string, queue: Queue): void {
    const next = queue.waiting.shift()
    if (next) next()
    else if ((queue.running -= 1) === 0) queues.delete(key)
  }

  return {
    async enter(kind, user) {
      if (user === undefined) return unlimited
      if (rate) {
        const buckets = kind === 'change' ? changes : reads
        const { allowed, resetSeconds } = buckets.take(user.id, rate)
        if (!allowed) throw tooManyRequests(resetSeconds)
        if (kind === 'change' && user.role === 'account') {
          const later = sustainedChanges.take(user.id, sustained)
          if (!later.allowed) throw tooManyRequests(later.resetSeconds)
        }
      }
      const share = shares[kind]
      const key = `${kind} ${user.id}`
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      queues.set(key, queue)
      if (queue.running < share.running) queue.running += 1
      else if (queue.waiting.length < share.waiting) {
        await new Promise<void>((resolve) => queue.waiting.push(resolve))
      } else throw tooManyRequests(1)
      let left = false
      return () => {
        if (!left) leave(key, queue)
        left = true
      }
    },
  }
}
