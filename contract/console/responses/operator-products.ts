// Responses of the operator pages about products: reviews, domain pools, gateways.
import { Type } from 'typebox'
import { templateState } from '../sms-values.ts'
import { gatewayGroup, pool, reviewKind } from '../values.ts'
import type { ResponseOf } from '../route.ts'
import { Empty } from '../fields.ts'
import { moment, orNull, listOf, pageOf, sliceOf, csvFile } from './fields.ts'
import { Proof, Reply, VendorReview } from './sms.ts'

export const Review = Type.Object({
  kind: reviewKind,
  id: Type.Integer(),
  username: Type.String(),
  /** The template's code; empty for a signature. */
  code: Type.String(),
  /** The template's name, or the requested signature. */
  name: Type.String(),
  /** The template's content; empty for a signature. */
  content: Type.String(),
  /** Type of the template or of the signature. */
  type: Type.String(),
  /** What the account holder wrote for the reviewer. */
  note: Type.String(),
  /** Files that prove the right to a signature. */
  proofs: Type.Array(Proof),
  /** All configured vendors that review signatures and templates. */
  vendors: Type.Array(VendorReview),
  state: templateState,
  reason: orNull(Type.String()),
  /** Grows with every change of the text. Send it with the decision, so that a changed text is not approved unseen. */
  revision: Type.Optional(Type.Integer()),
  at: moment,
})
export type Review = ResponseOf<typeof Review>

export const PoolDomain = Type.Object({
  id: Type.Integer(),
  pool,
  host: Type.String(),
  state: Type.Enum(['unknown', 'ok', 'blocked', 'failed']),
  probed_at: orNull(moment),
  created_at: moment,
})
export type PoolDomain = ResponseOf<typeof PoolDomain>

export const GatewayState = Type.Object({
  group: gatewayGroup,
  name: Type.String(),
  /** Position in the order of preference, from 1; null when it is not configured. */
  position: orNull(Type.Integer()),
  breaker: Type.Enum(['closed', 'half_open', 'open']),
  calls: Type.Integer(),
  failures: Type.Integer(),
  last_ok_at: orNull(moment),
  last_error_at: orNull(moment),
  /** Without credentials. */
  last_error: orNull(Type.String()),
})
export type GatewayState = ResponseOf<typeof GatewayState>

export const GatewayTest = Type.Object({
  ok: Type.Boolean(),
  message: Type.String(),
  duration_ms: Type.Number(),
})
export type GatewayTest = ResponseOf<typeof GatewayTest>

export const operatorProductResponses = {
  reviews: pageOf(Review),
  decideReview: Review,
  submitReview: Review,
  proofFile: csvFile,
  unmatchedReplies: sliceOf(Reply),
  domains: listOf(PoolDomain),
  addDomain: PoolDomain,
  removeDomain: Empty,
  probeDomain: PoolDomain,
  gateways: listOf(GatewayState),
  testGateway: GatewayTest,
}
