// The sections of the reference that concern all endpoints.
import { errorCodes, errorExplanations, statusOfCode } from '../../contract/codes.ts'
import { apiTypeNames } from '../../contract/credits.ts'
import { idempotencyKeySchema } from '../../contract/idempotency.ts'
import {
  documentedEndpoints,
  interfaceChanges,
  sandboxInputs,
  sharedErrors,
} from '../../contract/reference/interface.ts'
import { sample } from '../../contract/samples.ts'
import { scopeNames, scopes } from '../../contract/scopes.ts'
import { identity } from '../../contract/identity.ts'
import { defaultPageSize } from '../../contract/paging.ts'
import { shortlink } from '../../contract/shortlink.ts'
import { maxSmsLength } from '../../contract/sms-text.ts'
import { sms } from '../../contract/sms.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Config } from '../config.ts'
import { maxGbkKib } from '../http/body.ts'
import { maxDepth, maxFields } from '../http/form.ts'
import { maxNames, maxShapes, maxValues } from '../http/json.ts'
import { failuresPerMinute } from '../limits/token-bucket.ts'
import { codeBlock } from './highlight.ts'
import { type Html, html, rootOf, sentence, table } from './html.ts'
import type { DocsContext } from './operations.ts'

export interface Section {
  readonly id: string
  readonly title: Text
  readonly body: (context: DocsContext, language: Language) => Html
}

const paragraphs = (texts: readonly Text[], language: Language) =>
  html`${texts.map((text) => html`<p>${sentence(text[language])}</p>`)}`

export const openingSections: readonly Section[] = [
  { id: 'start', title: { zh: '快速开始', en: 'Quick start' }, body: startBody },
  {
    id: 'authentication',
    title: { zh: '认证与参数', en: 'Authentication and parameters' },
    body: authenticationBody,
  },
  { id: 'key-limits', title: { zh: '密钥限制', en: 'Key limits' }, body: keyLimitsBody },
]

export const closingSections: readonly Section[] = [
  { id: 'limits', title: { zh: '限额与价格', en: 'Limits and prices' }, body: limitsBody },
  { id: 'sandbox', title: { zh: '沙箱', en: 'Sandbox' }, body: sandboxBody },
  { id: 'errors', title: { zh: '错误码', en: 'Error codes' }, body: errorsBody },
  { id: 'idempotency', title: { zh: '幂等与重试', en: 'Idempotency and retries' }, body: idempotencyBody },
  { id: 'rate-limits', title: { zh: '频率限制', en: 'Rate limits' }, body: rateBody },
  { id: 'changelog', title: { zh: '接口变更', en: 'Changelog' }, body: changesBody },
]

function keyLimitsBody(_context: DocsContext, language: Language): Html {
  const intro: readonly Text[] = [
    {
      zh: '密钥默认拥有全部权限，可以在控制台限制。超出权限的操作返回 HTTP 403（短信、域名检测和身份核验的 code 为 1004），message 为“无权执行此操作”。',
      en: 'A key has all scopes unless they are limited in the console. An operation outside its scopes returns HTTP 403 (with code 1004 for SMS, domain check and identity verification) and the message “无权执行此操作”.',
    },
  ]
  const rest: readonly Text[] = [
    {
      zh: '设置来源地址（IPv4、IPv6 或 CIDR）后，来自其他地址的调用同样返回 403，message 为“来源地址不在允许范围”。',
      en: 'With a list of allowed addresses (IPv4, IPv6 or CIDR), a call from any other address also returns 403, with the message “来源地址不在允许范围”.',
    },
    {
      zh: '设置每日或每月用量上限后，超出的调用按额度不足处理，message 为“超过每日用量上限”或“超过每月用量上限”。退回的额度不计入用量。',
      en: 'With a daily or monthly cap, a call that would exceed it fails as if there were not enough credits, with the message “超过每日用量上限” or “超过每月用量上限”. Refunded credits do not count.',
    },
  ]
  const heading = language === 'zh' ? ['权限', '允许的操作'] : ['Scope', 'Allows']
  const rows = scopes.map((scope) => [html`<code>${scope}</code>`, html`${scopeNames[scope][language]}`])
  return html`${paragraphs(intro, language)}${table(heading, rows)}${paragraphs(rest, language)}`
}

