// Webhooks with their deliveries, and alert channels.
import { type Static, Type } from 'typebox'
import {
  alertChannelKinds,
  alertLimits,
  eventTypes,
  type EventType,
  maxAlertPercents,
  webhookLimits,
} from '../events.ts'
import { Empty, Noted, note, slice } from './fields.ts'
import { route, withResponses } from './route.ts'
import type { eventResponses, operatorEventResponses } from './responses/events.ts'

export const WebhookInput = Type.Object({
  url: Type.String({ minLength: 1, maxLength: webhookLimits.urlLength }),
  /** Empty: all types. */
  events: Type.Array(Type.Enum(Object.keys(eventTypes) as [EventType, ...EventType[]]), { maxItems: 50 }),
})
export type WebhookInput = Static<typeof WebhookInput>

const WebhookState = Type.Object({ state: Type.Enum(['active', 'disabled']) })

/** Milliseconds since 1970. */
const ResendInput = Type.Object({ since: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })

export const AlertChannelInput = Type.Object({
  kind: Type.Enum([...alertChannelKinds]),
  target: Type.String({ minLength: 1, maxLength: alertLimits.targetLength }),
  secret: Type.Optional(Type.String({ maxLength: alertLimits.secretLength })),
})
export type AlertChannelInput = Static<typeof AlertChannelInput>

export const ConfirmInput = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) })
export type ConfirmInput = Static<typeof ConfirmInput>

const AlertPercents = Type.Object({
  percents: Type.Array(Type.Integer({ minimum: 1, maximum: 99 }), { maxItems: maxAlertPercents }),
})

export const eventRoutes = withResponses<typeof eventResponses>()({
  webhooks: route('GET', '/webhooks', Empty),
  addWebhook: route('POST', '/webhooks', WebhookInput),
  changeWebhook: route('PUT', '/webhooks/:id', WebhookInput),
  setWebhookState: route('PUT', '/webhooks/:id/state', WebhookState),
  removeWebhook: route('DELETE', '/webhooks/:id', Empty),
  rotateWebhook: route('POST', '/webhooks/:id/rotate', Empty),
  testWebhook: route('POST', '/webhooks/:id/test', Empty),
  deliveries: route('GET', '/webhooks/:id/deliveries', Type.Object(slice)),
  delivery: route('GET', '/webhook-deliveries/:id', Empty),
  resendDelivery: route('POST', '/webhook-deliveries/:id/resend', Empty),
  resendFailed: route('POST', '/webhooks/:id/resend', ResendInput),
  /** Percentages of the last grant at which low credits are reported; an empty list: none. */
  setAlertPercents: route('PUT', '/alert-percents', AlertPercents),
  alertChannels: route('GET', '/alert-channels', Empty),
  addAlertChannel: route('POST', '/alert-channels', AlertChannelInput),
  confirmAlertChannel: route('POST', '/alert-channels/:id/confirm', ConfirmInput),
  removeAlertChannel: route('DELETE', '/alert-channels/:id', Empty),
})

/** Webhooks of all accounts, for operators: read, and send again. */
export const operatorEventRoutes = withResponses<typeof operatorEventResponses>()({
  health: route('GET', '/operator/overview/webhooks', Empty),
  webhooks: route('GET', '/operator/accounts/:id/webhooks', Empty),
  deliveries: route('GET', '/operator/accounts/webhooks/:id/deliveries', Type.Object(slice)),
  delivery: route('GET', '/operator/accounts/webhook-deliveries/:id', Empty),
  resendDelivery: route('POST', '/operator/accounts/webhook-deliveries/:id/resend', Noted),
  resendFailed: route(
    'POST',
    '/operator/accounts/webhooks/:id/resend',
    Type.Object({ ...ResendInput.properties, note }),
  ),
})
