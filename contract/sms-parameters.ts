// Parameters that several operations of the SMS endpoint share.
import { phonePattern } from './sms-text.ts'

export const recipient = {
  type: 'string',
  required: true,
  pattern: phonePattern,
  text: { zh: '11 位中国内地手机号', en: 'Mobile number of mainland China, 11 digits' },
  example: '13800138000',
} as const

export const templateCode = {
  type: 'string',
  required: true,
  text: { zh: '模板编号', en: 'Template code' },
  example: 'CODE_LOGIN',
} as const

export const signName = {
  type: 'string',
  required: false,
  minLength: 2,
  maxLength: 20,
  text: {
    zh: '签名，不传则使用账户签名或平台签名',
    en: 'Signature; defaults to the signature of the account or of the platform',
  },
  example: 'Tollgate',
} as const
