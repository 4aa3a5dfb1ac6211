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
    zh: '缺少必要参数，消息逐一指出',
    en: 'Required parameters are missing; the message names all of them',
  },
}
