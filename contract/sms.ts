// The SMS endpoint.
import { apiTypes } from './credits.ts'
import { credentialParameters, type Endpoint } from './endpoint.ts'
import { phonePattern } from './sms-text.ts'

const day = { type: 'string', required: false, pattern: '^\\d{4}-\\d{2}-\\d{2}$' } as const

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
        phone_number: {
          type: 'string',
          required: true,
          pattern: phonePattern,
          text: { zh: '11 位中国内地手机号', en: 'Mobile number of mainland China, 11 digits' },
          example: '13800138000',
        },
        template_code: {
          type: 'string',
          required: true,
          text: { zh: '模板编号', en: 'Template code' },
          example: 'CODE_LOGIN',
        },
        template_params: {
          type: 'map',
          required: false,
          text: {
            zh: '模板变量，与模板内容一一对应',
            en: 'Values of the template variables: all of them and no others',
          },
          example: { code: '1234' },
        },
        sign_name: {
          type: 'string',
          required: false,
          minLength: 2,
          maxLength: 20,
          text: {
            zh: '签名，不传则使用账户签名或平台签名',
            en: 'Signature; defaults to the signature of the account or of the platform',
          },
          example: 'Tollgate',
        },
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
          text: { zh: '发送流水号', en: 'ID of the send' },
          example: '100000000000000001',
        },
        phone_number: {
          type: 'string',
          required: false,
          pattern: phonePattern,
          text: { zh: '接收号码', en: 'Recipient' },
          example: '13800138000',
        },
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
      },
    },
  },
} as const satisfies Endpoint
