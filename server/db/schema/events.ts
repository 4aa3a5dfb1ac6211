// The tables of events and their deliveries.
import type { AlertChannelKind, EventType, PlatformAlertType } from '../../../contract/events.ts'
import type { Language } from '../../../contract/text.ts'
import type { Json, Milliseconds } from './columns.ts'

export interface EventTables {
  event: EventTable
  event_endpoint: EventEndpointTable
  event_delivery: EventDeliveryTable
  event_attempt: EventAttemptTable
}

interface EventTable {
  id: number
  /** The `webhook-id` of every attempt. */
  uid: string
  account_id: number
  type: EventType | PlatformAlertType
  data: Json
  /** Alerts with the same key are sent at most once an hour. */
  alert_key: string
  at: Milliseconds
}

interface EventEndpointTable {
  id: number
  account_id: number
  kind: 'webhook' | AlertChannelKind
  /** Encrypted, except for webhooks: the URL of a robot is a credential. */
  url: string
  /** Space-separated, or `*` for all. */
  event_types: string
  /** Encrypted. Null if the channel needs none. */
  secret: string | null
  /** Encrypted. Signs as well until `previous_until`. */
  previous_secret: string | null
  previous_until: Milliseconds | null
  state: 'unconfirmed' | 'active' | 'disabled'
  disabled_reason: 'gone' | 'failing' | 'rejected' | 'by_user' | 'unsubscribed' | null
  /** The first failure since the last success. */
  failing_since: Milliseconds | null
  /** Nothing is sent before this time: the receiver asked for a pause. */
  paused_until: Milliseconds
  /** Until when one process delivers to this endpoint. */
  lease_until: Milliseconds
  served_at: Milliseconds
  /** Of alerts. */
  language: Language
  /** Keyed hash of the code that confirms the channel. */
  confirm_hash: string | null
  confirm_attempts: number
  created_at: Milliseconds
}

interface EventDeliveryTable {
  id: number
  event_id: number
  endpoint_id: number
  account_id: number
  state: 'pending' | 'delivered' | 'failed'
  /** Recorded attempts since the delivery was created or sent again. */
  attempts: number
  due_at: Milliseconds
  created_at: Milliseconds
  ended_at: Milliseconds | null
  last_status: number | null
  last_error: string | null
}

interface EventAttemptTable {
  id: number
  delivery_id: number
  at: Milliseconds
  duration_ms: number
  /** HTTP status; null without a response. */
  status: number | null
  error: string | null
  /** The first characters of the response. */
  response: string
}
