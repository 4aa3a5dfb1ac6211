// The port of an alert channel: sends one short text to one target.
import type { AlertChannelKind } from '../../../contract/events.ts'

export interface AlertMessage {
  readonly title: string
  /** Lines of plain text. */
  readonly text: string
  /** Where the receiver ends the alerts with one click; only for mail. */
  readonly unsubscribeUrl: string
}

export interface AlertTarget {
  /** An address, or the URL of a robot. A URL is a credential: it is never logged. */
  readonly target: string
  readonly secret: string | undefined
}

/** `rejected`: it will never work with this target, so the channel is disabled. `reason` has no credential. */
export type AlertResult =
  | { readonly kind: 'sent' }
  | { readonly kind: 'retry'; readonly reason: string; readonly waitMs: number }
  | { readonly kind: 'rejected'; readonly reason: string }

export interface AlertSender {
  readonly kind: AlertChannelKind
  /** Time between two messages to one target, below the provider's limit. */
  readonly intervalMs: number
  send(target: AlertTarget, message: AlertMessage, signal: AbortSignal): Promise<AlertResult>
}
