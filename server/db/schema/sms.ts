// The tables of SMS.
import type { SignatureType, TemplateState, TemplateType } from '../../../contract/sms-text.ts'
import type { Flag, Json, Milliseconds } from './columns.ts'

export interface SmsTables {
  sms_template: TemplateTable
  sms_signature: SignatureRequestTable
  sms_account_signature: SignatureTable
  sms_signature_proof: ProofTable
  sms_vendor_review: VendorReviewTable
  sms_code: CodeTable
  sms_reply: ReplyTable
  sms_stop: StopTable
  sms_send: SendTable
  sms_early_receipt: EarlyReceiptTable
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
  type: TemplateType
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

/**
 * Replaced by `sms_account_signature` in 0018; only processes of 0.1.0 write it. A migration with `oldestVersion: '0.2.0'` can
 * drop it in the release after 0.2.0.
 */
interface SignatureRequestTable {
  id: number
  account_id: number
  sign_name: string
  status: TemplateState
  reason: string
  at: Milliseconds
}

interface SignatureTable {
  id: number
  account_id: number
  sign_name: string
  type: SignatureType
  status: TemplateState
  reason: string
  /** What the account holder wrote for the reviewer. */
  note: string
  /** Grows when proofs change, so that a review applies to what was read. */
  revision: number
  created_at: Milliseconds
  updated_at: Milliseconds
}

/** A file that proves the right to a signature. */
interface ProofTable {
  id: number
  signature_id: number
  account_id: number
  name: string
  media_type: string
  size: number
  /** Encrypted. */
  content: string
  created_at: Milliseconds
}

/** A signature or template at a vendor that reviews it too. */
interface VendorReviewTable {
  id: number
  kind: 'signature' | 'template'
  subject_id: number
  /** Of the signature or template when it was submitted. */
  revision: number
  gateway: string
  /** The vendor's id of it, or of the application. */
  vendor_id: string
  state: 'waiting' | 'reviewing' | 'approved' | 'refused' | 'failed'
  reason: string
  attempts: number
  /** When it is submitted or queried next; null when nothing is to be done. */
  due_at: Milliseconds | null
  lease_until: Milliseconds
  created_at: Milliseconds
  updated_at: Milliseconds
}

/** The current one-time code of a phone number and purpose. */
interface CodeTable {
  account_id: number
  phone: string
  purpose: string
  /** Keyed hash of the code. */
  hash: string
  attempts_left: number
  /** The operation of the send. */
  operation_id: number
  sent_at: Milliseconds
  expires_at: Milliseconds
}

interface ReplyTable {
  id: number
  /** Null: no message to the number was found, the reply is the operator's. */
  account_id: number | null
  send_id: number | null
  phone: string
  content: string
  sign_name: string
  gateway: string
  /** The vendor's id of the reply. */
  sequence: string
  /** Whether it put the number on the stop list. */
  stopped: Flag
  received_at: Milliseconds
}

/** A number that gets no messages of an account. */
interface StopTable {
  id: number
  account_id: number
  phone: string
  /** Empty: all signatures of the account. */
  sign_name: string
  source: 'reply' | 'account' | 'operator'
  reply_id: number | null
  created_at: Milliseconds
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
  /** The carrier's code in the receipt. */
  receipt_code: string
  /** Null: the message was sent alone. */
  batch_id: number | null
  /** When a message of a batch left the queue; null while it waits for the first time. */
  sent_at: Milliseconds | null
}

/** A receipt whose message has no gateway id yet. */
interface EarlyReceiptTable {
  gateway: string
  gateway_id: string
  /** As in the receipt, with or without the country code. */
  phone: string
  state: 'delivered' | 'undelivered'
  code: string
  received_at: Milliseconds
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
  /** Net of refunds; null until it is finished. */
  credits_used: number | null
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
