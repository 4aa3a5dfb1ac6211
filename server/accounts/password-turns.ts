// Hashing passwords takes turns: by network for strangers, by account for users who are known, and whoever had fewer comes first.
import { availableParallelism } from 'node:os'
import { AppError } from '../http/errors.ts'
import { createFairQueue, QueueFull } from '../http/fair-queue.ts'

/** Hashes of one share that raise its rank, how long they count, and of how many shares they are counted. */
const maxRank = 3
const rankMs = 15 * 60_000
const maxCountedShares = 10_000

const knownPrefix = 'known '

/** The share of someone who has proved who they are, or who signed in from the same network before. */
export const knownShare = (name: string): string => `${knownPrefix}${name}`

/** Hashes made for nobody in particular: on the command line, at the first start. */
export const systemShare = knownShare('system')

/** Recent hashes by share, the oldest first. */
const recent = new Map<string, { count: number; readonly since: number }>()

function countHash(share: string): void {
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
 * Whoever had fewer hashes comes first: guesses from a thousand networks delay a user from another network by no more than their
 * first ones, and users who are known not at all. The rank has a maximum, so that nobody waits for ever.
 */
function rankOf(share: string): number {
  const counted = recent.get(share)
  const count = counted && performance.now() - counted.since < rankMs ? counted.count : 0
  return Math.min(count, maxRank) - (share.startsWith(knownPrefix) ? maxRank : 0)
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

function busy(): AppError {
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
    countHash(share)
    const result = await work()
    finishedHashes += 1
    return result
  }
  return queue.run(share, counted).catch((error: unknown) => {
    throw error instanceof QueueFull ? busy() : error
  })
}

/** Throws when a hash for this share would be refused now. */
export function requirePasswordCapacity(share: string): void {
  if (queue.isFullFor(share)) throw busy()
}
