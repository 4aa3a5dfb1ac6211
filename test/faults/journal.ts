// The callers' record of every call and its response, independent of the service's data.
import { writeFileSync } from 'node:fs'
import type { Reply } from '../support/service.ts'
import type { Customer, CallOutcome, FaultCall } from './calls.ts'

export interface JournalEntry {
  readonly number: number
  readonly customer: Customer
  readonly call: FaultCall
  /** The `Idempotency-Key` of the call, if any. */
  readonly idempotencyKey: string | undefined
  /** The API key of the call. */
  readonly apiKey: string
  /** Start and end of the last attempt, by the monotonic clock. */
  startedAt: number
  endedAt: number | undefined
  /** `not sent`: no attempt has reached a service. Undefined while the call is in progress. */
  outcome: Exclude<CallOutcome, 'running'> | 'not sent' | undefined
  response: Reply | undefined
  /** Request id of the response, as in the ledger. Undefined for a replayed response, which has the first call's id. */
  requestId: string | undefined
  spent: number
}

export interface Journal {
  readonly entries: readonly JournalEntry[]
  open(entry: Pick<JournalEntry, 'customer' | 'call' | 'idempotencyKey' | 'apiKey'>): JournalEntry
  nextNumber(): number
  acknowledged(): readonly JournalEntry[]
  write(file: string): void
}

export function createJournal(): Journal {
  const entries: JournalEntry[] = []
  let number = 0
  return {
    entries,
    nextNumber: () => (number += 1),
    open(details) {
      const entry: JournalEntry = {
        ...details,
        number: entries.length,
        startedAt: performance.now(),
        endedAt: undefined,
        outcome: undefined,
        response: undefined,
        requestId: undefined,
        spent: 0,
      }
      entries.push(entry)
      return entry
    },
    acknowledged: () => entries.filter(({ outcome }) => outcome === 'success'),
    write(file) {
      const lines = entries.map(({ customer, call, outcome, idempotencyKey, requestId, spent, response }) =>
        JSON.stringify({
          account: customer.username,
          api_type: call.apiType,
          subject: call.subject,
          idempotency_key: idempotencyKey,
          outcome,
          spent,
          request_id: requestId,
          status: response?.status,
          answer: response?.body,
        }),
      )
      writeFileSync(file, `${lines.join('\n')}\n`, { flag: 'a' })
    },
  }
}
