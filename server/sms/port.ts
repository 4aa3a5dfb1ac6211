// What an SMS gateway is to the rest of the product: it sends one message once, and may be asked what became of it.
import type { Outcome } from '../upstream/outcome.ts'

export interface Message {
  /** Our serial number; vendors that can carry it through to their receipts do. */
  readonly bizId: string
  readonly phone: string
  /** Without its brackets. */
  readonly signName: string
  readonly templateCode: string
  /** The template's id at this gateway. */
  readonly templateId: string
  /** In the order in which they first appear in the template, for vendors that know them by position. */
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** The whole text, signature and brackets included. */
  readonly text: string
}

export interface Sent {
  /** The gateway's own id of the message, opaque. */
  readonly gatewayId: string | undefined
}

/**
 * Why a gateway refused a message, in our words: the number, the text, the template or signature, a recipient who wants
 * none, or the hour.
 */
export const refusalReasons = ['number', 'content', 'template', 'blocked', 'hours'] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** What a gateway says became of a message, asked for or in a receipt. */
export interface Fate {
  readonly bizId: string | undefined
  readonly gatewayId: string | undefined
  readonly phone: string
  /** `accepted`: taken over, no receipt yet. */
  readonly state: 'accepted' | 'delivered' | 'undelivered'
  /** The carrier's or vendor's code. */
  readonly code: string
}

export interface Question {
  readonly bizId: string
  readonly gatewayId: string | undefined
  readonly phone: string
  readonly sentAt: number
}

export interface SmsGateway {
  readonly name: string
  /** Sends once. Never repeats by itself. */
  send(message: Message, signal?: AbortSignal): Promise<Outcome<Sent>>
  /**
   * Everything the gateway knows of messages to this number around that time; undefined when it could not say.
   * Absent where a gateway cannot be asked.
   */
  readonly ask?: (question: Question, signal?: AbortSignal) => Promise<readonly Fate[] | undefined>
  /** Whether the gateway can be reached and takes our credentials. Sends nothing. */
  probe(signal?: AbortSignal): Promise<Probe>
}

export interface Probe {
  readonly ok: boolean
  /** A word or a vendor's code. */
  readonly detail: string
}

export interface ReceiptRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export type ReceiptReading =
  | { readonly kind: 'receipts'; readonly fates: readonly Fate[] }
  | { readonly kind: 'malformed' }
  /** Signed by someone else, or long ago. */
  | { readonly kind: 'forged' }

/** How a vendor's pushes are read, and what it wants to hear. */
export interface ReceiptForm {
  read(request: ReceiptRequest): ReceiptReading
  readonly received: unknown
  readonly refused: unknown
}
