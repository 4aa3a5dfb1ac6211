// The SMS endpoint in the reference.
import { Type } from 'typebox'
import { apiTypes } from '../credits.ts'
import { defaultPageSize, maxPageSize } from '../paging.ts'
import { count, type EndpointReference, envelopeOf, nextCursor, object, oneOf, text } from '../reference.ts'
import { marketingHours, maxSmsLength, sendStates, templateStates } from '../sms-text.ts'
import type { sms } from '../sms.ts'
import {
  bizId,
  missing,
  noTemplate,
  notEnabled,
  notPayable,
  recipient,
  sendingFailed,
  sendTime,
  templateCode,
} from './sms-parts.ts'
import { cancelBatchReference, getBatchReference, sendBatchReference } from './sms-batches.ts'
import { checkCodeReference, sendCodeReference } from './sms-codes.ts'
import { repliesReference } from './sms-replies.ts'
import { signaturesReference } from './sms-signatures.ts'

export const sentSms = object({
  phone_number: recipient,
  biz_id: bizId,
  send_time: sendTime,
  remaining_credits: count('剩余短信额度', 'Remaining SMS credits'),
})

export const smsTemplate = object(
  {
    template_code: templateCode,
    template_name: Type.String(text('模板名称', 'Name')),
    template_content: Type.String(text('内容，变量写作 ${name}', 'Content; variables are written ${name}')),
    status: oneOf(templateStates, '审核状态', 'Review status: pending, approved, rejected'),
  },
  '模板',
  'A template',
)

export const creditBalance = object(
  {
    api_type: oneOf(apiTypes, '额度类型', 'Credit type'),
    api_type_name: Type.String(text('类型名称', 'Name of the type')),
    total: count('总额度', 'Total credits'),
    used: count('已用', 'Used'),
    remaining: count('剩余', 'Remaining'),
    percentage_used: Type.Number({
      minimum: 0,
      maximum: 100,
      ...text('已用百分比，两位小数', 'Percentage used, two decimals'),
    }),
  },
  '额度',
  'Balance',
)

export const smsRecord = object(
  {
    phone_number: recipient,
    template_code: templateCode,
    template_params: Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string' },
      ...text('模板变量', 'Values of the template variables'),
    }),
    sign_name: Type.String(text('签名', 'Signature')),
    biz_id: bizId,
    success: Type.Boolean(text('是否发送成功', 'Whether the SMS was sent')),
    created_at: sendTime,
    error_message: Type.String(text('失败原因，成功时为空', 'Reason for the failure; empty on success')),
    state: oneOf(
      sendStates,
      '状态：待发送、发送中、已提交、已送达、失败、结果未知、已取消',
      'State; unknown means that it is not known yet whether the message was sent',
    ),
    receipt_time: Type.String(
      text('回执时间（北京时间），没有回执时为空', 'Time of the receipt, Asia/Shanghai; empty without one'),
    ),
    receipt_code: Type.String(
      text('运营商回执码，没有时为空', 'The code of the carrier in the receipt; empty without one'),
    ),
    batch_id: Type.String(text('群发批次，单独发送时为空', 'The batch; empty for a single message')),
  },
  '一条记录',
  'A record',
)

