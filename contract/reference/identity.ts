// The identity verification endpoint in the reference.
import { Type } from 'typebox'
import type { identity } from '../identity.ts'
import { type EndpointReference, object, oneOf, text } from '../reference.ts'
import { dayPattern } from '../time.ts'

const optionalString = (zh: string, en: string) => Type.Optional(Type.String(text(zh, en)))

export const identityResponse = object(
  {
    success: Type.Boolean(text('核验本身是否完成', 'Whether the verification was completed')),
    message: Type.String(
      text(
        '结果说明；上游失败以“上游核验失败：”开头',
        'Description of the result; starts with 上游核验失败： if the upstream failed',
      ),
    ),
    matched: Type.Boolean(text('姓名与身份证号是否一致', 'Whether name and number match')),
    extra: object(
      {
        sex: Type.Optional(oneOf(['男', '女'], '性别', 'Sex')),
        birthday: Type.Optional(Type.String({ pattern: dayPattern, ...text('出生日期', 'Date of birth') })),
        age: Type.Optional(Type.Integer({ minimum: 0, ...text('年龄', 'Age') })),
        address: optionalString('地址', 'Address'),
        nation: optionalString('民族', 'Ethnic group'),
        province: optionalString('省', 'Province'),
        city: optionalString('市', 'City'),
        district: optionalString('区县', 'District'),
      },
      '附加信息，仅一致时返回',
      'Additional data, only for a match',
    ),
  },
  '核验结果',
  'Result of the verification',
)

export const identityReference: EndpointReference<typeof identity> = {
  verify: {
    price: { name: 'identity', apiType: 'id_verification', per: { zh: '每次核验', en: 'each verification' } },
    notes: [
      {
        zh: '格式错误不扣费。一致与不一致均计费；查无记录、上游或网络失败时退回额度。四种结果均返回 HTTP 200。',
        en: 'Invalid input is free. A match and a mismatch are charged; the credit is refunded if there is no record or if the upstream or the network fails. All four results return HTTP 200.',
      },
      {
        zh: '姓名与身份证号仅在处理期间保存在内存中，记录与日志只保存脱敏后的内容。请使用 POST，避免它们出现在 URL 中。',
        en: 'Name and number are held in memory during the call only; records and logs contain masked values. Use POST to keep them out of URLs.',
      },
    ],
    response: identityResponse,
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
          zh: '姓名字符或长度有误，身份证号长度、校验位或出生日期有误',
          en: 'Invalid characters or length of the name; invalid length, check digit or birth date of the number',
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
        response: {
          success: true,
          message: '验证通过',
          matched: true,
          extra: { sex: '女', birthday: '1949-12-31', age: 76, province: '北京市' },
        },
        varies: ['extra.age'],
      },
      {
        title: { zh: '不一致（沙箱姓名）', en: 'Mismatch (sandbox name)' },
        sandbox: true,
        values: { name: '不匹配', idcard: '11010519491231002X' },
        status: 200,
        response: { success: true, message: '姓名与身份证号不一致', matched: false, extra: {} },
      },
      {
        title: { zh: '查无记录（沙箱姓名），退回额度', en: 'No record (sandbox name), credit refunded' },
        sandbox: true,
        values: { name: '无记录', idcard: '11010519491231002X' },
        status: 200,
        response: {
          success: false,
          message: '查无记录：核验源中没有该身份证号的信息，额度已退回',
          matched: false,
          extra: {},
        },
      },
      {
        title: {
          zh: '上游故障（沙箱姓名），退回额度',
          en: 'Upstream failure (sandbox name), credit refunded',
        },
        sandbox: true,
        values: { name: '上游故障', idcard: '11010519491231002X' },
        status: 200,
        response: {
          success: false,
          message: '上游核验失败：核验源暂时不可用，额度已退回',
          matched: false,
          extra: {},
        },
      },
      {
        title: { zh: '校验位错误，不扣费', en: 'Invalid check digit, not charged' },
        values: { name: '张三', idcard: '110105194912310021' },
        status: 400,
        response: { code: 1002, message: 'idcard 校验位错误' },
      },
      {
        title: { zh: '次数不足', en: 'Not enough credits' },
        values: { name: '张三', idcard: '11010519491231002X' },
        caller: 'without credits',
        status: 403,
        response: { code: 1004, message: '身份核验调用次数不足' },
      },
      {
        title: { zh: '缺少参数', en: 'Missing parameter' },
        values: { name: '张三' },
        status: 400,
        response: { code: 1001, message: 'idcard 缺失' },
      },
    ],
  },
}
