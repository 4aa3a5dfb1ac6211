// Schemas and errors that several SMS operations share in the reference.
import { Type } from 'typebox'
import { type ErrorCase, text, time } from '../reference.ts'
import { phonePattern } from '../sms-text.ts'

export const bizId = Type.String({ pattern: '^\\d{18,20}$', ...text('发送流水号', 'ID of the message') })
export const recipient = Type.String({ pattern: phonePattern, ...text('接收号码', 'Recipient') })
export const templateCode = Type.String(text('模板编号', 'Template code'))
export const sendTime = time('发送时间（北京时间）', 'Send time, Asia/Shanghai')

export const missing: ErrorCase = {
  code: 1001,
  status: 400,
  when: {
    zh: '缺少必要参数，消息中逐一列出',
    en: 'Required parameters are missing; the message names all of them',
  },
}

export const notPayable: ErrorCase = {
  code: 1004,
  status: 403,
  when: { zh: '额度不足，或账户已过期', en: 'Not enough credits, or the account has expired' },
}

export const sendingFailed: ErrorCase = {
  code: 1005,
  status: 502,
  when: { zh: '发送失败', en: 'Sending failed' },
}

export const notEnabled: ErrorCase = {
  code: 1006,
  status: 403,
  when: { zh: '短信服务未开通', en: 'SMS service not enabled' },
}

export const noTemplate: ErrorCase = {
  code: 1007,
  status: 404,
  when: { zh: '模板不存在或未通过审核', en: 'The template does not exist or is not approved' },
}
