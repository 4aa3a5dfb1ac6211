// The SMS endpoint.
import { credentialParameters, type Endpoint } from './endpoint.ts'

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
      text: { zh: '操作类型', en: 'Which operation' },
      example: 'send_sms',
    },
  },
  operations: {
    send: {
      actions: ['send_sms', 'send'],
      text: { zh: '发送短信', en: 'Send an SMS' },
      parameters: {
        phone_number: {
          type: 'string',
          required: true,
          text: { zh: '11 位大陆手机号', en: 'Mainland mobile number, 11 digits' },
          example: '13800138000',
        },
        template_code: {
          type: 'string',
          required: true,
          text: { zh: '模板编号', en: 'Template identifier' },
          example: 'CODE_LOGIN',
        },
        template_params: {
          type: 'map',
          required: false,
          text: {
            zh: '模板变量，与模板内容一一对应',
            en: 'Template variables, one to one with the template',
          },
          example: { code: '1234' },
        },
        sign_name: {
          type: 'string',
          required: false,
          text: {
            zh: '签名，缺省用账户或平台签名',
            en: "Signature; the account's or the platform's when omitted",
          },
          example: 'Tollgate',
        },
      },
    },
    templates: {
      actions: ['get_templates'],
      text: { zh: '模板列表', en: 'List templates' },
      parameters: {},
    },
    credits: {
      actions: ['get_credits', 'check_credits'],
      text: { zh: '查询额度', en: 'Show credits' },
      parameters: {
        api_type: {
          type: 'string',
          required: false,
          text: {
            zh: '额度类型：sms（默认）、short_link、id_verification、domain_check',
            en: 'Credit type: sms (default), short_link, id_verification, domain_check',
          },
          example: 'sms',
        },
      },
    },
    logs: {
      actions: ['get_status', 'get_logs'],
      text: { zh: '查询发送记录', en: 'Look up send records' },
      parameters: {
        biz_id: {
          type: 'string',
          required: false,
          text: { zh: '发送流水号', en: 'Send serial number' },
          example: '100000000000000001',
        },
        phone_number: {
          type: 'string',
          required: false,
          text: { zh: '接收号码', en: 'Recipient' },
          example: '13800138000',
        },
        start_date: {
          type: 'string',
          required: false,
          text: { zh: '开始日期 YYYY-MM-DD', en: 'First day, YYYY-MM-DD' },
          example: '2026-11-01',
        },
        end_date: {
          type: 'string',
          required: false,
          text: { zh: '结束日期 YYYY-MM-DD（含当天）', en: 'Last day, YYYY-MM-DD, inclusive' },
          example: '2026-11-15',
        },
      },
    },
  },
} as const satisfies Endpoint
