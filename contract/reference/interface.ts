// The whole public interface: each endpoint with its reference, and what all endpoints share.
import { domainCheck } from '../domain-check.ts'
import type { Endpoint } from '../endpoint.ts'
import { identity } from '../identity.ts'
import type { ErrorCase, OperationReference } from '../reference.ts'
import { shortlink } from '../shortlink.ts'
import { sms } from '../sms.ts'
import type { Text } from '../text.ts'
import { domainCheckReference } from './domain-check.ts'
import { identityReference } from './identity.ts'
import { shortlinkReference } from './shortlink.ts'
import { smsReference } from './sms.ts'

export interface DocumentedEndpoint {
  readonly endpoint: Endpoint
  readonly title: Text
  readonly reference: Readonly<Record<string, OperationReference>>
}

export const documentedEndpoints: readonly DocumentedEndpoint[] = [
  { endpoint: shortlink, title: { zh: '短链接', en: 'Short links' }, reference: shortlinkReference },
  { endpoint: sms, title: { zh: '短信', en: 'SMS' }, reference: smsReference },
  {
    endpoint: identity,
    title: { zh: '身份核验', en: 'Identity verification' },
    reference: identityReference,
  },
  {
    endpoint: domainCheck,
    title: { zh: '域名拦截检测', en: 'Domain block check' },
    reference: domainCheckReference,
  },
]

/** Errors of every operation, in the order of the checks. Short links have the HTTP status and no code. */
export const sharedErrors: readonly ErrorCase[] = [
  {
    code: 1002,
    status: 405,
    when: { zh: '请求方法不支持，见 Allow', en: 'The method is not supported, see Allow' },
  },
  {
    code: 1002,
    status: 413,
    when: {
      zh: '请求体超过 1 MiB，或 GBK 编码的请求体超过 256 KiB',
      en: 'The body is larger than 1 MiB, or a body in GBK than 256 KiB',
    },
  },
  {
    code: 1002,
    status: 400,
    when: {
      zh: '请求体无法解析，或 action 未知',
      en: 'The body cannot be read, or the action is unknown',
    },
  },
  {
    code: 1001,
    status: 401,
    when: {
      zh: '缺少 api_key（短链接接口为 400）；缺少其他公共参数为 400',
      en: 'api_key is missing (400 for short links); 400 if another common parameter is missing',
    },
  },
  {
    code: 1003,
    status: 401,
    when: {
      zh: '用户名或密钥错误，或密钥已重置、清除',
      en: 'Wrong user name or key, or the key was reset or cleared',
    },
  },
  {
    code: 1004,
    status: 403,
    when: {
      zh: '密钥没有此操作的权限，或来源地址不在允许范围',
      en: 'The key lacks the scope of this operation, or the address of the caller is not allowed',
    },
  },
  {
    code: 429,
    status: 429,
    when: { zh: '请求过于频繁，见 Retry-After', en: 'Too many requests, see Retry-After' },
  },
  { code: 1004, status: 403, when: { zh: '账户已停用', en: 'The account is suspended' } },
  {
    code: 1005,
    status: 409,
    when: {
      zh: '同一 Idempotency-Key 的请求仍在处理，见 Retry-After',
      en: 'A call with this Idempotency-Key is still in progress, see Retry-After',
    },
  },
  {
    code: 1002,
    status: 422,
    when: {
      zh: '同一 Idempotency-Key 的参数不同',
      en: 'This Idempotency-Key was used with other parameters',
    },
  },
  { code: 5000, status: 500, when: { zh: '系统内部错误', en: 'Internal error' } },
  {
    code: 5000,
    status: 503,
    when: { zh: '服务正在重启，见 Retry-After', en: 'The service is restarting, see Retry-After' },
  },
]

/** Inputs that select an outcome while a product runs on the built-in sandbox. */
export const sandboxInputs: readonly {
  readonly product: string
  readonly input: string
  readonly outcome: Text
}[] = [
  {
    product: 'sms',
    input: '19900000001',
    outcome: { zh: '网关拒绝：1005，退回额度', en: 'rejected by the gateway: 1005, credits refunded' },
  },
  {
    product: 'sms',
    input: '19900000002',
    outcome: { zh: '无响应：1005，额度暂扣，稍后确认', en: 'no response: 1005, credits held until decided' },
  },
  {
    product: 'sms',
    input: '19900000003',
    outcome: {
      zh: '该号码发送过于频繁：1005，退回额度',
      en: 'too many messages to this number: 1005, credits refunded',
    },
  },
  { product: 'identity', input: '不匹配', outcome: { zh: '不一致', en: 'mismatch' } },
  {
    product: 'identity',
    input: '无记录',
    outcome: { zh: '查无记录，退回额度', en: 'no record, credit refunded' },
  },
  {
    product: 'identity',
    input: '上游故障',
    outcome: { zh: '上游核验失败，退回额度', en: 'upstream failure, credit refunded' },
  },
  {
    product: 'domain-check',
    input: 'blocked.test',
    outcome: { zh: '已拦截（含子域名）', en: '已拦截 blocked, including subdomains' },
  },
  {
    product: 'domain-check',
    input: 'down.test',
    outcome: {
      zh: '请求失败（含子域名），退回额度',
      en: '请求失败 check failed, including subdomains; credit refunded',
    },
  },
]

