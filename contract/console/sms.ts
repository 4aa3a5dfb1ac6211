// SMS in the console: templates, sending one by hand, records, the signature.
import {
  type DayRange,
  type Empty,
  type File,
  type Moment,
  type Page,
  type PageQuery,
  route,
  type Slice,
  type SliceQuery,
} from './route.ts'

export const templateStates = ['审核中', '审核通过', '审核不通过'] as const

export type TemplateState = (typeof templateStates)[number]

export interface Template {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly content: string
  /** In the order of their first appearance. */
  readonly variables: readonly string[]
  readonly state: TemplateState
  /** Why it was refused. */
  readonly reason: string | null
  /** Given to everyone by the operator: it cannot be changed here. */
  readonly shared: boolean
  readonly created_at: Moment
  readonly updated_at: Moment
}

export interface TemplateQuery extends PageQuery {
  readonly q?: string
  readonly state?: TemplateState
}

/** A new or changed template goes to review. */
export interface TemplateWish {
  readonly name: string
  readonly content: string
  /** Made from the id when left out; never changed afterwards. */
  readonly code?: string
}

export interface SmsDraft {
  readonly phone_number: string
  readonly template_code: string
  readonly template_params?: Readonly<Record<string, string>>
  readonly sign_name?: string
}

/** What a message would cost. Nothing is sent. */
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

export interface SmsRecordQuery extends DayRange, SliceQuery {
  /** Whole. */
  readonly phone_number?: string
  readonly biz_id?: string
  readonly template_code?: string
  readonly outcome?: SmsOutcome
}

/** `undecided`: nobody knows yet whether it was sent; the credits are held until it is known. */
export type SmsOutcome = 'sent' | 'delivered' | 'failed' | 'undecided'

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
  /** Why it failed, in plain words. */
  readonly reason: string | null
  readonly gateway: string | null
  readonly parts: number
  readonly charged: number
  readonly given_back: number
  readonly receipt_at: Moment | null
  readonly request_id: string
}

export interface Signature {
  /** The one in force; null: the platform's is used. */
  readonly sign_name: string | null
  readonly platform_sign_name: string
  /** What waits for review or was refused; null when there is none. */
  readonly request: {
    readonly sign_name: string
    readonly state: TemplateState
    readonly reason: string | null
    readonly at: Moment
  } | null
}

export const smsRoutes = {
  templates: route<TemplateQuery, Page<Template>>('GET', '/sms/templates'),
  template: route<Empty, Template>('GET', '/sms/templates/:id'),
  createTemplate: route<TemplateWish, Template>('POST', '/sms/templates'),
  changeTemplate: route<Omit<TemplateWish, 'code'>, Template>('PATCH', '/sms/templates/:id'),
  deleteTemplate: route<Empty, Empty>('DELETE', '/sms/templates/:id'),
  price: route<SmsDraft, SmsPrice>('POST', '/sms/price'),
  /** Send an `idempotency-key` header: a repeat after a lost connection then sends and costs nothing. */
  send: route<SmsDraft, SmsSent>('POST', '/sms/send'),
  records: route<SmsRecordQuery, Slice<SmsRecord>>('GET', '/sms/records'),
  recordsCsv: route<Omit<SmsRecordQuery, keyof SliceQuery>, File>('GET', '/sms/records.csv'),
  signature: route<Empty, Signature>('GET', '/sms/signature'),
  /** An empty text takes the signature away at once; another one goes to review. */
  changeSignature: route<{ readonly sign_name: string }, Signature>('PUT', '/sms/signature'),
} as const
