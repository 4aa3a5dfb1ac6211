// Responses of SMS: templates, price, sending, records, the signature.
import { Type } from 'typebox'
import { templateState, smsOutcome } from '../sms.ts'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment, orNull, sliceOf, pageOf, csvFile } from './fields.ts'

export const Template = Type.Object({
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  content: Type.String(),
  /** In order of first appearance. */
  variables: Type.Array(Type.String()),
  state: templateState,
  /** Why it was refused. */
  reason: orNull(Type.String()),
  /** Shared with every account by the operator; read-only here. */
  shared: Type.Boolean(),
  created_at: moment,
  updated_at: moment,
})
export type Template = ResponseOf<typeof Template>

/** The price of a message. Nothing is sent. */
export const SmsPrice = Type.Object({
  /** With signature and variables filled in. */
  text: Type.String(),
  /** UTF-16 units. */
  length: Type.Integer(),
  parts: Type.Integer(),
  cost: Type.Integer(),
  remaining: Type.Integer(),
})
export type SmsPrice = ResponseOf<typeof SmsPrice>

const SmsSent = Type.Object({
  biz_id: Type.String(),
  charged: Type.Integer(),
  remaining: Type.Integer(),
  request_id: Type.String(),
})

export const SmsRecord = Type.Object({
  id: Type.Integer(),
  biz_id: Type.String(),
  at: moment,
  /** `138****8000` */
  phone_number: Type.String(),
  template_code: Type.String(),
  template_name: Type.String(),
  sign_name: Type.String(),
  outcome: smsOutcome,
  /** Why it failed. */
  reason: orNull(Type.String()),
  gateway: orNull(Type.String()),
  parts: Type.Integer(),
  charged: Type.Integer(),
  given_back: Type.Integer(),
  receipt_at: orNull(moment),
  request_id: Type.String(),
})
export type SmsRecord = ResponseOf<typeof SmsRecord>

export const Signature = Type.Object({
  /** The signature in use; null when the platform's is used. */
  sign_name: orNull(Type.String()),
  platform_sign_name: Type.String(),
  /** A request that waits for review or was refused. */
  request: orNull(
    Type.Object({
      sign_name: Type.String(),
      state: templateState,
      reason: orNull(Type.String()),
      at: moment,
    }),
  ),
})
export type Signature = ResponseOf<typeof Signature>

export const smsResponses = {
  templates: pageOf(Template),
  template: Template,
  createTemplate: Template,
  changeTemplate: Template,
  deleteTemplate: Empty,
  price: SmsPrice,
  send: SmsSent,
  records: sliceOf(SmsRecord),
  recordsCsv: csvFile,
  signature: Signature,
  changeSignature: Signature,
}