/** Changes of the public interface, newest first. */
export const interfaceChanges: readonly {
  readonly version: string
  /** None while it is being developed. */
  readonly date?: string
  readonly changes: readonly Text[]
}[] = [
  {
    version: '1.1.0',
    changes: [
      {
        zh: 'generate_batch 在同一条错误中同时指出参数问题与已被占用的短码、外部编号。规则的国家与省份代码必须存在，一个条件最多 250 个值。',
        en: 'generate_batch names wrong values and taken codes or external IDs in one error. The country and province codes of rules must exist; a condition has up to 250 values.',
      },
      {
        zh: '请求体的上限：表单 1,200 个字段，GBK 编码 256 KiB（超过返回 413）；JSON 最多 16,000 个值、12,000 个参数名，其中不同的 1,000 个。',
        en: 'Limits of bodies: forms 1,200 fields, GBK 256 KiB (413 above); JSON 16,000 values and 12,000 names, 1,000 different ones.',
      },
    ],
  },
  {
    version: '1.0.0',
    date: '2026-11-16',
    changes: [
      {
        zh: '首个发布的版本。接口在同一主版本内保持兼容：只增加可选参数、操作与响应字段。',
        en: 'First release. The API stays compatible within a major version: only optional parameters, operations and response fields are added.',
      },
      {
        zh: '事件 order.paid 的 paid_at 为 ISO 8601，如 2026-01-02T03:04:05+08:00，与其他事件一致。',
        en: 'paid_at of the event order.paid is ISO 8601, such as 2026-01-02T03:04:05+08:00, as in other events.',
      },
      {
        zh: 'stats 按标签汇总最多 50,000 个链接，更多时返回 400。',
        en: 'stats of a tag covers at most 50,000 links; more return 400.',
      },
      {
        zh: '免费的修改（update、pause、resume、delete、cancel_batch、check_code）在生效时再次检查账户状态与密钥。',
        en: 'Free changes (update, pause, resume, delete, cancel_batch, check_code) check the account and the key again when they take effect.',
      },
      {
        zh: '同一账户的批量调用轮流执行；同一地址同时发送的大请求体（64 KB 以上）过多时返回 429，见 Retry-After。',
        en: 'Batches of one account take turns; too many large bodies (over 64 KB) from one address at a time return 429, see Retry-After.',
      },
    ],
  },
  {
    version: '0.2.0',
    date: '2026-11-15',
    changes: [
      {
        zh: '短链接：新增操作 generate_batch、list、stats、pause、resume、delete；generate 与 update 新增自选短码、有效期、次数上限、密码、标签、外部编号、自有域名、跳转规则与 clear；记录新增状态等字段。',
        en: 'Short links: new operations generate_batch, list, stats, pause, resume and delete; generate and update take a chosen code, expiry, limit of visits, password, tags, external ID, own domain, redirect rules and clear; records have a state and further fields.',
      },
      {
        zh: '短信：新增操作 send_batch、get_batch、cancel_batch、send_code、check_code、get_replies、get_signatures；get_status 新增 cursor 与 limit，记录新增 state、receipt_time、receipt_code、batch_id；未通过审核的 sign_name 返回 1002。',
        en: 'SMS: new operations send_batch, get_batch, cancel_batch, send_code, check_code, get_replies and get_signatures; get_status takes cursor and limit, records have state, receipt_time, receipt_code and batch_id; a sign_name that is not approved returns 1002.',
      },
      {
        zh: '密钥：可放在 Authorization: Bearer 中；可限制权限、来源地址与用量，超出的调用会被拒绝。新增 Webhook 事件，以及供 AI 助手使用的 /mcp。',
        en: 'API keys can be sent as Authorization: Bearer and limited to scopes, addresses and caps; calls beyond them are rejected. Webhook events, and /mcp for AI assistants.',
      },
    ],
  },
  {
    version: '0.1.0',
    date: '2026-11-15',
    changes: [
      {
        zh: '首个版本：短链接、短信、身份核验、域名拦截检测。',
        en: 'First version: short links, SMS, identity verification, domain block check.',
      },
    ],
  },
]
