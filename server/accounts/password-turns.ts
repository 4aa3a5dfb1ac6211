// Hashing passwords takes turns: by account for users who are known, who come first, and by network for strangers.
import { availableParallelism } from 'node:os'
import { minuteMs } from '../../contract/time.ts'
import { AppError } from '../http/errors.ts'
import { createFairQueue, QueueFull } from '../http/fair-queue.ts'
import { createLazyCache } from '../lazy-cache.ts'

/** Shares with more hashes or refusals than this are in one group. */
const maxGroupCount = 10
/** Attempts of a known share that come before those of strangers; without a limit one account could keep all strangers out. */
const maxFirstOfKnown = 30
/** How long attempts count, and of how many shares they are counted. */
const countedMs = 15 * minuteMs
const maxCountedShares = 50_000

const knownPrefix = 'known '

/** The share of someone who has proved who they are, or who signed in from the same network before. */
export const knownShare = (name: string): string => `${knownPrefix}${name}`

/** For hashes of the command line and of the first start. */
export const systemShare = knownShare('system')

interface ShareAttempts {
  /** Hashes that were made. */
  count: number
  /** Attempts since the last hash that were refused, because the queue was full. */
  refused: number
}

/** Recent attempts by share. */
const recent = createLazyCache<string, ShareAttempts>({ max: maxCountedShares, ttl: countedMs })

function countAttempt(share: string, isRefused: boolean): void {
  let attempts = recent().get(share)
  if (!attempts) recent().set(share, (attempts = { count: 0, refused: 0 }))
  attempts.count += isRefused ? 0 : 1
  attempts.refused = isRefused ? attempts.refused + 1 : 0
}

/** Users who are known do not wait for strangers. */
function rankOf(share: string): number {
  return share.startsWith(knownPrefix) && (recent().get(share)?.count ?? 0) < maxFirstOfKnown ? 0 : 1
}

/**
 * Networks with the same number of hashes, and of refusals since the last hash, form a group. Groups take turns. An attack from many
 * networks is in few groups, because its networks are all new or all retry. A user is soon in another group: after the first
 * attempt, after a refusal, or after a mistyped password.
 */
function groupOf(share: string): string {
  const { count = 0, refused = 0 } = recent().get(share) ?? {}
  return `${Math.min(count, maxGroupCount)} ${Math.min(refused, maxGroupCount)}`
}

/**
 * Hashing takes about 40 ms of a core. One core stays free for everything else, and at most three of the four threads that
 * files and name look-ups use too are busy. 64 waiting hashes take two or three seconds on two cores; on a busy machine they take
 * longer, and a quick 429 is better than a long wait: the next attempt comes before those of a flood.
 */
const queue = createFairQueue({
  maxRunning: Math.max(1, Math.min(3, availableParallelism() - 1)),
  maxWaiting: 64,
  maxWaitMs: 4_000,
  rankOf,
  groupOf,
})

const retryAfterSeconds = 2

function refuse(share: string): AppError {
  countAttempt(share, true)
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
    countAttempt(share, false)
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
