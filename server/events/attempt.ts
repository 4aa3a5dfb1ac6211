// One attempt to deliver an event: the signed request, and what its result means for the delivery and the endpoint.
import type { Agent } from 'undici'
import { webhookLimits } from '../../contract/events.ts'
import { isStorableText } from '../../contract/values.ts'
import { httpCall, type HttpResult } from '../upstream/http-call.ts'
import { eventBody } from './emit.ts'
import { type AttemptRecord, type DueDelivery, maxPauseMs } from './dispatch-store.ts'
import type { DisableReason } from './webhooks.ts'
import { signWebhook } from './signature.ts'

export interface DeliveryAttempt {
  readonly record: AttemptRecord
  readonly succeeded: boolean
  /** Why the endpoint must not be used any more. */
  readonly disable: DisableReason | undefined
  /** How long nothing more may be sent. */
  readonly pauseMs: number
}

export interface AttemptOptions {
  readonly url: string
  readonly secrets: readonly string[]
  readonly agent: Agent
  readonly retryMs: readonly number[]
  readonly now: () => number
  readonly signal: AbortSignal
}

/** Each wait is up to 10 % longer, so that the retries of many events spread. */
const jitter = 0.1

/** Between two attempts. */
export function longestWaitMs(retryMs: readonly number[]): number {
  return Math.max(maxPauseMs, ...retryMs.map((wait) => wait * (1 + jitter)))
}

export async function attemptDelivery(
  delivery: DueDelivery,
  { url, secrets, agent, retryMs, now, signal }: AttemptOptions,
): Promise<DeliveryAttempt> {
  const body = eventBody(delivery)
  const timestamp = Math.floor(now() / 1000)
  const startedAt = performance.now()
  const result = await httpCall(
    {
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Tollgate-Webhooks/1.0',
        ...signWebhook({ id: delivery.uid, timestamp, body }, secrets),
      },
      body,
    },
    { timeoutMs: webhookLimits.timeoutMs, maxBodyBytes: webhookLimits.responseBytes, agent, signal },
  )
  const succeeded = result.kind === 'response' && result.status >= 200 && result.status < 300
  const retryAfterMs = succeeded ? 0 : readRetryAfter(result, now())
  return {
    succeeded,
    disable: result.kind === 'response' && result.status === 410 ? 'gone' : undefined,
    pauseMs: isThrottled(result) ? retryAfterMs : 0,
    record: {
      ...nextState(delivery, succeeded, retryMs, retryAfterMs),
      durationMs: performance.now() - startedAt,
      status: result.kind === 'response' ? result.status : null,
      error: describeFailure(result, succeeded),
      response: result.kind === 'response' ? shown(result.body) : '',
    },
  }
}

/** What becomes of a delivery after an attempt: each entry of the schedule allows one more. */
export function nextState(
  { id, attempts }: DueDelivery,
  succeeded: boolean,
  retryMs: readonly number[],
  minWaitMs: number,
): Pick<AttemptRecord, 'deliveryId' | 'attempts' | 'state' | 'waitMs'> {
  const wait = retryMs[attempts]
  const next = { deliveryId: id, attempts: attempts + 1 }
  if (succeeded || wait === undefined)
    return { ...next, state: succeeded ? 'delivered' : 'failed', waitMs: 0 }
  const waitMs = Math.round(Math.max(wait * (1 + jitter * Math.random()), minWaitMs))
  return { ...next, state: 'pending', waitMs }
}

function isThrottled(result: HttpResult): boolean {
  return result.kind === 'response' && (result.status === 429 || result.status === 503)
}

function describeFailure(result: HttpResult, succeeded: boolean): string | null {
  if (succeeded) return null
  if (result.kind !== 'response') return result.reason
  return result.status >= 300 && result.status < 400 ? 'redirect' : `status_${result.status}`
}

/** Seconds or a date; 0 without the header. */
function readRetryAfter(result: HttpResult, now: number): number {
  const text = result.kind === 'response' ? (result.headers['retry-after'] ?? '').trim() : ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxPauseMs) : 0
}

function shown(body: string): string {
  const text = body.slice(0, webhookLimits.shownCharacters).toWellFormed()
  return isStorableText(text) ? text : text.replaceAll('\0', '\uFFFD')
}
