// One-time codes in the reference of the SMS endpoint.
import { Type } from 'typebox'
import { count, envelopeOf, object, type OperationReference, text, time } from '../reference.ts'
import { codeLimits } from '../sms-text.ts'
import {
  bizId,
  missing,
  noTemplate,
  notEnabled,
  notPayable,
  recipient,
  sendingFailed,
  sendTime,
} from './sms-parts.ts'

export const sentCode = object({
  phone_number: recipient,
  biz_id: bizId,
  send_time: sendTime,
  remaining_credits: count('剩余短信额度', 'Remaining SMS credits'),
  expires_at: time('验证码到期时间（北京时间）', 'When the code expires, Asia/Shanghai'),
})

export const checkedCode = object({
  verified: Type.Boolean(text('验证码是否正确', 'Whether the code is correct')),
  attempts_left: count('剩余尝试次数', 'Attempts left'),
})

export const sendCodeReference: OperationReference = {
  price: {
    name: 'sms_part',
    apiType: 'sms',
    per: { zh: '每条计费短信', en: 'each billed part' },
  },
  notes: [
    {
      zh: '验证码由平台生成，仅保存带密钥的哈希值，不会出现在任何记录、日志或响应中；发送记录中 code 显示为 ******。',
      en: 'The platform generates the code and stores only a keyed hash of it. It never appears in a record, log or response; send records show code as ******.',
    },
    {
      zh: `模板变量必须是 code，可另有 minutes（ttl_s 除以 60，向上取整）。同一号码与用途只有最新的验证码有效，${codeLimits.pauseS} 秒内不能再次发送。`,
      en: `The variables of the template are code and optionally minutes (ttl_s / 60, rounded up). Only the latest code of a number and purpose is valid; another one can be sent after ${codeLimits.pauseS} seconds.`,
    },
    {
      zh: '发送失败并退回额度时，验证码作废，可以立即重新发送；结果未知时验证码仍然有效。',
      en: 'If sending fails and the credits are refunded, the code is void and another one can be sent immediately. If the outcome is unknown, the code stays valid.',
    },
  ],
  response: envelopeOf(sentCode),
  errors: [
    missing,
    {
      code: 1002,
      status: 400,
      when: {
        zh: `参数有误，模板含其他变量，签名未通过审核，号码已退订，或 ${codeLimits.pauseS} 秒内重复发送（消息含等待秒数，见 Retry-After）`,
        en: `Invalid parameter, another variable in the template, signature not approved, number unsubscribed, or another code within ${codeLimits.pauseS} seconds (the message says how long to wait, see Retry-After)`,
      },
    },
    notPayable,
    sendingFailed,
    notEnabled,
    noTemplate,
  ],
  examples: [
    {
      title: { zh: '发送验证码', en: 'Send a code' },
      values: { phone_number: '13900139000', template_code: 'CODE_LOGIN', purpose: 'login' },
      status: 200,
      response: {
        code: 0,
        message: 'success',
        data: {
          phone_number: '13900139000',
          biz_id: '100000000000000002',
          send_time: '2026-01-02 03:04:05',
          remaining_credits: 998,
          expires_at: '2026-01-02 03:09:05',
        },
      },
      varies: ['data.biz_id', 'data.send_time', 'data.remaining_credits', 'data.expires_at'],
    },
    {
      title: { zh: '模板含其他变量', en: 'Other variables in the template' },
      values: { phone_number: '13900139000', template_code: 'NOTICE_ORDER' },
      status: 400,
      response: { code: 1002, message: '模板的变量必须是 code，可另有 minutes' },
    },
    {
      title: { zh: '网关拒绝（沙箱号码）', en: 'Rejected by the gateway (sandbox number)' },
      sandbox: true,
      values: { phone_number: '19900000001', template_code: 'CODE_LOGIN' },
      status: 502,
      response: { code: 1005, message: '短信发送失败：号码无效或无法接收短信' },
    },
    {
      title: { zh: '模板不存在', en: 'Unknown template' },
      values: { phone_number: '13900139000', template_code: 'NO_SUCH' },
      status: 404,
      response: { code: 1007, message: '短信模板不存在或未通过审核' },
    },
    {
      title: { zh: '额度不足', en: 'Not enough credits' },
      values: { phone_number: '13900139000', template_code: 'CODE_SHARED' },
      caller: 'without credits',
      status: 403,
      response: { code: 1004, message: '调用次数不足' },
    },
    {
      title: { zh: '缺少参数', en: 'Missing parameters' },
      values: { purpose: 'login' },
      status: 400,
      response: { code: 1001, message: 'phone_number 缺失；template_code 缺失' },
    },
    {
      title: { zh: '短信服务未开通', en: 'SMS service not enabled' },
      values: { phone_number: '13900139000', template_code: 'CODE_LOGIN' },
      caller: 'sms off',
      status: 403,
      response: { code: 1006, message: '短信服务未开通' },
    },
  ],
}

export const checkCodeReference: OperationReference = {
  notes: [
    {
      zh: `免费。验证码只能验证成功一次，最多尝试 ${codeLimits.attempts} 次；不存在、已过期、已使用或尝试次数用完的验证码，响应相同：verified 为 false，attempts_left 为 0。`,
      en: `Free. A code can be verified once, with at most ${codeLimits.attempts} attempts. Unknown, expired and used codes, and codes without attempts left, get the same response: verified is false and attempts_left is 0.`,
    },
  ],
  response: envelopeOf(checkedCode),
  errors: [
    missing,
    { code: 1002, status: 400, when: { zh: '号码或用途有误', en: 'Invalid number or purpose' } },
  ],
  examples: [
    {
      title: { zh: '没有有效的验证码', en: 'No valid code' },
      values: { phone_number: '13700137000', code: '123456', purpose: 'login' },
      status: 200,
      response: { code: 0, message: 'success', data: { verified: false, attempts_left: 0 } },
    },
    {
      title: { zh: '缺少参数', en: 'Missing parameters' },
      values: { phone_number: '13700137000' },
      status: 400,
      response: { code: 1001, message: 'code 缺失' },
    },
    {
      title: { zh: '号码有误', en: 'Invalid number' },
      values: { phone_number: '137', code: '123456' },
      status: 400,
      response: { code: 1002, message: 'phone_number 必须是11位手机号' },
    },
  ],
}
