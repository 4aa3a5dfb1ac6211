// Responses of SMS: templates, price, sending, records, the signature.
import { Type } from 'typebox'
import { vendorReviewStates } from '../../sms-text.ts'
import { signatureType, templateState, templateType } from '../sms-values.ts'
import { smsOutcome } from '../values.ts'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment, orNull, sliceOf, pageOf, csvFile } from './fields.ts'

/** A signature or template at a gateway whose vendor reviews it too. */
export const VendorReview = Type.Object({
  gateway: Type.String(),
  state: Type.Enum([...vendorReviewStates]),
  /** The vendor's, or why it was not submitted. */
  reason: orNull(Type.String()),
  updated_at: orNull(moment),
})
export type VendorReview = ResponseOf<typeof VendorReview>

export const Template = Type.Object({
  id: Type.Integer(),
  code: Type.String(),
  name: Type.String(),
  type: templateType,
  content: Type.String(),
  /** In order of first appearance. */
  variables: Type.Array(Type.String()),
  state: templateState,
  /** Why it was refused. */
  reason: orNull(Type.String()),
  /** Shared with every account by the operator; read-only here. */
  shared: Type.Boolean(),
  vendors: Type.Array(VendorReview),
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

const Signature = Type.Object({
  /** The default signature; null when the platform's is used. */
  sign_name: orNull(Type.String()),
  platform_sign_name: Type.String(),
})

export const Proof = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  media_type: Type.String(),
  /** Bytes. */
  size: Type.Integer(),
  created_at: moment,
})
export type Proof = ResponseOf<typeof Proof>

export const AccountSignature = Type.Object({
  id: Type.Integer(),
  sign_name: Type.String(),
  type: signatureType,
  state: templateState,
  /** Why it was refused. */
  reason: orNull(Type.String()),
  note: Type.String(),
  is_default: Type.Boolean(),
  proofs: Type.Array(Proof),
  vendors: Type.Array(VendorReview),
  created_at: moment,
  updated_at: moment,
})
export type AccountSignature = ResponseOf<typeof AccountSignature>

const Signatures = Type.Object({
  items: Type.Array(AccountSignature),
  platform_sign_name: Type.String(),
})
export type Signatures = ResponseOf<typeof Signatures>

export const Reply = Type.Object({
  id: Type.Integer(),
  /** `138****8000` */
  phone_number: Type.String(),
  content: Type.String(),
  sign_name: Type.String(),
  /** Of the message; empty when none was found. */
  biz_id: Type.String(),
  gateway: Type.String(),
  /** Whether it unsubscribed the number. */
  stopped: Type.Boolean(),
  received_at: moment,
})
export type Reply = ResponseOf<typeof Reply>

export const Stop = Type.Object({
  id: Type.Integer(),
  /** `138****8000` */
  phone_number: Type.String(),
  /** Empty: all signatures. */
  sign_name: Type.String(),
  source: Type.Enum(['reply', 'account', 'operator']),
  created_at: moment,
})
export type Stop = ResponseOf<typeof Stop>

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
  signatures: Signatures,
  addSignature: AccountSignature,
  changeDefaultSignature: Signatures,
  deleteSignature: Empty,
  addProof: Proof,
  removeProof: Empty,
  proofFile: csvFile,
  replies: sliceOf(Reply),
  stops: sliceOf(Stop),
  addStop: Empty,
  removeStop: Empty,
}