function startBody({ publicUrl }: DocsContext, language: Language): Html {
  const steps: readonly Text[] = [
    {
      zh: '在控制台生成 API 密钥。完整密钥仅显示一次，请立即保存。',
      en: 'Create an API key in the console. The complete key is shown only once: save it immediately.',
    },
    {
      zh: '将下面的 `<API_KEY>` 替换为您的密钥，`demo` 替换为您的用户名，然后运行：',
      en: 'Replace `<API_KEY>` with your key and `demo` with your user name, then run:',
    },
  ]
  const values = { username: 'demo', api_key: '<API_KEY>', action: 'get_credits' }
  const code = sample('curl', { baseUrl: publicUrl, endpoint: sms, values })
  const data = { total: 1000, used: 0, remaining: 1000, percentage_used: 0 }
  const answer = {
    code: 0,
    message: 'success',
    data: { api_type: 'sms', api_type_name: apiTypeNames.sms.zh, ...data },
  }
  const root = rootOf(language)
  const definitions: Text = {
    zh: '接口定义文件：',
    en: 'Machine-readable definitions: ',
  }
  return html`<ol>
      ${steps.map((step) => html`<li>${sentence(step[language])}</li>`)}
    </ol>
    ${codeBlock(code, 'sh')} ${codeBlock(JSON.stringify(answer, null, 2), 'json')}
    <p>
      ${definitions[language]}<a href="${root}/openapi.json?lang=${language}">OpenAPI 3.1</a> ·
      <a href="${root}/docs/postman.json">Postman</a>
    </p>`
}

function authenticationBody(_context: DocsContext, language: Language): Html {
  return paragraphs(
    [
      {
        zh: '短链接、短信和域名检测需要 `username` 与 `api_key`，身份核验只需要 `api_key`。',
        en: 'Short links, SMS and the domain check require `username` and `api_key`; identity verification requires `api_key` only.',
      },
      {
        zh: '每个参数（包括凭据）按以下顺序分别查找：请求头、JSON 请求体、表单请求体、查询字符串；空值视为未传。短链接接口仅支持以 POST 提交 JSON，其余接口支持 GET、表单和 JSON。',
        en: 'Each parameter, including credentials, is looked up separately in this order: header, JSON body, form body, query string; an empty value counts as not given. The short link endpoint accepts only POST with JSON, the others accept GET, forms and JSON.',
      },
      {
        zh: '请求头与参数同名，例如 `api_key`；部分代理会丢弃带下划线的请求头，因此也支持 `api-key`。请求头的值使用 UTF-8 编码。',
        en: 'Headers have the names of the parameters, for example `api_key`; some proxies drop headers with underscores, so `api-key` is accepted as well. Header values are UTF-8.',
      },
      {
        zh: '密钥也可以放在 `Authorization: Bearer <API_KEY>` 中，优先级最低：以上任一位置有 `api_key` 时以其为准。`username` 照常传递。',
        en: 'The key may also be sent as `Authorization: Bearer <API_KEY>`. It has the lowest priority: an `api_key` in any of the sources above takes precedence. `username` is sent as usual.',
      },
      {
        zh: '表单和查询字符串支持 PHP 风格：`urls[]=a&urls[]=b`、`template_params[code]=1234`；数组和对象也可以传 JSON 文本。字符串按原样处理，`012345` 的前导零会保留。',
        en: 'Forms and queries may use PHP brackets: `urls[]=a&urls[]=b`, `template_params[code]=1234`; arrays and objects may also be JSON text. Strings are not converted: `012345` keeps its leading zero.',
      },
      {
        zh: '重置密钥后旧密钥立即失效。请勿将密钥写入网页、小程序等客户端代码，也尽量不要放在 URL 中。',
        en: 'A reset invalidates the old key immediately. Keep the key out of client-side code and, if possible, out of URLs.',
      },
      {
        zh: '消息默认为中文；`Accept-Language` 以 `en` 开头时为英文。所有日期均为北京时间。每个响应都带有 `X-Request-Id`，反馈问题时请附上。',
        en: 'Messages are in Chinese, or in English if `Accept-Language` starts with `en`. All dates are in Asia/Shanghai. Every response has an `X-Request-Id`: include it when you report a problem.',
      },
    ],
    language,
  )
}

