// Batches in the reference of the SMS endpoint.
import { type TSchema, Type } from 'typebox'
import { count, envelopeOf, object, oneOf, type OperationReference, text } from '../reference.ts'
import { batchStates, maxBatchMessages, maxSendAheadDays, marketingHours } from '../sms-text.ts'
import { missing, noTemplate, notEnabled, notPayable } from './sms-parts.ts'

const batchId = Type.String({ pattern: '^\\d{18}$', ...text('批次号', 'ID of the batch') })
const sendAt = Type.String(
  text('定时发送时间，未定时为空', 'Scheduled time; empty if sent as soon as possible'),
)

const acceptedBatch = object({
  batch_id: batchId,
  accepted: count('受理的条数', 'Accepted messages'),
  rejected: Type.Array(
    object(
      {
        index: count('在请求中的位置，从 0 开始', 'Position in the request, from zero'),
        phone_number: Type.String(text('号码', 'Number')),
        error_message: Type.String(text('原因', 'Reason')),
      },
      '一条被拒绝的短信',
      'A rejected message',
    ),
    text('被拒绝的短信，不扣费', 'Rejected messages; they are not charged'),
  ),
  send_at: sendAt,
  remaining_credits: count('剩余短信额度', 'Remaining SMS credits'),
})

function smsBatch<R extends TSchema>(record: R) {
  return object({
    batch_id: batchId,
    state: oneOf(batchStates, '状态', 'State'),
    send_at: sendAt,
    total: count('受理的条数', 'Accepted messages'),
    succeeded: count('已发送', 'Sent'),
    failed: count('失败', 'Failed'),
    cancelled: count('已取消', 'Cancelled'),
    pending: count('尚无结果', 'No result yet'),
    credits_used: count('消耗的额度，不含已退回的', 'Credits used, without refunds'),
    items: Type.Array(record, text('发送记录', 'Send records')),
    next_cursor: Type.Union([Type.String(), Type.Null()], {
      ...text('下一页的 cursor，没有更多时为 null', 'Cursor of the next page; null after the last one'),
    }),
  })
}

const cancelledBatch = object({
  batch_id: batchId,
  cancelled: count('取消的条数', 'Cancelled messages'),
  remaining_credits: count('剩余短信额度', 'Remaining SMS credits'),
})

const noSuchBatch = {
  code: 1002,
  status: 400,
  when: { zh: '批次不存在', en: 'The batch does not exist' },
} as const

const unknownBatch = {
  title: { zh: '批次不存在', en: 'Unknown batch' },
  values: { batch_id: '299999999999999999' },
  status: 400,
  response: { code: 1002, message: '批次不存在' },
} as const

const withoutBatch = {
  title: { zh: '缺少批次号', en: 'Missing batch_id' },
  values: {},
  status: 400,
  response: { code: 1001, message: 'batch_id 缺失' },
} as const

