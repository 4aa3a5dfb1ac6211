// Responses of the statistics of messages.
import { Type } from 'typebox'
import type { ResponseOf } from '../route.ts'
import { csvFile, extend, orNull } from './fields.ts'

const MessageCounts = Type.Object({
  total: Type.Integer(),
  /** Accepted by the gateway, without a receipt yet. */
  sent: Type.Integer(),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  /** Waiting, being sent, or not known. */
  undecided: Type.Integer(),
  cancelled: Type.Integer(),
})
export type MessageCounts = ResponseOf<typeof MessageCounts>

export const SmsStatistics = Type.Object({
  from: Type.String(),
  to: Type.String(),
  /** The first day that is counted when there are too many messages for one report; null: all days are. */
  counted_from: orNull(Type.String()),
  totals: MessageCounts,
  days: Type.Array(extend(MessageCounts, { day: Type.String() })),
  /** Most messages first; the rest is not listed. */
  templates: Type.Array(extend(MessageCounts, { template_code: Type.String() })),
  gateways: Type.Array(extend(MessageCounts, { gateway: Type.String() })),
  /** Of failed messages. */
  reasons: Type.Array(Type.Object({ reason: Type.String(), count: Type.Integer() })),
})
export type SmsStatistics = ResponseOf<typeof SmsStatistics>

export const smsStatisticsResponses = { statistics: SmsStatistics, statisticsCsv: csvFile }

export const operatorSmsStatisticsResponses = { smsStatistics: SmsStatistics, smsStatisticsCsv: csvFile }
