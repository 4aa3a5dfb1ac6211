// The identity verification endpoint as the documents show it.
import type { identity } from '../identity.ts'
import type { EndpointReference, Field } from '../reference.ts'

const part = (zh: string, en: string): Field => ({ type: 'string', optional: true, text: { zh, en } })

export const identityReference: EndpointReference<typeof identity> = {
  verify: {
    price: { name: 'identity', apiType: 'id_verification', per: { zh: '每次核验', en: 'a verification' } },
    notes: [
      {
        zh: '格式不对不扣费。一致与不一致都计费；查无记录、上游或网络失败退回额度。四种结果都是 HTTP 200。',
        en: 'A wrong format costs nothing. A match and a mismatch are paid for; no record, and failures of the upstream or the network, give the credit back. All four are HTTP 200.',
      },
      {
        zh: '姓名与证号只在处理期间存在于内存，记录与日志中只有打码后的形式。请用 POST，以免它们出现在地址里。',
        en: 'Name and number live in memory for the length of the call; records and logs hold masked forms only. Use POST, which keeps them out of addresses.',
      },
    ],
    answer: {
      type: 'object',
      text: { zh: '核验结果', en: 'The outcome' },
      fields: {
        success: {
          type: 'boolean',
          text: { zh: '核验本身是否完成', en: 'Whether the verification itself was done' },
        },
        message: {
          type: 'string',
          text: {
            zh: '结果说明；上游失败以“上游核验失败：”开头',
            en: 'The outcome in words; a failure of the upstream begins with 上游核验失败：',
          },
        },
        matched: { type: 'boolean', text: { zh: '姓名与证号是否一致', en: 'Whether they belong together' } },
        extra: {
          type: 'object',
          text: { zh: '附加信息，仅一致时有', en: 'Further facts, only of a match' },
          fields: {
            sex: { ...part('性别', 'Sex'), values: ['男', '女'] },
            birthday: { ...part('出生日期', 'Date of birth'), pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
            age: { type: 'integer', least: 0, optional: true, text: { zh: '年龄', en: 'Age' } },
            address: part('地址', 'Address'),
            nation: part('民族', 'Nation'),
            province: part('省', 'Province'),
            city: part('市', 'City'),
            district: part('区县', 'District'),
          },
        },
      },
    },
    errors: [
      {
        code: 1001,
        status: 400,
        when: { zh: '缺少 name 或 idcard', en: 'name or idcard is missing' },
      },
      {
        code: 1002,
        status: 400,
        when: {
          zh: '姓名字符或长度有误，证号长度、校验位或出生日期有误',
          en: 'Wrong characters or length of the name; wrong length, check digit or birth date of the number',
        },
      },
      {
        code: 1004,
        status: 403,
        when: { zh: '核验次数不足，或账户已过期', en: 'Not enough credits, or the account has expired' },
      },
    ],
    examples: [
      {
        title: { zh: '一致', en: 'Match' },
        values: { name: '张三', idcard: '11010519491231002X' },
        status: 200,
        answer: {
          success: true,
          message: '验证通过',
          matched: true,
          extra: { sex: '女', birthday: '1949-12-31', age: 76, province: '北京市' },
        },
        varies: ['extra.age'],
      },
      {
        title: { zh: '不一致（沙箱姓名）', en: 'Mismatch (sandbox name)' },
        values: { name: '不匹配', idcard: '11010519491231002X' },
        status: 200,
        answer: { success: true, message: '姓名与身份证号不一致', matched: false, extra: {} },
      },
      {
        title: { zh: '查无记录（沙箱姓名），退回额度', en: 'No record (sandbox name), credit back' },
        values: { name: '无记录', idcard: '11010519491231002X' },
        status: 200,
        answer: {
          success: false,
          message: '查无记录：核验源中没有该身份证号的信息，额度已退还',
          matched: false,
          extra: {},
        },
      },
      {
        title: { zh: '上游故障（沙箱姓名），退回额度', en: 'Upstream failure (sandbox name), credit back' },
        values: { name: '上游故障', idcard: '11010519491231002X' },
        status: 200,
        answer: {
          success: false,
          message: '上游核验失败：核验源暂时不可用，额度已退还',
          matched: false,
          extra: {},
        },
      },
      {
        title: { zh: '校验位错误，不扣费', en: 'Wrong check digit, free' },
        values: { name: '张三', idcard: '110105194912310021' },
        status: 400,
        answer: { code: 1002, message: 'idcard 校验位错误' },
      },
      {
        title: { zh: '次数不足', en: 'No credits left' },
        values: { name: '张三', idcard: '11010519491231002X' },
        caller: 'without credits',
        status: 403,
        answer: { code: 1004, message: '身份核验调用次数不足' },
      },
      {
        title: { zh: '缺少参数', en: 'A parameter is missing' },
        values: { name: '张三' },
        status: 400,
        answer: { code: 1001, message: 'idcard 缺失' },
      },
    ],
  },
}
