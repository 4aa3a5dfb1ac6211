// What the customers know: every call they made and every answer they got. The suite's own memory, apart from the service's.
import { writeFileSync } from 'node:fs'
import type { Reply } from '../support/service.ts'
import type { Customer, Meaning, Wish } from './calls.ts'

export interface Entry {
  readonly number: number
  readonly customer: Customer
  readonly wish: Wish
  /** The `Idempotency-Key`, of those calls that have one. */
  readonly idempotencyKey: string | undefined
  /** The API key it was made with, and when its last try began and ended (by the monotonic clock). */
  readonly apiKey: string
  startedAt: number
  endedAt: number | undefined
  /** `never`: no try has reached a service. Undefined while it runs. */
  fate: Exclude<Meaning, 'running'> | 'never' | undefined
  answer: Reply | undefined
  /** Of the answer, as the ledger knows the call; undefined for a replayed one, which is another call's. */
  requestId: string | undefined
  spent: number
}

export interface Journal {
  readonly entries: readonly Entry[]
  open(entry: Pick<Entry, 'customer' | 'wish' | 'idempotencyKey' | 'apiKey'>): Entry
  nextNumber(): number
  acknowledged(): readonly Entry[]
  write(file: string): void
}

export function openJournal(): Journal {
  const entries: Entry[] = []
  let number = 0
  return {
    entries,
    nextNumber: () => (number += 1),
    open(facts) {
      const entry: Entry = {
        ...facts,
        number: entries.length,
        startedAt: performance.now(),
        endedAt: undefined,
        fate: undefined,
        answer: undefined,
        requestId: undefined,
        spent: 0,
      }
      entries.push(entry)
      return entry
    },
    acknowledged: () => entries.filter(({ fate }) => fate === 'success'),
    write(file) {
      const lines = entries.map(({ customer, wish, fate, idempotencyKey, requestId, spent, answer }) =>
        JSON.stringify({
          account: customer.username,
          api_type: wish.apiType,
          subject: wish.subject,
          idempotency_key: idempotencyKey,
          fate,
          spent,
          request_id: requestId,
          status: answer?.status,
          answer: answer?.body,
        }),
      )
      writeFileSync(file, `${lines.join('\n')}\n`, { flag: 'a' })
    },
  }
}
