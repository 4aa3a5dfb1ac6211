// Signatures of Standard Webhooks 1.0.
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'
const secretBytes = 32

export function generateWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64')
}

export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970: the time of this attempt. */
  readonly timestamp: number
  readonly body: string
}

/** The headers of one attempt. While a secret is rotated there are two, and the header has one signature of each. */
export function signWebhook(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
