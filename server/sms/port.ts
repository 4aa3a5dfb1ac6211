// The port to an SMS provider: send a message once, query its delivery status, read delivery receipts.
import type { Outcome } from '../upstream/outcome.ts'

export interface Message {
  /** Our serial number. Vendors that can return it in their receipts do. */
  readonly bizId: string
  readonly phone: string
  /** Without its brackets. */
  readonly signName: string
  readonly templateCode: string
  /** The template's id at this gateway. */
  readonly templateId: string
  /** In the order of their first appearance in the template, for vendors that number variables. */
  readonly variables: readonly { readonly name: string; readonly value: string }[]
  /** The whole text, with signature and brackets. */
  readonly text: string
}

export interface SentMessage {
  /** The gateway's id of the message. */
  readonly gatewayId: string | undefined
}

/** Why a gateway refused a message: phone number, text, template or signature, opted-out recipient, time of day. */
export const refusalReasons = ['number', 'content', 'template', 'blocked', 'hours'] as const

export type RefusalReason = (typeof refusalReasons)[number]

/** What a gateway reports about a message, in a response to a query or in a receipt. */
export interface DeliveryStatus {
  readonly bizId: string | undefined
  readonly gatewayId: string | undefined
  readonly phone: string
  /** `accepted`: sent to the carrier, no receipt yet. */
  readonly state: 'accepted' | 'delivered' | 'undelivered'
  /** The carrier's or vendor's code. */
  readonly code: string
}

export interface StatusQuery {
  readonly bizId: string
  readonly gatewayId: string | undefined
  readonly phone: string
  readonly sentAt: number
}

export interface SmsGateway {
  readonly name: string
  /** Sends once and never retries. */
  send(message: Message, signal?: AbortSignal): Promise<Outcome<SentMessage>>
  /**
   * All messages to this phone number around that time that the gateway knows; undefined when the query failed.
   * Absent if the gateway cannot be queried.
   */
  readonly queryStatus?: (
    query: StatusQuery,
    signal?: AbortSignal,
  ) => Promise<readonly DeliveryStatus[] | undefined>
  /** Checks the connection and our credentials. Sends nothing. */
  probe(signal?: AbortSignal): Promise<ProbeResult>
}

export interface ProbeResult {
  readonly ok: boolean
  /** A fixed word or a vendor code. */
  readonly detail: string
}

/** A message that a recipient sent back. */
export interface IncomingReply {
  /** With or without the country code. */
  readonly phone: string
  readonly content: string
  /** The signature that was replied to, where the vendor names it. */
  readonly signName: string | undefined
  /** The vendor's id of the reply: a repeated push has the same one. */
  readonly sequence: string
}

export interface ReceiptRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  /** The body as JSON; undefined if it is none or exceeds the limits of a request body. */
  readonly json: () => unknown
}

export type ParsedReceipts =
  | {
      readonly kind: 'receipts'
      readonly statuses: readonly DeliveryStatus[]
      readonly replies: readonly IncomingReply[]
    }
  | { readonly kind: 'malformed' }
  /** Wrong signature or expired timestamp. */
  | { readonly kind: 'forged' }

/** How to parse a vendor's receipts and replies, and what to respond. */
export interface ReceiptFormat {
  parse(request: ReceiptRequest): ParsedReceipts
  readonly successBody: unknown
  readonly errorBody: unknown
}
