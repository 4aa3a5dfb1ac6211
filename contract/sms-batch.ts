// The operations of SMS batches.
import type { Operation } from './endpoint.ts'
import { pageParameters } from './paging.ts'
import { signName, templateCode } from './sms-parameters.ts'
import { maxBatchMessages, maxSendAheadDays, phonePattern } from './sms-text.ts'
import { timePattern } from './time.ts'

const batchId = {
  type: 'string',
  required: true,
  text: { zh: '批次号', en: 'ID of the batch' },
  example: '200000000000000001',
} as const

export const smsBatchOperations = {
  send_batch: {
    actions: ['send_batch'],
    scope: 'sms:write',
    text: { zh: '群发短信', en: 'Send a batch of SMS' },
    parameters: {
      template_code: templateCode,
      phone_numbers: {
        type: 'items',
        required: false,
        maxItems: maxBatchMessages,
        items: { type: 'string', pattern: phonePattern },
        text: {
          zh: `接收号码，1 至 ${maxBatchMessages} 个，变量相同；与 messages 二选一`,
          en: `Recipients, 1–${maxBatchMessages}, with the same variables; either this or messages`,
        },
        example: ['13800138000', '13800138001'],
      },
      template_params: {
        type: 'map',
        required: false,
        text: {
          zh: '模板变量，用于 phone_numbers 及没有自己变量的 messages',
          en: 'Values of the template variables, for phone_numbers and for messages without their own',
        },
        example: { code: '1234' },
      },
      messages: {
        type: 'items',
        required: false,
        maxItems: maxBatchMessages,
        items: {
          type: 'object',
          properties: {
            phone_number: { type: 'string', pattern: phonePattern },
            template_params: { type: 'object', additionalProperties: { type: ['string', 'number'] } },
          },
          required: ['phone_number'],
        },
        text: {
          zh: `号码与各自变量的列表，1 至 ${maxBatchMessages} 个`,
          en: `Recipients with their own variables, 1–${maxBatchMessages}`,
        },
        example: [{ phone_number: '13800138000', template_params: { code: '1234' } }],
      },
      sign_name: signName,
      send_at: {
        type: 'string',
        required: false,
        pattern: timePattern,
        text: {
          zh: `定时发送时间 YYYY-MM-DD HH:MM:SS，${maxSendAheadDays} 天以内`,
          en: `When to send, YYYY-MM-DD HH:MM:SS, at most ${maxSendAheadDays} days ahead`,
        },
        example: '2026-11-15 09:00:00',
      },
    },
  },
  get_batch: {
    actions: ['get_batch'],
    scope: 'sms:read',
    text: { zh: '查询批次', en: 'Get a batch' },
    parameters: { batch_id: batchId, ...pageParameters },
  },
  cancel_batch: {
    actions: ['cancel_batch'],
    scope: 'sms:write',
    text: { zh: '取消批次', en: 'Cancel a batch' },
    parameters: { batch_id: batchId },
  },
} as const satisfies Readonly<Record<string, Operation>>
