// The states of an order and every change between them. `moveOrder` is the only statement that changes a state.
//
//     pending ── pay ──▶ granted ── refundPart ──▶ partly_refunded ── refundPart, refundRest ──▶ …
//        │                  └────── refundRest ──▶ refunded
//        └── close ──▶ closed ── payLate ──▶ granted       the package still exists
//                          └── keepLate ──▶ paid ── refundRest ──▶ refunded       the package was removed
//                                            └── refundPartLate ──▶ paid
import type { OrderState } from '../../contract/payments.ts'
import type { Tx } from '../db/database.ts'
import { updateState } from './store.ts'

interface Transition {
  readonly from: readonly OrderState[]
  readonly to: OrderState
  /** A column that gets the time of the change. */
  readonly times: readonly ('paid_at' | 'granted_at' | 'closed_at')[]
  /** What the history says. */
  readonly events: readonly string[]
}

export const transitions = {
  /** The payment was verified; the credits are granted in the same transaction. */
  pay: { from: ['pending'], to: 'granted', times: ['paid_at', 'granted_at'], events: ['paid', 'granted'] },
  payLate: {
    from: ['closed'],
    to: 'granted',
    times: ['paid_at', 'granted_at'],
    events: ['paid_late', 'granted'],
  },
  /** Nothing is granted; a refund of everything is requested in the same transaction. */
  keepLate: { from: ['closed'], to: 'paid', times: ['paid_at'], events: ['paid_late'] },
  close: { from: ['pending'], to: 'closed', times: ['closed_at'], events: ['closed'] },
  /** The provider has confirmed the refund; the credits were taken back when it was requested. */
  refundPart: {
    from: ['granted', 'partly_refunded'],
    to: 'partly_refunded',
    times: [],
    events: ['refunded'],
  },
  /** Nothing was granted, so nothing was taken back. */
  refundPartLate: { from: ['paid'], to: 'paid', times: [], events: ['refunded'] },
  refundRest: {
    from: ['granted', 'partly_refunded', 'paid'],
    to: 'refunded',
    times: [],
    events: ['refunded'],
  },
} as const satisfies Record<string, Transition>

/** False when the order is in another state by now: another process was first, and nothing changes. */
export async function moveOrder(
  tx: Tx,
  orderId: number,
  name: keyof typeof transitions,
  note: string,
): Promise<boolean> {
  const { from, to, times, events }: Transition = transitions[name]
  return updateState(tx, orderId, { from, to, times, events, note })
}
