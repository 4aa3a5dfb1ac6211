// Group sending in the console: checked, sent and cancelled in batches of the API's size.
import { type Static, Type } from 'typebox'
import { maxBatchMessages } from '../sms-text.ts'
import { Empty, slice } from './fields.ts'
import type { smsBatchResponses } from './responses/sms-batches.ts'
import { route, withResponses } from './route.ts'

/** The rows of one file; the browser reads it and sends at most `maxBatchMessages` of them in one call. */
const BatchDraft = Type.Object({
  template_code: Type.String({ minLength: 1, maxLength: 200 }),
  sign_name: Type.Optional(Type.String({ maxLength: 100 })),
  // The API's own messages say what is wrong with single messages.
  messages: Type.Unsafe<
    readonly {
      readonly phone_number: string
      readonly template_params: Readonly<Record<string, string>>
    }[]
  >({
    type: 'array',
    minItems: 1,
    maxItems: maxBatchMessages,
    items: {
      type: 'object',
      properties: {
        phone_number: { type: 'string', maxLength: 50 },
        template_params: { type: 'object', additionalProperties: { type: 'string', maxLength: 1_000 } },
      },
      required: ['phone_number', 'template_params'],
    },
    problem: {
      zh: `必须是 1 至 ${maxBatchMessages} 条短信`,
      en: `Must be 1 to ${maxBatchMessages} messages`,
    },
  }),
  send_at: Type.Optional(Type.String({ maxLength: 50 })),
})
export type BatchDraft = Static<typeof BatchDraft>

const BatchQuery = Type.Object(slice)

export const smsBatchRoutes = withResponses<typeof smsBatchResponses>()({
  batches: route('GET', '/sms/batches', BatchQuery),
  /** Checks and prices messages. Nothing is charged, stored or sent. */
  checkBatch: route('POST', '/sms/batches/check', BatchDraft),
  /** Takes an `idempotency-key` header, so that a retry after a lost connection sends and costs nothing. */
  sendBatch: route('POST', '/sms/batches', BatchDraft),
  cancelBatch: route('POST', '/sms/batches/:id/cancel', Empty),
  batchCsv: route('GET', '/sms/batches/:id/result.csv', Empty),
})
