// SMS: templates, sending from the console, records, the signature.
import { type Static, Type } from 'typebox'
import { maxSmsLength, proofLimits } from '../sms-text.ts'
import { route, withResponses } from './route.ts'
import { optionalText, positiveId, slice, page, dayRange, Empty } from './fields.ts'
import { maxNoteLength } from './limits.ts'
import type { smsResponses } from './responses/sms.ts'
import { signatureType, templateState, templateType } from './sms-values.ts'
import { smsOutcome } from './values.ts'

const TemplateQuery = Type.Object({ ...page, q: optionalText, state: Type.Optional(templateState) })

// Longer than the API allows, so that the API's own message says what is allowed.
const TemplateChange = Type.Object({
  type: Type.Optional(templateType),
  name: Type.String({ minLength: 1, maxLength: 200 }),
  content: Type.String({ minLength: 1, maxLength: 4 * maxSmsLength }),
})

/** A new or changed template is reviewed. The code is generated when left out and never changes. */
export const TemplateInput = Type.Object({ ...TemplateChange.properties, code: optionalText })
export type TemplateInput = Static<typeof TemplateInput>

export const SmsDraft = Type.Object({
  phone_number: Type.String({ minLength: 1, maxLength: 50 }),
  template_code: Type.String({ minLength: 1, maxLength: 200 }),
  template_params: Type.Optional(
    // `Type.Record` would add 37 kB to the web console.
    Type.Unsafe<Readonly<Record<string, string>>>({
      type: 'object',
      additionalProperties: { type: 'string', maxLength: 1_000 },
      problem: { zh: '必须是变量名和文本', en: 'Must be variable names and texts' },
    }),
  ),
  sign_name: Type.Optional(Type.String({ maxLength: 100 })),
})
export type SmsDraft = Static<typeof SmsDraft>

/** Phone number and biz_id are whole. */
export const SmsRecordFilter = Type.Object({
  ...dayRange,
  phone_number: Type.Optional(Type.String({ maxLength: 50 })),
  biz_id: Type.Optional(Type.String({ maxLength: 50 })),
  template_code: Type.Optional(Type.String({ maxLength: 100 })),
  outcome: Type.Optional(smsOutcome),
})
export type SmsRecordFilter = Static<typeof SmsRecordFilter>

const SmsRecordQuery = Type.Object({ ...SmsRecordFilter.properties, ...slice })

/** A new signature is reviewed. */
const SignatureInput = Type.Object({
  sign_name: Type.String({ minLength: 1, maxLength: 100 }),
  type: signatureType,
  note: Type.Optional(Type.String({ maxLength: maxNoteLength })),
})

/** Null: the platform's signature. */
const DefaultSignatureInput = Type.Object({ id: Type.Union([positiveId, Type.Null()]) })

/** The content is base64. */
const ProofInput = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  content: Type.String({ minLength: 1, maxLength: Math.ceil(proofLimits.bytes / 3) * 4 }),
})

const ReplyQuery = Type.Object({
  ...dayRange,
  ...slice,
  phone_number: Type.Optional(Type.String({ maxLength: 50 })),
})

const StopQuery = Type.Object({ ...slice, phone_number: Type.Optional(Type.String({ maxLength: 50 })) })

/** Without a signature the number is stopped for all of them. */
const StopInput = Type.Object({
  phone_number: Type.String({ minLength: 1, maxLength: 50 }),
  sign_name: Type.Optional(Type.String({ maxLength: 100 })),
})

export const smsRoutes = withResponses<typeof smsResponses>()({
  templates: route('GET', '/sms/templates', TemplateQuery),
  template: route('GET', '/sms/templates/:id', Empty),
  createTemplate: route('POST', '/sms/templates', TemplateInput),
  changeTemplate: route('PATCH', '/sms/templates/:id', TemplateChange),
  deleteTemplate: route('DELETE', '/sms/templates/:id', Empty),
  price: route('POST', '/sms/price', SmsDraft),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection sends and costs nothing. */
  send: route('POST', '/sms/send', SmsDraft),
  records: route('GET', '/sms/records', SmsRecordQuery),
  recordsCsv: route('GET', '/sms/records.csv', SmsRecordFilter),
  signature: route('GET', '/sms/signature', Empty),
  signatures: route('GET', '/sms/signatures', Empty),
  addSignature: route('POST', '/sms/signatures', SignatureInput),
  changeDefaultSignature: route('PUT', '/sms/signatures/default', DefaultSignatureInput),
  deleteSignature: route('DELETE', '/sms/signatures/:id', Empty),
  addProof: route('POST', '/sms/signatures/:id/proofs', ProofInput),
  removeProof: route('DELETE', '/sms/signatures/:id/proofs/:proof', Empty),
  proofFile: route('GET', '/sms/proofs/:id', Empty),
  replies: route('GET', '/sms/replies', ReplyQuery),
  stops: route('GET', '/sms/stops', StopQuery),
  addStop: route('POST', '/sms/stops', StopInput),
  removeStop: route('DELETE', '/sms/stops/:id', Empty),
})
