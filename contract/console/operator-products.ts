// Operator pages about products: reviews, domain pools, gateways.
import { Type } from 'typebox'
import { Empty, note, Noted, page, positiveId } from './fields.ts'
import { maxReasonLength } from './limits.ts'
import { type Moment, type Page, route } from './route.ts'
import type { TemplateState } from '../sms-text.ts'
import { templateState } from './sms.ts'

export type ReviewKind = 'template' | 'signature'

export interface Review {
  readonly kind: ReviewKind
  readonly id: number
  readonly username: string
  /** The template's code; empty for a signature. */
  readonly code: string
  /** The template's name, or the requested signature. */
  readonly name: string
  /** The template's content; empty for a signature. */
  readonly content: string
  readonly state: TemplateState
  readonly reason: string | null
  /** Grows with every change of the text. Send it with the decision, so that a changed text is not approved unseen. */
  readonly revision?: number
  readonly at: Moment
}

export type Pool = 'a' | 'b'

export interface PoolDomain {
  readonly id: number
  readonly pool: Pool
  readonly host: string
  readonly state: 'unknown' | 'ok' | 'blocked' | 'failed'
  readonly probed_at: Moment | null
  readonly created_at: Moment
}

export type GatewayGroup = 'sms' | 'identity' | 'domain_check'

export interface GatewayState {
  readonly group: GatewayGroup
  readonly name: string
  /** Position in the order of preference, from 1; null when it is not configured. */
  readonly position: number | null
  readonly breaker: 'closed' | 'half_open' | 'open'
  readonly calls: number
  readonly failures: number
  readonly last_ok_at: Moment | null
  readonly last_error_at: Moment | null
  /** Without credentials. */
  readonly last_error: string | null
}

export interface GatewayTest {
  readonly ok: boolean
  readonly message: string
  readonly duration_ms: number
}

/** `state` is 审核中 by default. */
const ReviewQuery = Type.Object({
  ...page,
  kind: Type.Optional(Type.Enum(['template', 'signature'])),
  state: Type.Optional(templateState),
})

/** The account holder sees the reason; a refusal needs one. */
const ReviewDecision = Type.Object({
  verdict: Type.Enum(['approve', 'refuse']),
  reason: Type.Optional(Type.String({ maxLength: maxReasonLength })),
  revision: Type.Optional(positiveId),
  note,
})

const NewDomain = Type.Object({
  pool: Type.Enum(['a', 'b']),
  host: Type.String({ minLength: 1, maxLength: 300 }),
  note,
})

const GatewayTestInput = Type.Object({
  phone_number: Type.Optional(Type.String({ maxLength: 50 })),
  note,
})

export const operatorProductRoutes = {
  reviews: route('GET', '/operator/reviews', ReviewQuery).returns<Page<Review>>(),
  decideReview: route('POST', '/operator/reviews/:kind/:id', ReviewDecision).returns<Review>(),

  domains: route('GET', '/operator/domains', Empty).returns<{ readonly items: readonly PoolDomain[] }>(),
  addDomain: route('POST', '/operator/domains', NewDomain).returns<PoolDomain>(),
  removeDomain: route('POST', '/operator/domains/:id/remove', Noted).returns<Empty>(),
  probeDomain: route('POST', '/operator/domains/:id/probe', Empty).returns<PoolDomain>(),

  gateways: route('GET', '/operator/gateways', Empty).returns<{ readonly items: readonly GatewayState[] }>(),
  /** Sends one harmless request; an SMS test needs a phone number. */
  testGateway: route('POST', '/operator/gateways/:group/:name/test', GatewayTestInput).returns<GatewayTest>(),
} as const
