// Operator pages about products: reviews, domain pools, gateways.
import { Type } from 'typebox'
import { templateState } from './sms-values.ts'
import { pool, reviewKind } from './values.ts'
import { maxReasonLength } from './limits.ts'
import { route, withResponses } from './route.ts'
import { positiveId, note, page, slice, Empty, Noted } from './fields.ts'
import type { operatorProductResponses } from './responses/operator-products.ts'

/** `state` is 审核中 by default. */
const ReviewQuery = Type.Object({
  ...page,
  kind: Type.Optional(reviewKind),
  state: Type.Optional(templateState),
})

/** The account holder sees the reason. A refusal needs a reason and a note, an approval neither. */
const ReviewDecision = Type.Object({
  verdict: Type.Enum(['approve', 'refuse']),
  reason: Type.Optional(Type.String({ maxLength: maxReasonLength })),
  revision: Type.Optional(positiveId),
  note: Type.Optional(note),
})

/** To these gateways, or to all that take it. */
const Submission = Type.Object({
  gateways: Type.Optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
  note: Type.Optional(note),
})

const UnmatchedQuery = Type.Object(slice)

const NewDomain = Type.Object({
  pool,
  host: Type.String({ minLength: 1, maxLength: 300 }),
  note,
})

const GatewayTestInput = Type.Object({
  phone_number: Type.Optional(Type.String({ maxLength: 50 })),
  note,
})

export const operatorProductRoutes = withResponses<typeof operatorProductResponses>()({
  reviews: route('GET', '/operator/reviews', ReviewQuery),
  decideReview: route('POST', '/operator/reviews/:kind/:id', ReviewDecision),

  /** Submits an approved template or signature to the vendors; a job asks for their decision. */
  submitReview: route('POST', '/operator/reviews/:kind/:id/submit', Submission),

  /** A proof of a signature. */
  proofFile: route('GET', '/operator/proofs/:id', Empty),
  /** Replies without a message of the last days. */
  unmatchedReplies: route('GET', '/operator/replies', UnmatchedQuery),

  domains: route('GET', '/operator/domains', Empty),
  addDomain: route('POST', '/operator/domains', NewDomain),
  removeDomain: route('POST', '/operator/domains/:id/remove', Noted),
  probeDomain: route('POST', '/operator/domains/:id/probe', Empty),

  gateways: route('GET', '/operator/gateways', Empty),
  /** Sends one harmless request; an SMS test needs a phone number. */
  testGateway: route('POST', '/operator/gateways/:group/:name/test', GatewayTestInput),
})