export const smsReference: EndpointReference<typeof sms> = {
  send: {
    price: {
      name: 'sms_part',
      apiType: 'sms',
      per: { zh: '每条计费短信', en: 'each billed part' },
    },
    notes: [
      {
        zh: `计费内容为【签名】加替换变量后的模板内容，最多 ${maxSmsLength} 个字符；不超过 70 个字符计 1 条，超过则按每 67 个字符计 1 条，向上取整。`,
        en: `The billed text is 【signature】 plus the template with its variables filled in, at most ${maxSmsLength} characters. Up to 70 characters are one part; longer texts are billed per 67 characters, rounded up.`,
      },
      {
        zh: '网关明确拒绝时退回额度。结果未知时不会重发，额度暂扣，15 分钟内确认结果。',
        en: 'If the gateway rejects the message, the credits are refunded. If the outcome is unknown, the message is never sent again: the credits are held until the outcome is decided, at most 15 minutes.',
      },
    ],
    response: envelopeOf(sentSms),
    errors: [
      missing,
      {
        code: 1002,
        status: 400,
        when: {
          zh: `号码或签名有误，签名未通过审核，号码已退订，变量缺少或多余，内容超过 ${maxSmsLength} 个字符，营销模板不在 ${marketingHours.from}:00 至 ${marketingHours.to}:00，或超出单号码发送上限（消息含等待秒数，见 Retry-After）`,
          en: `Invalid number or signature, signature not approved, number unsubscribed, missing or extra variables, more than ${maxSmsLength} characters, a marketing template outside ${marketingHours.from}:00–${marketingHours.to}:00, or too many messages to one number (the message says how long to wait, see Retry-After)`,
        },
      },
      notPayable,
      sendingFailed,
      notEnabled,
      noTemplate,
    ],
    examples: [
      {
        title: { zh: '发送', en: 'Send' },
        values: {
          phone_number: '13800138000',
          template_code: 'CODE_LOGIN',
          template_params: { code: '1234' },
        },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            phone_number: '13800138000',
            biz_id: '100000000000000001',
            send_time: '2026-01-02 03:04:05',
            remaining_credits: 999,
          },
        },
        varies: ['data.send_time'],
      },
      {
        title: { zh: '网关拒绝（沙箱号码）', en: 'Rejected by the gateway (sandbox number)' },
        sandbox: true,
        values: {
          phone_number: '19900000001',
          template_code: 'CODE_LOGIN',
          template_params: { code: '1234' },
        },
        status: 502,
        response: { code: 1005, message: '短信发送失败：号码无效或无法接收短信' },
      },
      {
        title: { zh: '缺少变量', en: 'Missing variable' },
        values: { phone_number: '13800138000', template_code: 'CODE_LOGIN' },
        status: 400,
        response: { code: 1002, message: 'template_params 缺少变量 code' },
      },
      {
        title: { zh: '模板不存在', en: 'Unknown template' },
        values: { phone_number: '13800138000', template_code: 'NO_SUCH', template_params: { code: '1234' } },
        status: 404,
        response: { code: 1007, message: '短信模板不存在或未通过审核' },
      },
      {
        title: { zh: '额度不足', en: 'Not enough credits' },
        values: {
          phone_number: '13800138000',
          template_code: 'CODE_SHARED',
          template_params: { code: '1234' },
        },
        caller: 'without credits',
        status: 403,
        response: { code: 1004, message: '调用次数不足' },
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameters' },
        values: { template_params: { code: '1234' } },
        status: 400,
        response: { code: 1001, message: 'phone_number 缺失；template_code 缺失' },
      },
      {
        title: { zh: '短信服务未开通', en: 'SMS service not enabled' },
        values: {
          phone_number: '13800138000',
          template_code: 'CODE_LOGIN',
          template_params: { code: '1234' },
        },
        caller: 'sms off',
        status: 403,
        response: { code: 1006, message: '短信服务未开通' },
      },
    ],
  },
  templates: {
    notes: [
      {
        zh: '返回本账户的全部模板（包括审核中的）与公共模板；仅审核通过的模板可用于发送。',
        en: 'Lists the templates of the account and the shared templates, whatever their review status; only approved templates can be used.',
      },
    ],
    response: envelopeOf(Type.Array(smsTemplate, text('模板', 'Templates'))),
    errors: [],
    examples: [
      {
        title: { zh: '模板列表', en: 'List templates' },
        values: {},
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: [
            {
              template_code: 'CODE_LOGIN',
              template_name: '登录验证码',
              template_content: '您的验证码是${code}，5分钟内有效。',
              status: '审核通过',
            },
            {
              template_code: 'NOTICE_ORDER',
              template_name: '订单通知',
              template_content: '${name}您好，您的订单${order}已发货。',
              status: '审核通过',
            },
            {
              template_code: 'NOTICE_EVENT',
              template_name: '活动通知',
              template_content: '您报名的${event}将于${time}开始，请准时参加。',
              status: '审核中',
            },
          ],
        },
      },
    ],
  },
  signatures: signaturesReference,
  replies: repliesReference,
  sendCode: sendCodeReference,
  checkCode: checkCodeReference,
  credits: {
    notes: [],
    response: envelopeOf(creditBalance),
    errors: [{ code: 1002, status: 400, when: { zh: 'api_type 不存在', en: 'Unknown api_type' } }],
    examples: [
      {
        title: { zh: '查询短信额度', en: 'SMS credits' },
        values: {},
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: {
            api_type: 'sms',
            api_type_name: '短信',
            total: 1000,
            used: 1,
            remaining: 999,
            percentage_used: 0.1,
          },
        },
      },
      {
        title: { zh: '密钥错误', en: 'Wrong key' },
        values: {},
        caller: 'wrong key',
        status: 401,
        response: { code: 1003, message: '认证失败，用户名或 API 密钥错误' },
      },
      {
        title: { zh: '类型不存在', en: 'Unknown type' },
        values: { api_type: 'fax' },
        status: 400,
        response: { code: 1002, message: 'api_type 不存在' },
      },
    ],
  },
  logs: {
    notes: [
      {
        zh: `biz_id、phone_number、start_date 至少传入一个。按时间倒序返回，最多 ${defaultPageSize} 条；日期为北京时间，含起止当天。传入 limit 或 cursor 时分页返回，响应另有 next_cursor。`,
        en: `At least one of biz_id, phone_number and start_date is required. Newest first, at most ${defaultPageSize} records; days are in Asia/Shanghai and inclusive. With limit or cursor, the response is one page and also contains next_cursor.`,
      },
    ],
    response: envelopeOf(
      Type.Array(smsRecord, { maxItems: maxPageSize, ...text('发送记录', 'Send records') }),
      {
        next_cursor: Type.Optional(nextCursor),
      },
    ),
    errors: [
      {
        code: 1001,
        status: 400,
        when: { zh: '三个条件均未传入', en: 'None of the three was given' },
      },
      {
        code: 1002,
        status: 400,
        when: { zh: '号码、日期、limit 或 cursor 有误', en: 'Invalid number, date, limit or cursor' },
      },
    ],
    examples: [
      {
        title: { zh: '按流水号查询', en: 'By biz_id' },
        values: { biz_id: '100000000000000001' },
        status: 200,
        response: {
          code: 0,
          message: 'success',
          data: [
            {
              phone_number: '13800138000',
              template_code: 'CODE_LOGIN',
              template_params: { code: '1234' },
              sign_name: 'Tollgate',
              biz_id: '100000000000000001',
              success: true,
              created_at: '2026-01-02 03:04:05',
              error_message: '',
              state: 'sent',
              receipt_time: '',
              receipt_code: '',
              batch_id: '',
            },
          ],
        },
        varies: ['data.0.created_at'],
      },
      {
        title: { zh: '未传入条件', en: 'No condition' },
        values: {},
        status: 400,
        response: { code: 1001, message: 'biz_id、phone_number、start_date 至少填写一个' },
      },
      {
        title: { zh: '日期有误', en: 'Invalid date' },
        values: { start_date: '2026-02-30' },
        status: 400,
        response: { code: 1002, message: 'start_date 必须是 YYYY-MM-DD 格式的日期' },
      },
    ],
  },
  send_batch: sendBatchReference,
  get_batch: getBatchReference(smsRecord),
  cancel_batch: cancelBatchReference,
}
