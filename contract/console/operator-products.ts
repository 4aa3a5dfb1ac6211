// The operator's pages about products: review of templates and signatures, domain pools, gateways.
import { type Empty, type Moment, type Noted, type Page, type PageQuery, route } from './route.ts'
import type { TemplateState } from './sms.ts'

export type ReviewKind = 'template' | 'signature'

export interface Review {
  readonly kind: ReviewKind
  readonly id: number
  readonly username: string
  /** The template's code; empty for a signature. */
  readonly code: string
  /** The template's name, or the signature asked for. */
  readonly name: string
  /** The template's content; empty for a signature. */
  readonly content: string
  readonly state: TemplateState
  readonly reason: string | null
  /** Grows with every change of the words. Sent back, it keeps words from being approved unseen. */
  readonly revision?: number
  readonly at: Moment
}

export interface ReviewQuery extends PageQuery {
  readonly kind?: ReviewKind
  /** Those that wait when left out. */
  readonly state?: TemplateState
}

export interface ReviewDecision extends Noted {
  readonly verdict: 'approve' | 'refuse'
  /** The account sees it; needed to refuse. */
  readonly reason?: string
  readonly revision?: number
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
  /** Place in the order of preference, from 1; null: known but not on. */
  readonly position: number | null
  readonly breaker: 'closed' | 'half_open' | 'open'
  readonly calls: number
  readonly failures: number
  readonly last_ok_at: Moment | null
  readonly last_error_at: Moment | null
  /** In plain words, without credentials. */
  readonly last_error: string | null
}

export interface GatewayTest {
  readonly ok: boolean
  readonly message: string
  readonly duration_ms: number
}

export const operatorProductRoutes = {
  reviews: route<ReviewQuery, Page<Review>>('GET', '/operator/reviews'),
  decideReview: route<ReviewDecision, Review>('POST', '/operator/reviews/:kind/:id'),

  domains: route<Empty, { readonly items: readonly PoolDomain[] }>('GET', '/operator/domains'),
  addDomain: route<Noted & { readonly pool: Pool; readonly host: string }, PoolDomain>(
    'POST',
    '/operator/domains',
  ),
  removeDomain: route<Noted, Empty>('POST', '/operator/domains/:id/remove'),
  probeDomain: route<Empty, PoolDomain>('POST', '/operator/domains/:id/probe'),

  gateways: route<Empty, { readonly items: readonly GatewayState[] }>('GET', '/operator/gateways'),
  /** Sends one harmless request; an SMS test needs a number to send to. */
  testGateway: route<Noted & { readonly phone_number?: string }, GatewayTest>(
    'POST',
    '/operator/gateways/:group/:name/test',
  ),
} as const
