// Hashing passwords takes turns: by network for strangers, by account for users who are known, and whoever had fewer comes first.
import { availableParallelism } from 'node:os'
import { AppError } from '../http/errors.ts'
import { createFairQueue, QueueFull } from '../http/fair-queue.ts'

/** Attempts of one share that raise its rank, how long they count, and of how many shares they are counted. */
const maxRank = 10
/** Attempts of a known share that come before those of strangers; without a limit one account could keep all strangers out. */
const firstOfKnown = 30
const rankMs = 15 * 60_000
const maxCountedShares = 10_000

const knownPrefix = 'known '

/** The share of someone who has proved who they are, or who signed in from the same network before. */
export const knownShare = (name: string): string => `${knownPrefix}${name}`

/** Hashes made for nobody in particular: on the command line, at the first start. */
export const systemShare = knownShare('system')

/** Recent attempts by share, the oldest first: hashes, and refusals. */
const recent = new Map<string, { count: number; readonly since: number }>()

function countAttempt(share: string): void {
  const now = performance.now()
  const counted = recent.get(share)
  if (counted && now - counted.since < rankMs) {
    counted.count += 1
    return
  }
  recent.delete(share)
  if (recent.size >= maxCountedShares) recent.delete(recent.keys().next().value!)
  recent.set(share, { count: 1, since: now })
}

/**
 * Whoever had fewer attempts comes first. The networks of a flood are refused most of the time, so after a moment each of them is
 * behind a user from another network; users who are known do not wait for them at all. The rank has a maximum, so that nobody
 * waits for ever.
 */
function rankOf(share: string): number {
  const counted = recent.get(share)
  const count = counted && performance.now() - counted.since < rankMs ? counted.count : 0
  return Math.min(share.startsWith(knownPrefix) ? Math.max(count - firstOfKnown, -1) : count, maxRank)
}

/**
 * Hashing takes about 40 ms of a core. One core stays free for everything else, and at most three of the four threads that
 * files and name look-ups use too are busy. 64 waiting hashes take two or three seconds on two cores.
 */
const queue = createFairQueue({
  maxRunning: Math.max(1, Math.min(3, availableParallelism() - 1)),
  maxWaiting: 64,
  rankOf,
})

const retryAfterSeconds = 2

function refuse(share: string): AppError {
  countAttempt(share)
  return new AppError(
    429,
    {
      zh: `登录请求过多，请 ${retryAfterSeconds} 秒后再试`,
      en: `Too many sign-ins at the moment, try again in ${retryAfterSeconds} s`,
    },
    { retryAfter: retryAfterSeconds },
  )
}

let finishedHashes = 0

/** How many hashes this process has computed or verified. */
export function countPasswordHashes(): number {
  return finishedHashes
}

/** Runs the work in its turn. A flood from one share does not delay the others. */
export function inTurn<T>(share: string, work: () => Promise<T>): Promise<T> {
  const counted = async () => {
    countAttempt(share)
    const result = await work()
    finishedHashes += 1
    return result
  }
  return queue.run(share, counted).catch((error: unknown) => {
    throw error instanceof QueueFull ? refuse(share) : error
  })
}

/** Throws when a hash for this share would be refused now. */
export function requirePasswordCapacity(share: string): void {
  if (queue.isFullFor(share)) throw refuse(share)
}
