// The events of a message: sent, delivered, failed.
import { bizIdOf } from '../../contract/sms-text.ts'
import { isoTime } from '../../contract/time.ts'
import type { NewEvent } from '../events/emit.ts'
import { type Problem, problemText } from './problems.ts'
import type { SendRecord } from './store.ts'

export type EventSend = Pick<
  SendRecord,
  'id' | 'account_id' | 'phone' | 'template_code' | 'sign_name' | 'created_at'
>

export function sentEvent(send: EventSend): NewEvent {
  return { accountId: send.account_id, type: 'sms.sent', data: dataOf(send) }
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