function limitsBody({ config }: DocsContext, language: Language): Html {
  const prices = documentedEndpoints.flatMap(({ endpoint, reference }) =>
    Object.entries(endpoint.operations).map(([name, operation]) => {
      const price = reference[name]?.price
      return [
        operation.text[language],
        price ? `${config.PRICES[price.name]} × ${apiTypeNames[price.apiType][language]}` : '0',
        price ? price.per[language] : '',
      ]
    }),
  )
  const zh = language === 'zh'
  const { target_url: target, title } = shortlink.operations.generate.parameters
  const { name } = identity.operations.verify.parameters
  const limits: (readonly [string, string])[] = [
    [zh ? '请求体' : 'Body', zh ? `1 MiB；GBK 编码 ${maxGbkKib} KiB` : `1 MiB; in GBK ${maxGbkKib} KiB`],
    [zh ? '表单字段' : 'Form fields', zh ? `${maxFields} 个` : String(maxFields)],
    [
      zh ? 'JSON 中的参数名' : 'Names in JSON',
      zh ? `${maxNames} 个，其中不同的 ${maxShapes} 个` : `${maxNames}, ${maxShapes} different ones`,
    ],
    [zh ? 'JSON 中的值' : 'Values in JSON', zh ? `${maxValues} 个` : String(maxValues)],
    [zh ? '嵌套层数' : 'Levels of nesting', String(maxDepth)],
    [
      zh ? '目标地址' : 'Target URL',
      zh ? `最多 ${target.maxLength} 个字符，http 或 https` : `${target.maxLength} characters, http or https`,
    ],
    [zh ? '标题' : 'Title', lengthRange(title, language)],
    [
      zh ? '刷新后的旧地址' : 'Previous addresses after a refresh',
      config.LINK_REFRESH_GRACE_HOURS === 0
        ? zh
          ? '立即失效'
          : 'stop working immediately'
        : zh
          ? `继续有效 ${config.LINK_REFRESH_GRACE_HOURS} 小时`
          : `keep working for ${config.LINK_REFRESH_GRACE_HOURS} hours`,
    ],
    [
      zh ? '短信内容' : 'SMS text',
      zh
        ? `最多 ${maxSmsLength} 个字符（含签名与括号）`
        : `${maxSmsLength} characters, including signature and brackets`,
    ],
    [zh ? '单号码发送' : 'Messages to one number', numberLimits(config, language)],
    [
      zh ? '发送记录查询' : 'Send records',
      zh ? `最新 ${defaultPageSize} 条` : `the latest ${defaultPageSize}`,
    ],
    [zh ? '姓名' : 'Name', lengthRange(name, language)],
    [zh ? '单次检测的网址数' : 'URLs per check', String(config.DOMAIN_MAX_URLS)],
  ]
  return html`${table(zh ? ['操作', '额度', '计费单位'] : ['Operation', 'Credits', 'Per'], prices)}
  ${table(zh ? ['项目', '上限'] : ['Item', 'Limit'], limits)}`
}

