// Responses of group sending.
import { Type } from 'typebox'
import { batchStates } from '../../sms-text.ts'
import type { ResponseOf } from '../route.ts'
import { csvFile, moment, orNull, sliceOf } from './fields.ts'

const RejectedMessage = Type.Object({
  /** In the list of messages, from 0. */
  index: Type.Integer(),
  error_message: Type.String(),
})

const CheckedBatch = Type.Object({
  valid: Type.Integer(),
  rejected: Type.Array(RejectedMessage),
  /** Of the valid messages. */
  cost: Type.Integer(),
  parts: Type.Integer(),
  remaining: Type.Integer(),
  /** When the messages would be sent; marketing messages wait for the morning. */
  planned_at: moment,
})

const SentBatch = Type.Object({
  /** Empty when every message was rejected. */
  batch_id: Type.String(),
  accepted: Type.Integer(),
  rejected: Type.Array(RejectedMessage),
  remaining: Type.Integer(),
})

export const Batch = Type.Object({
  id: Type.Integer(),
  batch_id: Type.String(),
  template_code: Type.String(),
  sign_name: Type.String(),
  state: Type.Enum([...batchStates]),
  /** Null: as soon as possible. */
  send_at: orNull(moment),
  created_at: moment,
  finished_at: orNull(moment),
  total: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  cancelled: Type.Integer(),
  pending: Type.Integer(),
  credits_used: Type.Integer(),
})
export type Batch = ResponseOf<typeof Batch>

const CancelledBatch = Type.Object({ cancelled: Type.Integer(), remaining: Type.Integer() })

export const smsBatchResponses = {
  batches: sliceOf(Batch),
  checkBatch: CheckedBatch,
  sendBatch: SentBatch,
  cancelBatch: CancelledBatch,
  batchCsv: csvFile,
}
