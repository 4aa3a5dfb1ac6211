// The tables of SMS.
import type { TemplateState } from '../../../contract/sms-text.ts'
import type { Flag, Json, Milliseconds } from './columns.ts'

export interface SmsTables {
  sms_template: TemplateTable
  sms_signature: SignatureTable
  sms_send: SendTable
  sms_batch: BatchTable
  sms_queue: QueueTable
  /** How many messages a number received in a period. */
  sms_number_count: { phone: string; period: string; count: number; ends_at: Milliseconds }
}

interface TemplateTable {
  id: number
  /** Null: shared by the operator with all accounts. */
  account_id: number | null
  code: string
  name: string
  content: string
  /** List of names, in the order of their first appearance. */
  variables: Json
  status: TemplateState
  reason: string
  /** The provider's template id by gateway. */
  gateway_codes: Json
  /** Grows with every edit, so that a review applies to the text that was read. */
  revision: number
  created_at: Milliseconds
  updated_at: Milliseconds
}

/** One per account: the open request, or the last decided one. */
interface SignatureTable {
  id: number
  account_id: number
  sign_name: string
  status: TemplateState
  reason: string
  at: Milliseconds
}

interface SendTable {
  id: number
  account_id: number
  operation_id: number
  phone: string
  template_code: string
  template_params: Json
  sign_name: string
  parts: number
  /** The gateway that was called last, written before the call. */
  gateway: string
  /** The provider's id of the message. */
  gateway_id: string | null
  state: 'sending' | 'accepted' | 'delivered' | 'undelivered' | 'refused' | 'unknown'
  success: Flag
  /** 1 while the credits are held or spent, 0 after a refund. */
  charged: Flag
  problem: string
  problem_code: string
  created_at: Milliseconds
  /** When the delivery receipt arrived. */
  receipt_at: Milliseconds | null
  /** Null: the message was sent alone. */
  batch_id: number | null
  /** When a message of a batch left the queue; null while it waits for the first time. */
  sent_at: Milliseconds | null
}

interface BatchTable {
  id: number
  account_id: number
  template_code: string
  /** Of the template when the batch was accepted. A message is not sent with another one. */
  content: string
  sign_name: string
  /** 1: sent between 08:00 and 21:00 only. */
  marketing: Flag
  /** Null: as soon as possible. */
  send_at: Milliseconds | null
  /** Accepted messages. */
  total: number
  /** Messages whose operation has not ended. */
  pending: number
  /** Messages in the queue. */
  waiting: number
  /** When the next message in the queue is due; null without one. */
  next_at: Milliseconds | null
  /** When messages were last taken, for fair shares. */
  served_at: Milliseconds
  created_at: Milliseconds
  finished_at: Milliseconds | null
}

/** A message that waits to be sent. */
interface QueueTable {
  send_id: number
  batch_id: number
  account_id: number
  operation_id: number
  /** When it was to be sent; the limits per phone number count it at that time. */
  planned_at: Milliseconds
  /** When it is tried next. */
  due_at: Milliseconds
  tries: number
  /** After a failed try: when the next failure is final. */
  retry_until: Milliseconds | null
}
