// Customers at work: mixed calls, with and without an Idempotency-Key, repeated with the same key when an answer was lost.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from '../support/service.ts'
import { type Customer, makeWish, meaningOf, spentOn } from './calls.ts'
import type { Entry, Journal } from './journal.ts'
import type { Random } from './random.ts'

export interface LoadOptions {
  readonly journal: Journal
  readonly random: Random
  readonly customers: readonly Customer[]
  /** The service's processes; a call goes to any of them, its repeat to any other. */
  readonly urls: () => readonly string[]
  readonly callers: number
  /** Changes when what was asked before must not be repeated any more (a clock that jumped makes keys old). */
  readonly epoch: () => number
}

export interface Load {
  /** Lets every call that runs come to its end. */
  stop(): Promise<void>
}

/** Longer than a process is stopped for in any fault: who waits shall get the answer. */
const patienceMs = 20_000

const keyedShare = 0.6

export function startLoad(options: LoadOptions): Load {
  const { journal, random } = options
  let stopping = false

  async function caller(): Promise<void> {
    while (!stopping) {
      const customer = random.pick(options.customers)
      const entry = journal.open({
        customer,
        wish: makeWish(random, journal.nextNumber()),
        idempotencyKey: random.chance(keyedShare) ? `order-${random.next()}` : undefined,
        apiKey: customer.key,
      })
      await callUntilAnswered(entry)
      await sleep(random.between(1, 25))
    }
  }

  async function callUntilAnswered(entry: Entry): Promise<void> {
    const { epoch } = options
    const begunIn = epoch()
    // With a key the same call may be made again. Without one, only what never arrived may.
    for (;;) {
      await callOnce(entry, random.pick(options.urls()), patienceMs)
      const again = entry.fate === 'never' || (entry.fate === 'unknown' && entry.idempotencyKey !== undefined)
      if (!again || stopping || epoch() !== begunIn) return
      await sleep(random.between(20, 120))
    }
  }

  const callers = Array.from({ length: options.callers }, caller)
  return {
    async stop() {
      stopping = true
      await Promise.all(callers)
    },
  }
}

/** One try; afterwards the entry says what its customer knows. A fate once known for certain stays. */
async function callOnce(entry: Entry, url: string, waitMs: number): Promise<void> {
  const { wish } = entry
  entry.startedAt = performance.now()
  const reached = await sendCall(entry, url, waitMs, entry.apiKey)
  entry.endedAt = performance.now()
  if (reached === 'never') entry.fate ??= 'never'
  else if (reached === 'no answer') entry.fate = 'unknown'
  else {
    const meaning = meaningOf(wish, reached)
    // Somebody is at it, or this try was refused (the key is another by now): what became of a first try stays open.
    const stillOpen = meaning === 'running' || (meaning === 'refused' && entry.fate === 'unknown')
    entry.fate = stillOpen ? 'unknown' : meaning
    entry.answer = reached
    const replayed = reached.headers.get('idempotent-replayed') !== null
    entry.requestId = replayed ? undefined : (reached.headers.get('x-request-id') ?? undefined)
    entry.spent = meaning === 'success' ? spentOn(wish, reached) : 0
  }
}

export async function sendCall(
  entry: Pick<Entry, 'wish' | 'customer' | 'idempotencyKey'>,
  url: string,
  waitMs: number,
  apiKey: string,
): Promise<Reply | 'never' | 'no answer'> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (entry.idempotencyKey !== undefined) headers['idempotency-key'] = entry.idempotencyKey
  try {
    const response = await fetch(`${url}${entry.wish.path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ username: entry.customer.username, api_key: apiKey, ...entry.wish.body }),
      signal: AbortSignal.timeout(waitMs),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    // Nobody listened, so nothing was sent.
    return code === 'ECONNREFUSED' ? 'never' : 'no answer'
  }
}
