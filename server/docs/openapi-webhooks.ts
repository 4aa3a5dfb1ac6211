// The `webhooks` of the OpenAPI document: one for each type of event.
import { eventDataExamples, nullableEventFields } from '../../contract/event-data.ts'
import { type EventType, eventTypes, webhookLimits } from '../../contract/events.ts'
import type { SchemaObject, Translate } from './schemas.ts'

const timestampExample = '2026-01-02T03:04:05+08:00'

export function openApiWebhooks(translate: Translate): SchemaObject {
  return Object.fromEntries(
    (Object.keys(eventTypes) as EventType[]).map((type) => [type, webhookOf(type, translate)]),
  )
}

function webhookOf(type: EventType, translate: Translate): SchemaObject {
  const data = eventDataExamples[type]
  const seconds = webhookLimits.timeoutMs / 1000
  return {
    post: {
      operationId: `event_${type.replaceAll('.', '_')}`,
      summary: translate(eventTypes[type]),
      security: [],
      parameters: [
        header('webhook-id', 'string', {
          zh: '事件编号，重试时不变，请据此去重',
          en: 'ID of the event, the same for every attempt: use it to ignore duplicates',
        }),
        header('webhook-timestamp', 'integer', {
          zh: '本次请求的 Unix 时间（秒）',
          en: 'Unix time of this attempt in seconds',
        }),
        header('webhook-signature', 'string', {
          zh: '签名，`v1,` 加 HMAC-SHA256 的 Base64；轮换密钥期间有两个，以空格分隔',
          en: 'Signature: `v1,` and the base64 of an HMAC-SHA256; two, separated by a space, while a secret is rotated',
        }),
      ].map((one) => ({ ...one, description: translate(one.description) })),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['type', 'timestamp', 'data'],
              properties: {
                type: { const: type },
                timestamp: { type: 'string', format: 'date-time', examples: [timestampExample] },
                data: schemaOf(data, translate),
              },
            },
            examples: { event: { value: { type, timestamp: timestampExample, data } } },
          },
        },
      },
      responses: {
        '2XX': {
          description: translate({
            zh: `${seconds} 秒内返回 2xx 即为成功，其他结果会重试`,
            en: `2xx within ${seconds} seconds is success; anything else is tried again`,
          }),
        },
        '410': {
          description: translate({ zh: '停用该接收地址', en: 'Disables the endpoint' }),
        },
      },
    },
  }
}

function header<T>(name: string, type: string, description: T) {
  return { name, in: 'header', required: true, schema: { type }, description }
}

/** The schema of an example: its fields are always there. */
function schemaOf(example: Readonly<Record<string, unknown>>, translate: Translate): SchemaObject {
  const fields = Object.entries(example)
  return {
    type: 'object',
    ...(fields.length > 0 && {
      required: fields.map(([name]) => name),
      properties: Object.fromEntries(
        fields.map(([name, value]) => {
          const { type, ...more } = fieldOf(value)
          const nullable = nullableEventFields[name]
          return nullable === undefined
            ? [name, { type, ...more }]
            : [name, { type: [type, 'null'], ...more, description: translate(nullable) }]
        }),
      ),
    }),
  }
}

function fieldOf(value: unknown): SchemaObject {
  if (typeof value === 'object' && value !== null)
    return { type: 'object', additionalProperties: { type: 'integer' } }
  if (typeof value === 'boolean') return { type: 'boolean' }
  return { type: typeof value === 'number' ? 'integer' : 'string' }
}
