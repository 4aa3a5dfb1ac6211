// One attempt to send an alert through a channel.
import { formatAlert } from './alert-text.ts'
import { type DeliveryAttempt, nextState } from './attempt.ts'
import type { AlertSender } from './channels/port.ts'
import type { DueDelivery, LeasedEndpoint } from './dispatch-store.ts'

export interface AlertAttemptOptions {
  readonly channel: AlertSender
  readonly endpoint: LeasedEndpoint
  readonly target: string
  readonly secret: string | undefined
  readonly consoleUrl: string
  readonly unsubscribeUrl: string
  readonly retryMs: readonly number[]
  readonly signal: AbortSignal
}

export async function attemptAlert(
  delivery: DueDelivery,
  { channel, endpoint, target, secret, consoleUrl, unsubscribeUrl, retryMs, signal }: AlertAttemptOptions,
): Promise<DeliveryAttempt> {
  const startedAt = performance.now()
  const data = JSON.parse(delivery.data) as Record<string, unknown>
  const { language, username } = endpoint
  const message = formatAlert(
    { type: delivery.type, data, at: delivery.at },
    { language, username, consoleUrl },
  )
  const result = await channel.send({ target, secret }, { ...message, unsubscribeUrl }, signal)
  const succeeded = result.kind === 'sent'
  const waitMs = result.kind === 'retry' ? result.waitMs : 0
  return {
    succeeded,
    disable: result.kind === 'rejected' ? 'rejected' : undefined,
    pauseMs: Math.max(channel.intervalMs, waitMs),
    record: {
      ...nextState(delivery, succeeded, retryMs, waitMs),
      durationMs: performance.now() - startedAt,
      status: null,
      error: succeeded ? null : result.reason,
      response: '',
    },
  }
}
