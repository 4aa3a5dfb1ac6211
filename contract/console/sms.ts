// SMS: templates, sending from the console, records, the signature.
import { type Static, Type } from 'typebox'
import { maxSmsLength, type TemplateState, templateStates } from '../sms-text.ts'
import { dayRange, Empty, optionalText, page, slice } from './fields.ts'
import { type CsvFile, type Moment, type Page, route, type Slice } from './route.ts'
export interface Template {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly content: string
  /** In order of first appearance. */
  readonly variables: readonly string[]
  readonly state: TemplateState
  /** Why it was refused. */
  readonly reason: string | null
  /** Shared with every account by the operator; read-only here. */
  readonly shared: boolean
  readonly created_at: Moment
  readonly updated_at: Moment
}

/** The price of a message. Nothing is sent. */
export interface SmsPrice {
  /** With signature and variables filled in. */
  readonly text: string
  /** UTF-16 units. */
  readonly length: number
  readonly parts: number
  readonly cost: number
  readonly remaining: number
}

export interface SmsSent {
  readonly biz_id: string
  readonly charged: number
  readonly remaining: number
  readonly request_id: string
}

export const smsOutcomes = ['sent', 'delivered', 'failed', 'undecided'] as const

/** `undecided`: it is not yet known whether the message was sent; the credits are held until it is. */
export type SmsOutcome = (typeof smsOutcomes)[number]

export interface SmsRecord {
  readonly id: number
  readonly biz_id: string
  readonly at: Moment
  /** `138****8000` */
  readonly phone_number: string
  readonly template_code: string
  readonly template_name: string
  readonly sign_name: string
  readonly outcome: SmsOutcome
  /** Why it failed. */
  readonly reason: string | null
  readonly gateway: string | null
  readonly parts: number
  readonly charged: number
  readonly given_back: number
  readonly receipt_at: Moment | null
  readonly request_id: string
}

export interface Signature {
  /** The signature in use; null when the platform's is used. */
  readonly sign_name: string | null
  readonly platform_sign_name: string
  /** A request that waits for review or was refused. */
  readonly request: {
    readonly sign_name: string
    readonly state: TemplateState
    readonly reason: string | null
    readonly at: Moment
  } | null
}

export const templateState = Type.Enum([...templateStates])

const TemplateQuery = Type.Object({ ...page, q: optionalText, state: Type.Optional(templateState) })

// Longer than the API allows, so that the API's own message says what is allowed.
const TemplateChange = Type.Object({
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
      problem: { zh: '须为变量名和文本', en: 'Must be variable names and texts' },
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
  outcome: Type.Optional(Type.Enum([...smsOutcomes])),
})
export type SmsRecordFilter = Static<typeof SmsRecordFilter>

const SmsRecordQuery = Type.Object({ ...SmsRecordFilter.properties, ...slice })

/** An empty text removes the signature immediately; any other one is reviewed. */
const SignatureInput = Type.Object({ sign_name: Type.Optional(Type.String({ maxLength: 100 })) })

export const smsRoutes = {
  templates: route('GET', '/sms/templates', TemplateQuery).returns<Page<Template>>(),
  template: route('GET', '/sms/templates/:id', Empty).returns<Template>(),
  createTemplate: route('POST', '/sms/templates', TemplateInput).returns<Template>(),
  changeTemplate: route('PATCH', '/sms/templates/:id', TemplateChange).returns<Template>(),
  deleteTemplate: route('DELETE', '/sms/templates/:id', Empty).returns<Empty>(),
  price: route('POST', '/sms/price', SmsDraft).returns<SmsPrice>(),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection sends and costs nothing. */
  send: route('POST', '/sms/send', SmsDraft).returns<SmsSent>(),
  records: route('GET', '/sms/records', SmsRecordQuery).returns<Slice<SmsRecord>>(),
  recordsCsv: route('GET', '/sms/records.csv', SmsRecordFilter).returns<CsvFile>(),
  signature: route('GET', '/sms/signature', Empty).returns<Signature>(),
  changeSignature: route('PUT', '/sms/signature', SignatureInput).returns<Signature>(),
} as const
