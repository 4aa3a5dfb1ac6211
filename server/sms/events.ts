// The events of a message: sent, delivered, failed.
import { bizIdOf } from '../../contract/sms-text.ts'
import { isoTime } from '../../contract/time.ts'
import { type NewEvent, receivesEvent } from '../events/emit.ts'
import { createRefundLimit } from '../events/free-rows.ts'
import { type Problem, problemText } from './problems.ts'
import type { SendRecord } from './store.ts'

export type EventSend = Pick<
  SendRecord,
  'id' | 'account_id' | 'phone' | 'template_code' | 'sign_name' | 'created_at'
>

export function sentEvent(send: EventSend): NewEvent {
  return { accountId: send.account_id, type: 'sms.sent', data: dataOf(send) }
}

type EventAccount = Parameters<typeof receivesEvent>[0] & { readonly id: number }

const refundLimit = createRefundLimit()

/** The event of a message that was accepted and paid, if an endpoint receives it. */
export function eventOfPaid(account: EventAccount, send: EventSend): NewEvent | undefined {
  refundLimit.addPaid(account.id)
  return receivesEvent(account, 'sms.sent') ? sentEvent(send) : undefined
}

/** The event of a message that was not sent and is refunded, if an endpoint receives it. */
export function eventOfRefunded(
  account: EventAccount,
  send: EventSend,
  problem: Problem,
): NewEvent | undefined {
  if (!receivesEvent(account, 'sms.failed') || !refundLimit.mayEmit(account.id)) return undefined
  return failedEvent(send, problem)
}

export function deliveredEvent(send: EventSend): NewEvent {
  return { accountId: send.account_id, type: 'sms.delivered', data: dataOf(send) }
}

export function failedEvent(send: EventSend, problem: Problem): NewEvent {
  const data = { ...dataOf(send), error_message: problemText(problem).zh }
  return { accountId: send.account_id, type: 'sms.failed', data }
}

function dataOf(send: EventSend) {
  return {
    biz_id: bizIdOf(send.id),
    phone_number: send.phone,
    template_code: send.template_code,
    sign_name: send.sign_name,
    send_time: isoTime(send.created_at),
  }
}
