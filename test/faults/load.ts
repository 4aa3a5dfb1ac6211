// The load: mixed calls with and without an Idempotency-Key. A keyed call without a response is repeated with the same key.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Reply } from '../support/service.ts'
import { type Customer, createCall, outcomeOf, creditsSpent } from './calls.ts'
import type { JournalEntry, Journal } from './journal.ts'
import type { Random } from './random.ts'

export interface LoadOptions {
  readonly journal: Journal
  readonly random: Random
  readonly customers: readonly Customer[]
  /** The service's processes. Every attempt of a call goes to a random one. */
  readonly urls: () => readonly string[]
  readonly callers: number
  /** Changes when earlier calls must not be repeated any more: a clock change can expire their idempotency keys. */
  readonly epoch: () => number
}

export interface FaultLoad {
  /** Waits until every call in progress has ended. */
  stop(): Promise<void>
}

/** Longer than any fault stops a process, so that the caller gets the response. */
const timeoutMs = 20_000

const keyedShare = 0.6

export function startLoad(options: LoadOptions): FaultLoad {
  const { journal, random } = options
  let stopping = false

  async function caller(): Promise<void> {
    while (!stopping) {
      const customer = random.pick(options.customers)
      const entry = journal.open({
        customer,
        call: createCall(random, journal.nextNumber()),
        idempotencyKey: random.chance(keyedShare) ? `order-${random.next()}` : undefined,
        apiKey: customer.key,
      })
      await callUntilDecided(entry)
      await sleep(random.between(1, 25))
    }
  }

  async function callUntilDecided(entry: JournalEntry): Promise<void> {
    const { epoch } = options
    const startEpoch = epoch()
    // A keyed call may be repeated. A call without a key may be repeated only if it was not sent.
    for (;;) {
      await callOnce(entry, random.pick(options.urls()), timeoutMs)
      const shouldRepeat =
        entry.outcome === 'not sent' || (entry.outcome === 'unknown' && entry.idempotencyKey !== undefined)
      if (!shouldRepeat || stopping || epoch() !== startEpoch) return
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

/** One attempt. Records in the entry what the caller knows afterwards; a definite outcome does not change any more. */
async function callOnce(entry: JournalEntry, url: string, waitMs: number): Promise<void> {
  const { call } = entry
  entry.startedAt = performance.now()
  const reached = await sendCall(entry, url, waitMs, entry.apiKey)
  entry.endedAt = performance.now()
  if (reached === 'not sent') entry.outcome ??= 'not sent'
  else if (reached === 'no response') entry.outcome = 'unknown'
  else {
    const outcome = outcomeOf(call, reached)
    // The first attempt is in progress, or this one was refused because the API key has changed: the outcome of the first
    // attempt stays unknown.
    const isUndecided = outcome === 'running' || (outcome === 'refused' && entry.outcome === 'unknown')
    entry.outcome = isUndecided ? 'unknown' : outcome
    entry.response = reached
    const replayed = reached.headers.get('idempotent-replayed') !== null
    entry.requestId = replayed ? undefined : (reached.headers.get('x-request-id') ?? undefined)
    entry.spent = outcome === 'success' ? creditsSpent(call, reached) : 0
  }
}

export async function sendCall(
  entry: Pick<JournalEntry, 'call' | 'customer' | 'idempotencyKey'>,
  url: string,
  waitMs: number,
  apiKey: string,
): Promise<Reply | 'not sent' | 'no response'> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (entry.idempotencyKey !== undefined) headers['idempotency-key'] = entry.idempotencyKey
  try {
    const response = await fetch(`${url}${entry.call.path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ username: entry.customer.username, api_key: apiKey, ...entry.call.body }),
      signal: AbortSignal.timeout(waitMs),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    // The connection was refused, so nothing was sent.
    return code === 'ECONNREFUSED' ? 'not sent' : 'no response'
  }
}
