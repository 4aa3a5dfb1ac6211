// The SMS endpoint as the documents show it.
import { apiTypes } from '../credits.ts'
import { type EndpointReference, type ErrorCase, type Field, inEnvelope } from '../reference.ts'
import { phonePattern, templateStates } from '../sms-text.ts'
import type { sms } from '../sms.ts'

const moment: Pick<Field, 'type' | 'pattern'> = {
  type: 'string',
  pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
}
const bizId: Field = {
  type: 'string',
  pattern: '^\\d{18,20}$',
  text: { zh: '发送流水号', en: 'Send serial number' },
}
const recipient: Field = {
  type: 'string',
  pattern: phonePattern,
  text: { zh: '接收号码', en: 'Recipient' },
}

const missing: ErrorCase = {
  code: 1001,
  status: 400,
  when: { zh: '缺少必要参数，消息逐一指出', en: 'Required parameters are missing; all are named' },
}

export const smsReference: EndpointReference<typeof sms> = {
  send: {
    price: {
      name: 'sms_part',
      apiType: 'sms',
      per: { zh: '每条计费短信', en: 'a billed message' },
    },
    notes: [
      {
        zh: '计费内容是【签名】加填好变量的模板，最长 500 字符；不超过 70 字符计 1 条，超过则按 67 字符一条，向上取整。',
        en: 'What counts is 【signature】 plus the filled-in template, 500 characters at most: up to 70 are one message, longer ones are split at 67, rounded up.',
      },
      {
        zh: '网关明确拒绝时退回额度。结果不明时绝不重发，额度暂扣，最迟 15 分钟内判定。',
        en: 'A refusal by the gateway gives the credits back. An unclear end is never sent again: the credits are held until it is decided, 15 minutes at most.',
      },
    ],
    answer: inEnvelope({
      type: 'object',
      text: { zh: '结果', en: 'The result' },
      fields: {
        phone_number: recipient,
        biz_id: bizId,
        send_time: { ...moment, text: { zh: '发送时间（北京时间）', en: 'Sent at, Asia/Shanghai' } },
        remaining_credits: {
          type: 'integer',
          least: 0,
          text: { zh: '剩余短信额度', en: 'SMS credits left' },
        },
      },
    }),
    errors: [
      missing,
      {
        code: 1002,
        status: 400,
        when: {
          zh: '号码、签名有误，变量缺少或多余，内容超过 500 字符，或超出单号码发送上限',
          en: 'Wrong number or signature, variables missing or left over, more than 500 characters, or too many messages to one number',
        },
      },
      {
        code: 1004,
        status: 403,
        when: { zh: '额度不足，或账户已过期', en: 'Not enough credits, or the account has expired' },
      },
      { code: 1005, status: 502, when: { zh: '发送失败', en: 'Sending failed' } },
      { code: 1006, status: 403, when: { zh: '短信服务未开通', en: 'SMS service not enabled' } },
      {
        code: 1007,
        status: 404,
        when: { zh: '模板不存在或未通过审核', en: 'There is no such template, or it is not approved' },
      },
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
        answer: {
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
        title: { zh: '网关拒绝（沙箱号码）', en: 'Refused by the gateway (sandbox number)' },
        values: {
          phone_number: '19900000001',
          template_code: 'CODE_LOGIN',
          template_params: { code: '1234' },
        },
        status: 502,
        answer: { code: 1005, message: '短信发送失败：号码无效或无法接收短信' },
      },
      {
        title: { zh: '变量不全', en: 'A variable is missing' },
        values: { phone_number: '13800138000', template_code: 'CODE_LOGIN' },
        status: 400,
        answer: { code: 1002, message: 'template_params 缺少变量 code' },
      },
      {
        title: { zh: '模板不存在', en: 'No such template' },
        values: { phone_number: '13800138000', template_code: 'NO_SUCH', template_params: { code: '1234' } },
        status: 404,
        answer: { code: 1007, message: '短信模板不存在或未通过审核' },
      },
      {
        title: { zh: '额度不足', en: 'No credits left' },
        values: {
          phone_number: '13800138000',
          template_code: 'CODE_SHARED',
          template_params: { code: '1234' },
        },
        caller: 'without credits',
        status: 403,
        answer: { code: 1004, message: '调用次数不足' },
      },
      {
        title: { zh: '缺少参数', en: 'Parameters are missing' },
        values: { template_params: { code: '1234' } },
        status: 400,
        answer: { code: 1001, message: 'phone_number 缺失；template_code 缺失' },
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
        answer: { code: 1006, message: '短信服务未开通' },
      },
    ],
  },
  templates: {
    notes: [
      {
        zh: '列出本账户与平台共享的全部模板，包括审核中的；只有审核通过的可以发送。',
        en: 'Lists the templates of the account and the shared ones in every state; only approved ones can be sent.',
      },
    ],
    answer: inEnvelope({
      type: 'list',
      text: { zh: '模板', en: 'Templates' },
      items: {
        type: 'object',
        text: { zh: '模板', en: 'A template' },
        fields: {
          template_code: { type: 'string', text: { zh: '模板编号', en: 'Template identifier' } },
          template_name: { type: 'string', text: { zh: '模板名称', en: 'Name' } },
          template_content: {
            type: 'string',
            text: { zh: '内容，变量写作 ${name}', en: 'Text with variables written ${name}' },
          },
          status: {
            type: 'string',
            values: templateStates,
            text: { zh: '审核状态', en: 'Review: pending, approved, rejected' },
          },
        },
      },
    }),
    errors: [],
    examples: [
      {
        title: { zh: '模板列表', en: 'List' },
        values: {},
        status: 200,
        answer: {
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
  credits: {
    notes: [],
    answer: inEnvelope({
      type: 'object',
      text: { zh: '额度', en: 'The balance' },
      fields: {
        api_type: { type: 'string', values: apiTypes, text: { zh: '额度类型', en: 'Credit type' } },
        api_type_name: { type: 'string', text: { zh: '类型名称', en: 'Its name' } },
        total: { type: 'integer', least: 0, text: { zh: '总额度', en: 'Credits ever bought' } },
        used: { type: 'integer', least: 0, text: { zh: '已用', en: 'Used' } },
        remaining: { type: 'integer', least: 0, text: { zh: '剩余', en: 'Left' } },
        percentage_used: {
          type: 'number',
          least: 0,
          most: 100,
          text: { zh: '已用百分比，两位小数', en: 'Percentage used, two decimals' },
        },
      },
    }),
    errors: [{ code: 1002, status: 400, when: { zh: 'api_type 不存在', en: 'There is no such api_type' } }],
    examples: [
      {
        title: { zh: '查询短信额度', en: 'SMS credits' },
        values: {},
        status: 200,
        answer: {
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
        answer: { code: 1003, message: '认证失败，用户名或 API 密钥错误' },
      },
      {
        title: { zh: '类型不存在', en: 'No such type' },
        values: { api_type: 'fax' },
        status: 400,
        answer: { code: 1002, message: 'api_type 不存在' },
      },
    ],
  },
  logs: {
    notes: [
      {
        zh: 'biz_id、phone_number、start_date 至少给出一个。最新的在前，最多 20 条；日期按北京时间，含首尾两天。',
        en: 'At least one of biz_id, phone_number and start_date. Newest first, 20 at most; days are Asia/Shanghai, both included.',
      },
    ],
    answer: inEnvelope({
      type: 'list',
      most: 20,
      text: { zh: '发送记录', en: 'Send records' },
      items: {
        type: 'object',
        text: { zh: '一条记录', en: 'A record' },
        fields: {
          phone_number: recipient,
          template_code: { type: 'string', text: { zh: '模板编号', en: 'Template used' } },
          template_params: { type: 'map', text: { zh: '模板变量', en: 'Its variables' } },
          sign_name: { type: 'string', text: { zh: '签名', en: 'Signature used' } },
          biz_id: bizId,
          success: { type: 'boolean', text: { zh: '是否发送成功', en: 'Whether it was sent' } },
          created_at: { ...moment, text: { zh: '发送时间（北京时间）', en: 'Sent at, Asia/Shanghai' } },
          error_message: {
            type: 'string',
            text: { zh: '失败原因，成功时为空', en: 'What went wrong; empty on success' },
          },
        },
      },
    }),
    errors: [
      {
        code: 1001,
        status: 400,
        when: { zh: '三个条件都没有给出', en: 'None of the three is given' },
      },
      { code: 1002, status: 400, when: { zh: '号码或日期有误', en: 'Wrong number or date' } },
    ],
    examples: [
      {
        title: { zh: '按流水号查询', en: 'By serial number' },
        values: { biz_id: '100000000000000001' },
        status: 200,
        answer: {
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
            },
          ],
        },
        varies: ['data.0.created_at'],
      },
      {
        title: { zh: '没有给出条件', en: 'Nothing to look for' },
        values: {},
        status: 400,
        answer: { code: 1001, message: 'biz_id、phone_number、start_date 至少填写一个' },
      },
      {
        title: { zh: '日期有误', en: 'Wrong date' },
        values: { start_date: '2026-02-30' },
        status: 400,
        answer: { code: 1002, message: 'start_date 必须是 YYYY-MM-DD 格式的日期' },
      },
    ],
  },
}
