// Hashing passwords takes turns: by network for strangers, by account for users who are known, and whoever had fewer comes first.
import { availableParallelism } from 'node:os'
import { minuteMs } from '../../contract/time.ts'
import { AppError } from '../http/errors.ts'
import { createFairQueue, QueueFull } from '../http/fair-queue.ts'

/** Hashes of one share that raise its rank, how long they count, and of how many shares they are counted. */
const maxRank = 10
/** Attempts of a known share that come before those of strangers; without a limit one account could keep all strangers out. */
const firstOfKnown = 30
const rankMs = 15 * minuteMs
const maxCountedShares = 10_000

const knownPrefix = 'known '

/** The share of someone who has proved who they are, or who signed in from the same network before. */
export const knownShare = (name: string): string => `${knownPrefix}${name}`

/** Hashes made for nobody in particular: on the command line, at the first start. */
export const systemShare = knownShare('system')

interface ShareAttempts {
  /** Hashes that were made. */
  count: number
  /** Attempts since the last hash that were refused, because the queue was full. */
  refused: number
  readonly since: number
}

/** Recent attempts by share, the oldest first. */
const recent = new Map<string, ShareAttempts>()

function attemptsOf(share: string): ShareAttempts | undefined {
  const attempts = recent.get(share)
  return attempts && performance.now() - attempts.since < rankMs ? attempts : undefined
}

function countAttempt(share: string, isRefused: boolean): void {
  const attempts = attemptsOf(share)
  if (attempts) {
    attempts.count += isRefused ? 0 : 1
    attempts.refused = isRefused ? attempts.refused + 1 : 0
    return
  }
  recent.delete(share)
  if (recent.size >= maxCountedShares) recent.delete(recent.keys().next().value!)
  recent.set(share, { count: isRefused ? 0 : 1, refused: isRefused ? 1 : 0, since: performance.now() })
}

/**
 * Whoever had fewer hashes comes first, so that the networks of a flood lose their advantage with one hash each; users who are known
 * do not wait for them at all. The rank has a maximum, so that nobody waits for ever.
 */
function rankOf(share: string): number {
  const count = attemptsOf(share)?.count ?? 0
  return Math.min(share.startsWith(knownPrefix) ? Math.max(count - firstOfKnown, -1) : count, maxRank)
}

/**
 * Networks that come for the first time and those that come back after a refusal take turns. A flood from ever new networks does not
 * keep out a user who comes back, and one from many networks that come back does not keep out a user who comes for the first time.
 */
const groupOf = (share: string): string => (refusalsOf(share) > 0 ? 'back' : 'first')

/** Of those that come back, whoever was refused less often comes first: the networks of a flood try again and again. */
const refusalsOf = (share: string): number => Math.min(attemptsOf(share)?.refused ?? 0, maxRank)

/**
 * Hashing takes about 40 ms of a core. One core stays free for everything else, and at most three of the four threads that
 * files and name look-ups use too are busy. 64 waiting hashes take two or three seconds on two cores.
 */
const queue = createFairQueue({
  maxRunning: Math.max(1, Math.min(3, availableParallelism() - 1)),
  maxWaiting: 64,
  rankOf,
  groupOf,
  rankInGroupOf: refusalsOf,
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