function lengthRange(
  { minLength, maxLength }: { minLength: number; maxLength: number },
  language: Language,
): string {
  return language === 'zh' ? `${minLength} 至 ${maxLength} 个字符` : `${minLength}–${maxLength} characters`
}

function numberLimits(config: Config, language: Language): string {
  if (config.SMS_NUMBER_LIMITS.length === 0) return language === 'zh' ? '不限' : 'no limit'
  const windows = {
    m: { zh: '分钟', en: 'minute' },
    h: { zh: '小时', en: 'hour' },
    d: { zh: '天', en: 'day' },
  }
  const limits = config.SMS_NUMBER_LIMITS.map(({ count, window }) =>
    language === 'zh' ? `每${windows[window].zh} ${count} 条` : `${count} per ${windows[window].en}`,
  )
  return language === 'zh'
    ? `${limits.join('，')}（全平台各账户合计）`
    : `${limits.join(', ')}, from all accounts together`
}

function sandboxBody({ config }: DocsContext, language: Language): Html {
  const gateways: Readonly<Record<string, readonly string[]>> = {
    sms: config.SMS_GATEWAYS,
    identity: config.IDENTITY_GATEWAYS,
    'domain-check': config.DOMAIN_GATEWAYS,
  }
  const titles = new Map(documentedEndpoints.map(({ endpoint, title }) => [endpoint.name, title[language]]))
  const onSandbox = Object.keys(gateways).filter((name) => gateways[name]?.includes('sandbox'))
  if (onSandbox.length === 0) {
    return html`<p>
      ${language === 'zh' ? '本服务已全部接入真实网关，未启用沙箱。' : 'All products of this service use real gateways; there is no sandbox.'}
    </p>`
  }
  const names = onSandbox.map((name) => titles.get(name)).join(language === 'zh' ? '、' : ', ')
  const rows = sandboxInputs
    .filter(({ product }) => onSandbox.includes(product))
    .map(({ product, input, outcome }) => [
      titles.get(product),
      html`<code>${input}</code>`,
      outcome[language],
    ])
  const intro =
    language === 'zh'
      ? `目前使用沙箱的产品：${names}。沙箱不发送短信，不请求任何上游，额度照常扣减。以下输入返回指定的结果，其余输入一律返回成功、一致、未拦截：`
      : `These products use the sandbox: ${names}. Nothing is sent and no upstream is called; credits are charged as usual. The following inputs produce the outcome shown; all others succeed, match, or are not blocked:`
  return html`<p>${intro}</p>
    ${table(language === 'zh' ? ['产品', '输入', '结果'] : ['Product', 'Input', 'Outcome'], rows)}`
}

function errorsBody({ config }: DocsContext, language: Language): Html {
  const zh = language === 'zh'
  const shapes: readonly Text[] = [
    {
      zh: '短信、域名检测和身份核验的错误格式为 `{"code": 非零, "message": "…"}`，不含 `data`。短链接的错误为 HTTP 状态码加 `{"success": false, "message": "…"}`。同一步校验发现的全部问题在同一条消息中返回。',
      en: 'Errors of SMS, domain check and identity verification have the form `{"code": non-zero, "message": "…"}` without `data`. Short link errors consist of the HTTP status and `{"success": false, "message": "…"}`. One message names all problems found in the same step of the checks.',
    },
    config.ERROR_HTTP_STATUS === 'ok'
      ? {
          zh: '本服务对短信、域名检测和身份核验的错误一律返回 HTTP 200（429 除外），请根据 `code` 判断。',
          en: 'This service returns errors of SMS, domain check and identity verification with HTTP 200 (except 429): check `code`.',
        }
      : { zh: '错误码与 HTTP 状态码的对应关系：', en: 'Error codes and their HTTP status:' },
  ]
  return html`${paragraphs(shapes, language)}
    ${table(
      ['code', 'HTTP', zh ? '含义' : 'Meaning'],
      [
        [0, statusOfCode[0], zh ? '成功' : 'Success'],
        ...errorCodes.map((code) => [
          html`<a href="errors/${code}">${code}</a>`,
          statusOfCode[code],
          errorExplanations[code].meaning[language],
        ]),
      ],
    )}
    <h3>${zh ? '各接口共有的错误' : 'Errors of all endpoints'}</h3>
    ${table(
      ['code', 'HTTP', zh ? '原因' : 'Reason'],
      sharedErrors.map(({ code, status, when }) => [code, status, when[language]]),
    )}`
}