export const sendBatchReference: OperationReference = {
  price: {
    name: 'sms_part',
    apiType: 'sms',
    per: { zh: '每条计费短信', en: 'each billed part' },
  },
  notes: [
    {
      zh: `每次 1 至 ${maxBatchMessages} 条，受理后立即返回，不等待网关。无效号码与重复号码（仅保留首个）会被拒绝，不扣费；其余短信一次性扣费，额度不足则全部不发送。`,
      en: `1–${maxBatchMessages} messages. The response does not wait for the gateways. Invalid numbers and later repetitions of a number are rejected and not charged. The other messages are charged together; if there are not enough credits, none is sent.`,
    },
    {
      zh: `每条短信有各自的 biz_id，最多发送一次，单独结算或退回。send_at 必须在 ${maxSendAheadDays} 天以内，受理时扣费。营销模板仅在 ${marketingHours.from}:00 至 ${marketingHours.to}:00 发送。`,
      en: `Each message has its own biz_id, is sent at most once, and is settled or refunded on its own. send_at is at most ${maxSendAheadDays} days ahead; credits are charged on acceptance. Marketing templates are sent from ${marketingHours.from}:00 to ${marketingHours.to}:00 only.`,
    },
    {
      zh: '等待发送期间，如账户停用或过期、模板修改或删除、签名不再可用、号码退订，则不再发送并退回额度。',
      en: 'If the account is suspended or expires, the template is changed or deleted, the signature may not be used any more, or the number unsubscribes while a message waits, it is not sent and the credits are refunded.',
    },
  ],
  response: envelopeOf(acceptedBatch),
  errors: [
    missing,
    {
      code: 1002,
      status: 400,
      when: {
        zh: '参数有误，签名未通过审核，没有可发送的短信，或等待发送的短信过多（HTTP 429）',
        en: 'Invalid parameter, signature not approved, no message can be sent, or too many messages are waiting (HTTP 429)',
      },
    },
    notPayable,
    notEnabled,
    noTemplate,
  ],
  examples: [
    {
      title: { zh: '群发', en: 'Send a batch' },
      values: {
        template_code: 'CODE_LOGIN',
        phone_numbers: ['13800138001', '13800138001', '13800138002'],
        template_params: { code: '1234' },
      },
      status: 200,
      response: {
        code: 0,
        message: 'success',
        data: {
          batch_id: '200000000000000001',
          accepted: 2,
          rejected: [{ index: 1, phone_number: '13800138001', error_message: '号码重复' }],
          send_at: '',
          remaining_credits: 996,
        },
      },
      varies: ['data.remaining_credits'],
    },
    {
      title: { zh: '没有可发送的短信', en: 'No message can be sent' },
      values: { template_code: 'CODE_LOGIN', phone_numbers: ['123'], template_params: { code: '1234' } },
      status: 400,
      response: { code: 1002, message: '没有可发送的短信：[0] phone_number 必须是11位手机号' },
    },
    {
      title: { zh: '定时时间已过', en: 'Scheduled in the past' },
      values: {
        template_code: 'CODE_LOGIN',
        phone_numbers: ['13800138001'],
        template_params: { code: '1234' },
        send_at: '2026-01-02 03:04:05',
      },
      status: 400,
      response: { code: 1002, message: 'send_at 必须晚于当前时间' },
    },
    {
      title: { zh: '缺少参数', en: 'Missing parameters' },
      values: { template_code: 'CODE_LOGIN' },
      status: 400,
      response: { code: 1001, message: 'phone_numbers 缺失' },
    },
    {
      title: { zh: '模板不存在', en: 'Unknown template' },
      values: { template_code: 'NO_SUCH', phone_numbers: ['13800138001'] },
      status: 404,
      response: { code: 1007, message: '短信模板不存在或未通过审核' },
    },
    {
      title: { zh: '额度不足', en: 'Not enough credits' },
      values: {
        template_code: 'CODE_SHARED',
        phone_numbers: ['13800138001'],
        template_params: { code: '1234' },
      },
      caller: 'without credits',
      status: 403,
      response: { code: 1004, message: '调用次数不足' },
    },
    {
      title: { zh: '短信服务未开通', en: 'SMS service not enabled' },
      values: {
        template_code: 'CODE_LOGIN',
        phone_numbers: ['13800138001'],
        template_params: { code: '1234' },
      },
      caller: 'sms off',
      status: 403,
      response: { code: 1006, message: '短信服务未开通' },
    },
  ],
}

export function getBatchReference(record: TSchema): OperationReference {
  return {
    notes: [
      {
        zh: 'state：waiting 未开始，sending 发送中，finished 全部已有结果，cancelled 全部已取消。total 等于 succeeded、failed、cancelled、pending 之和。items 按时间倒序，使用 next_cursor 翻页。',
        en: 'state: waiting (not started), sending, finished (every message has a result), cancelled (every message was cancelled). total is the sum of succeeded, failed, cancelled and pending. items are newest first; use next_cursor for further pages.',
      },
    ],
    response: envelopeOf(smsBatch(record)),
    errors: [missing, noSuchBatch],
    examples: [
      {
        title: { zh: '查询批次', en: 'Get a batch' },
        values: { batch_id: '200000000000000001' },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            batch_id: '200000000000000001',
            state: 'sending',
            send_at: '',
            total: 2,
            succeeded: 0,
            failed: 0,
            cancelled: 0,
            pending: 2,
            credits_used: 2,
            items: [],
            next_cursor: null,
          },
        },
        varies: ['data.state', 'data.succeeded', 'data.pending', 'data.items'],
      },
      unknownBatch,
      withoutBatch,
    ],
  }
}

export const cancelBatchReference: OperationReference = {
  notes: [
    {
      zh: '取消尚未开始发送的短信并退回额度；已开始发送的不受影响。',
      en: 'Cancels the messages whose sending has not started and refunds their credits; the others are not affected.',
    },
  ],
  response: envelopeOf(cancelledBatch),
  errors: [
    missing,
    noSuchBatch,
    { code: 1005, status: 409, when: { zh: '没有可取消的短信', en: 'Nothing is left to cancel' } },
  ],
  examples: [unknownBatch, withoutBatch],
}
