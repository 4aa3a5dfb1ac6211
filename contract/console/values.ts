// Fixed values that the routes and the responses of the console share, with their schemas.
import { type Static, Type } from 'typebox'
import { maxAccountRate } from './limits.ts'

/** The endpoints as the request log names them. */
export const endpointNames = ['shortlink', 'sms', 'identity', 'domain-check'] as const
export type EndpointName = (typeof endpointNames)[number]
export const endpointName = Type.Enum([...endpointNames])

/** `console` for a call that a signed-in user made in the console. */
export const requestSources = ['api', 'console'] as const

export const ledgerKinds = ['grant', 'adjust', 'charge', 'refund'] as const
export type LedgerKind = (typeof ledgerKinds)[number]
export const ledgerKind = Type.Enum([...ledgerKinds])

export const pool = Type.Enum(['a', 'b'])
export type Pool = Static<typeof pool>

export const reviewKind = Type.Enum(['template', 'signature'])

/** `undecided`: it is not yet known whether the message was sent; the credits are held until it is. */
export const smsOutcomes = ['sent', 'delivered', 'failed', 'undecided'] as const
export type SmsOutcome = (typeof smsOutcomes)[number]
export const smsOutcome = Type.Enum([...smsOutcomes])

export const identityOutcomes = ['matched', 'mismatched', 'no_record', 'failed'] as const
export type IdentityOutcome = (typeof identityOutcomes)[number]
export const identityOutcome = Type.Enum([...identityOutcomes])

/** Groups of gateways, in the order of the pages. */
export const gatewayGroups = ['sms', 'identity', 'domain_check'] as const
export type GatewayGroup = (typeof gatewayGroups)[number]
export const gatewayGroup = Type.Enum([...gatewayGroups])

const rate = Type.Integer({ minimum: 1, maximum: maxAccountRate })
export const AccountRateLimit = Type.Object({ per_second: rate, burst: rate })
export type AccountRateLimit = Static<typeof AccountRateLimit>
