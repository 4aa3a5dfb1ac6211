// The SMS endpoint.
import { apiTypes } from './credits.ts'
import { credentialParameters, type Endpoint } from './endpoint.ts'
import { pageParameters } from './paging.ts'
import { smsBatchOperations } from './sms-batch.ts'
import { recipient, signName, templateCode } from './sms-parameters.ts'
import { codeLimits, phonePattern } from './sms-text.ts'
import { dayPattern } from './time.ts'

const day = { type: 'string', required: false, pattern: dayPattern } as const

const days = {
  start_date: {
    ...day,
    text: { zh: '开始日期 YYYY-MM-DD', en: 'First day, YYYY-MM-DD' },
    example: '2026-11-01',
  },
  end_date: {
    ...day,
    text: { zh: '结束日期 YYYY-MM-DD（含当天）', en: 'Last day, YYYY-MM-DD, inclusive' },
    example: '2026-11-15',
  },
} as const

const purpose = {
  type: 'string',
  required: false,
  maxLength: codeLimits.purposeLength,
  text: {
    zh: '用途，不同用途的验证码互不影响，默认为空',
    en: 'Purpose; codes of different purposes are independent. Empty by default',
  },
  example: 'login',
} as const

export const sms = {
  name: 'sms',
  path: '/api/sms_api.php',
  methods: ['GET', 'POST'],
  shape: 'envelope',
  readsForms: true,
  common: {
    ...credentialParameters,
    action: {
      type: 'string',
      required: true,
      text: { zh: '操作类型', en: 'Operation' },
      example: 'send_sms',
    },
  },
  operations: {
    send: {
      actions: ['send_sms', 'send'],
      scope: 'sms:write',
      text: { zh: '发送短信', en: 'Send an SMS' },
      parameters: {
        phone_number: recipient,
        template_code: templateCode,
        template_params: {
          type: 'map',
          required: false,
          text: {
            zh: '模板变量，与模板内容一一对应',
            en: 'Values of the template variables: all of them and no others',
          },
          example: { code: '1234' },
        },
        sign_name: signName,
      },
    },
    templates: {
      actions: ['get_templates'],
      scope: 'sms:read',
      text: { zh: '模板列表', en: 'List templates' },
      parameters: {},
    },
    signatures: {
      actions: ['get_signatures'],
      scope: 'sms:read',
      text: { zh: '签名列表', en: 'List signatures' },
      parameters: {},
    },
    credits: {
      actions: ['get_credits', 'check_credits'],
      scope: 'sms:read',
      text: { zh: '查询额度', en: 'Get the credit balance' },
      parameters: {
        api_type: {
          type: 'string',
          required: false,
          enum: apiTypes,
          default: 'sms',
          text: { zh: '额度类型', en: 'Credit type' },
          example: 'sms',
        },
      },
    },
    logs: {
      actions: ['get_status', 'get_logs'],
      scope: 'sms:read',
      text: { zh: '查询发送记录', en: 'List send records' },
      parameters: {
        biz_id: {
          type: 'string',
          required: false,
          text: { zh: '发送流水号', en: 'ID of the message' },
          example: '100000000000000001',
        },
        phone_number: {
          type: 'string',
          required: false,
          pattern: phonePattern,
          text: { zh: '接收号码', en: 'Recipient' },
          example: '13800138000',
        },
        ...days,
        ...pageParameters,
      },
    },
    replies: {
      actions: ['get_replies'],
      scope: 'sms:read',
      text: { zh: '查询回复', en: 'List replies' },
      parameters: {
        phone_number: {
          type: 'string',
          required: false,
          pattern: phonePattern,
          text: { zh: '回复的号码', en: 'Number that replied' },
          example: '13800138000',
        },
        ...days,
        ...pageParameters,
      },
    },
    sendCode: {
      actions: ['send_code'],
      scope: 'sms:write',
      text: { zh: '发送验证码', en: 'Send a one-time code' },
      parameters: {
        phone_number: recipient,
        template_code: {
          ...templateCode,
          text: {
            zh: '模板编号；模板变量为 code，可另有 minutes',
            en: 'Template code; the variables of the template are code and optionally minutes',
          },
        },
        sign_name: signName,
        length: {
          type: 'integer',
          required: false,
          minimum: 4,
          maximum: 8,
          default: 6,
          text: { zh: '验证码位数', en: 'Number of digits' },
          example: 6,
        },
        ttl_s: {
          type: 'integer',
          required: false,
          minimum: 60,
          maximum: 1800,
          default: 300,
          text: { zh: '有效期（秒）', en: 'Validity in seconds' },
          example: 300,
        },
        purpose,
      },
    },
    checkCode: {
      actions: ['check_code'],
      scope: 'sms:write',
      text: { zh: '校验验证码', en: 'Check a one-time code' },
      parameters: {
        phone_number: recipient,
        code: {
          type: 'string',
          required: true,
          text: { zh: '用户输入的验证码', en: 'The code that the user entered' },
          example: '123456',
        },
        purpose,
      },
    },
    ...smsBatchOperations,
  },
} as const satisfies Endpoint