function idempotencyBody({ publicUrl }: DocsContext, language: Language): Html {
  const texts: readonly Text[] = [
    {
      zh: `消耗额度的操作支持请求头 \`Idempotency-Key\`（最多 ${idempotencyKeySchema.maxLength} 个可见 ASCII 字符，例如订单号）。24 小时内相同的键与参数只执行一次：重复请求返回首次的响应和 \`Idempotent-Replayed: true\`，不会重复扣费或发送。`,
      en: `Operations that cost credits support the header \`Idempotency-Key\` (at most ${idempotencyKeySchema.maxLength} visible ASCII characters, for example an order number). Within 24 hours, the same key with the same parameters is executed once: repeated requests return the first response with \`Idempotent-Replayed: true\`; nothing is charged or sent twice.`,
    },
    {
      zh: '同一键的参数不同时返回 422；首次请求仍在处理时返回 409 并带 `Retry-After`。扣费前被拒绝的请求不会保存，修正后可用同一个键重试；1005 会保存。键按账户区分，请勿包含姓名、身份证号等个人信息。',
      en: 'The same key with other parameters returns 422; while the first call is in progress, 409 with `Retry-After`. A request that was rejected before the charge is not stored: correct it and use the same key. A 1005 is stored. Keys are scoped to the account; do not put names or ID numbers into them.',
    },
    {
      zh: '连接中断或超时后，使用同一个键重试即可，不会重复扣费。',
      en: 'After a lost connection or a timeout, retry with the same key: nothing is charged twice.',
    },
  ]
  const code = `curl -s ${publicUrl}${sms.path} \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-1001' \\
  -d '{"username":"demo","api_key":"<API_KEY>","action":"send_sms","phone_number":"13800138000","template_code":"CODE_LOGIN","template_params":{"code":"1234"}}'`
  return html`${paragraphs(texts, language)} ${codeBlock(code, 'sh')}`
}

function rateBody({ config: { RATE_LIMIT: limit } }: DocsContext, language: Language): Html {
  const texts: Text[] = [
    limit
      ? {
          zh: `每个账户每秒 ${limit.perSecond} 次，突发 ${limit.burst} 次（平台管理员可为单个账户单独设置）。响应头 \`RateLimit\` 返回剩余次数。`,
          en: `${limit.perSecond} calls per second and account, bursts of ${limit.burst} (the operator may set another limit for an account). The response header \`RateLimit\` contains the remaining calls.`,
        }
      : { zh: '不限制调用频率。', en: 'There is no rate limit.' },
    {
      zh: `超出时返回 HTTP 429，\`Retry-After\` 为等待秒数。凭据错误的请求按来源地址限制，每分钟最多 ${failuresPerMinute} 次；使用正确密钥的调用不受影响。`,
      en: `Beyond the limit, the response is HTTP 429 and \`Retry-After\` contains the seconds to wait. Wrong credentials are limited to ${failuresPerMinute} per minute and address; calls with a valid key are not affected.`,
    },
  ]
  return paragraphs(texts, language)
}

function changesBody(_context: DocsContext, language: Language): Html {
  return html`${interfaceChanges.map(
    ({ version, date, changes }) =>
      html`<h3>${version}${date === undefined ? '' : html` <small>${date}</small>`}</h3>
        <ul>
          ${changes.map((change) => html`<li>${change[language]}</li>`)}
        </ul>`,
  )}`
}
