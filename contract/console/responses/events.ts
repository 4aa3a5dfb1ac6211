// Responses of webhooks and alert channels.
import { Type } from 'typebox'
import { alertChannelKinds } from '../../events.ts'
import { Empty } from '../fields.ts'
import type { ResponseOf } from '../route.ts'
import { extend, listOf, moment, orNull, sliceOf } from './fields.ts'

export const Webhook = Type.Object({
  id: Type.Integer(),
  url: Type.String(),
  /** `*` for all types. */
  events: Type.Array(Type.String()),
  state: Type.Enum(['active', 'disabled']),
  disabled_reason: orNull(Type.String()),
  failing_since: orNull(moment),
  created_at: moment,
})
export type Webhook = ResponseOf<typeof Webhook>

const NewWebhook = extend(Webhook, { secret: Type.String() })

export const WebhookDelivery = Type.Object({
  id: Type.Integer(),
  event_id: Type.String(),
  type: Type.String(),
  state: Type.Enum(['pending', 'delivered', 'failed']),
  attempts: Type.Integer(),
  last_status: orNull(Type.Integer()),
  last_error: orNull(Type.String()),
  created_at: moment,
  /** Of a pending delivery. */
  next_attempt_at: orNull(moment),
})
export type WebhookDelivery = ResponseOf<typeof WebhookDelivery>

const WebhookAttempt = Type.Object({
  id: Type.Integer(),
  at: moment,
  duration_ms: Type.Integer(),
  status: orNull(Type.Integer()),
  error: orNull(Type.String()),
  /** The first characters of the response. */
  response: Type.String(),
})

const WebhookDeliveryDetail = extend(WebhookDelivery, {
  url: Type.String(),
  /** The body of every attempt. */
  body: Type.String(),
  attempt_list: Type.Array(WebhookAttempt),
})

export const AlertChannel = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum([...alertChannelKinds]),
  /** Without what makes it a credential. */
  target: Type.String(),
  state: Type.Enum(['unconfirmed', 'active', 'disabled']),
  disabled_reason: orNull(Type.String()),
  created_at: moment,
})
export type AlertChannel = ResponseOf<typeof AlertChannel>

/** A webhook that fails or was disabled because of failures. */
const TroubledWebhook = extend(Webhook, { account_id: Type.Integer(), username: Type.String() })

/** The state of all deliveries, alerts included. */
export const WebhookHealth = Type.Object({
  /** At most 10,000 are counted. */
  pending: Type.Integer(),
  oldest_due_at: orNull(moment),
  /** Of the newest 5,000 attempts those of the last hour. */
  attempts_hour: Type.Integer(),
  failed_hour: Type.Integer(),
  /** Disabled because of failures or a 410, not by their account. */
  disabled: Type.Integer(),
  failing: Type.Integer(),
  /** At most 100. */
  troubled: Type.Array(TroubledWebhook),
})
export type WebhookHealth = ResponseOf<typeof WebhookHealth>

export const operatorEventResponses = {
  health: WebhookHealth,
  webhooks: extend(listOf(Webhook), { username: Type.String() }),
  deliveries: sliceOf(WebhookDelivery),
  /** Phone numbers are masked. */
  delivery: WebhookDeliveryDetail,
  resendDelivery: Empty,
  resendFailed: Type.Object({ count: Type.Integer() }),
}

export const eventResponses = {
  webhooks: listOf(Webhook),
  addWebhook: NewWebhook,
  changeWebhook: Webhook,
  setWebhookState: Webhook,
  removeWebhook: Empty,
  rotateWebhook: Type.Object({ secret: Type.String() }),
  testWebhook: Type.Object({ delivery: Type.Integer() }),
  deliveries: sliceOf(WebhookDelivery),
  delivery: WebhookDeliveryDetail,
  resendDelivery: Empty,
  resendFailed: Type.Object({ count: Type.Integer() }),
  setAlertPercents: Empty,
  alertChannels: extend(listOf(AlertChannel), {
    /** Percentages of the last grant at which low credits are reported. */
    percents: Type.Array(Type.Integer()),
    kinds: Type.Array(Type.Enum([...alertChannelKinds])),
  }),
  addAlertChannel: extend(AlertChannel, { sent: Type.Boolean() }),
  confirmAlertChannel: AlertChannel,
  removeAlertChannel: Empty,
}
