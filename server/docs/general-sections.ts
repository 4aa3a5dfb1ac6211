// What holds for all endpoints: first call, credentials, limits and prices, sandbox, codes, repeats, changes.
import { apiTypeNames } from '../../contract/credits.ts'
import {
  codeMeanings,
  documentedEndpoints,
  interfaceChanges,
  sandboxInputs,
  sharedErrors,
} from '../../contract/reference/interface.ts'
import { sample } from '../../contract/samples.ts'
import { sms } from '../../contract/sms.ts'
import type { Language, Text } from '../../contract/text.ts'
import type { Config } from '../config.ts'
import { type Html, html, rootOf, sentence, table } from './html.ts'
import type { Facts } from './openapi.ts'

export interface Section {
  readonly id: string
  readonly title: Text
  readonly body: (facts: Facts, language: Language) => Html
}

const paragraphs = (texts: readonly Text[], language: Language) =>
  html`${texts.map((text) => html`<p>${sentence(text[language])}</p>`)}`

export const openingSections: readonly Section[] = [
  { id: 'start', title: { zh: '一分钟上手', en: 'First call in a minute' }, body: startBody },
  {
    id: 'authentication',
    title: { zh: '认证与参数', en: 'Credentials and parameters' },
    body: authenticationBody,
  },
]

export const closingSections: readonly Section[] = [
  { id: 'limits', title: { zh: '限额与价格', en: 'Limits and prices' }, body: limitsBody },
  { id: 'sandbox', title: { zh: '沙箱', en: 'Sandbox' }, body: sandboxBody },
  { id: 'errors', title: { zh: '错误码', en: 'Error codes' }, body: errorsBody },
  { id: 'idempotency', title: { zh: '安全重试', en: 'Safe repeats' }, body: idempotencyBody },
  { id: 'rate-limits', title: { zh: '频率限制', en: 'Rate limits' }, body: rateBody },
  { id: 'changelog', title: { zh: '接口变更', en: 'Changes' }, body: changesBody },
]

function startBody({ publicUrl }: Facts, language: Language): Html {
  const steps: readonly Text[] = [
    {
      zh: '在控制台生成 API 密钥。完整密钥只显示一次，请立即保存。',
      en: 'Generate the API key in the console. It is shown whole only once: keep it.',
    },
    {
      zh: '把下面的 `<API_KEY>` 换成密钥，`demo` 换成用户名，粘贴运行：',
      en: 'Put your key in place of `<API_KEY>` and your user name in place of `demo`, and paste this:',
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
  const then: Text = {
    zh: '机器可读的描述：',
    en: 'For machines: ',
  }
  return html`<ol>
      ${steps.map((step) => html`<li>${sentence(step[language])}</li>`)}
    </ol>
    <pre tabindex="0"><code>${code}</code></pre>
    <pre tabindex="0"><code>${JSON.stringify(answer, null, 2)}</code></pre>
    <p>
      ${then[language]}<a href="${root}/openapi.json">OpenAPI 3.1</a> ·
      <a href="${root}/docs/postman.json">Postman</a>
    </p>`
}

function authenticationBody(_facts: Facts, language: Language): Html {
  return paragraphs(
    [
      {
        zh: '短链接、短信和域名检测需要 `username` 与 `api_key`，身份核验只需要 `api_key`。',
        en: 'Short links, SMS and the domain check need `username` and `api_key`; identity verification needs `api_key` alone.',
      },
      {
        zh: '每个参数（包括凭据）各自按这个顺序查找：请求头、JSON 请求体、表单请求体、查询串；空值视为没有给出。短链接接口只接受 JSON 的 POST，其余接口接受 GET、表单和 JSON。',
        en: 'Each parameter, credentials included, is looked up on its own: header, JSON body, form body, query string, in this order; an empty value counts as not given. The short link endpoint takes POST with JSON only, the others take GET, forms and JSON.',
      },
      {
        zh: '请求头与参数同名，例如 `api_key`；有的代理会丢弃带下划线的请求头，因此 `api-key` 也认。请求头的值是 UTF-8。',
        en: 'Headers are named like the parameters, `api_key` for instance; some proxies drop headers with an underscore, so `api-key` is read too. Header values are UTF-8.',
      },
      {
        zh: '表单和查询串支持 PHP 风格：`urls[]=a&urls[]=b`、`template_params[code]=1234`；列表和对象也可以是 JSON 文本。文本保持原样，`012345` 的零不会丢。',
        en: 'Forms and queries may use PHP brackets: `urls[]=a&urls[]=b`, `template_params[code]=1234`; lists and objects may be JSON text too. Text stays text: `012345` keeps its zero.',
      },
      {
        zh: '重置密钥后旧密钥立即失效。密钥不要写进网页、小程序等客户端代码，也尽量不要放在网址里。',
        en: 'After a reset the old key is refused at once. Keep the key out of client-side code, and rather out of addresses too.',
      },
      {
        zh: '消息默认为中文；`Accept-Language` 以 `en` 开头时为英文。所有日期都是北京时间。每个应答带 `X-Request-Id`，反馈问题时请附上。',
        en: 'Messages are Chinese; with an `Accept-Language` that begins with `en` they are English. All dates are Asia/Shanghai. Every answer has an `X-Request-Id`: name it when you report a problem.',
      },
    ],
    language,
  )
}

function limitsBody({ config }: Facts, language: Language): Html {
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
  const limits: (readonly [string, string])[] = [
    [zh ? '请求体' : 'Body', '1 MiB'],
    [
      zh ? '目标地址' : 'Destination URL',
      zh ? '最长 2048 字符，http 或 https' : '2048 characters, http or https',
    ],
    [zh ? '标题' : 'Title', zh ? '1–200 字符' : '1–200 characters'],
    [
      zh ? '刷新后的旧地址' : 'Old addresses after a refresh',
      config.LINK_REFRESH_GRACE_HOURS === 0
        ? zh
          ? '立即失效'
          : 'end at once'
        : zh
          ? `再可用 ${config.LINK_REFRESH_GRACE_HOURS} 小时`
          : `live on for ${config.LINK_REFRESH_GRACE_HOURS} h`,
    ],
    [
      zh ? '短信内容' : 'SMS text',
      zh ? '最长 500 字符（含签名与括号）' : '500 characters, signature and brackets included',
    ],
    [zh ? '单号码发送' : 'Messages to one number', numberLimits(config, language)],
    [zh ? '发送记录查询' : 'Send records', zh ? '最新 20 条' : 'the newest 20'],
    [zh ? '姓名' : 'Name', zh ? '2–50 字符' : '2–50 characters'],
    [zh ? '一次检测的网址' : 'Addresses in one check', String(config.DOMAIN_MAX_URLS)],
  ]
  return html`${table(zh ? ['操作', '额度', '计费单位'] : ['Operation', 'Credits', 'For'], prices)}
  ${table(zh ? ['项目', '上限'] : ['What', 'Limit'], limits)}`
}

function numberLimits(config: Config, language: Language): string {
  if (config.SMS_NUMBER_LIMITS.length === 0) return language === 'zh' ? '不限' : 'no limit'
  const windows = {
    m: { zh: '分钟', en: 'minute' },
    h: { zh: '小时', en: 'hour' },
    d: { zh: '天', en: 'day' },
  }
  return config.SMS_NUMBER_LIMITS.map(({ count, window }) =>
    language === 'zh' ? `每${windows[window].zh} ${count} 条` : `${count} a ${windows[window].en}`,
  ).join(language === 'zh' ? '，' : ', ')
}

function sandboxBody({ config }: Facts, language: Language): Html {
  const gateways: Readonly<Record<string, readonly string[]>> = {
    sms: config.SMS_GATEWAYS,
    identity: config.IDENTITY_GATEWAYS,
    'domain-check': config.DOMAIN_GATEWAYS,
  }
  const titles = new Map(documentedEndpoints.map(({ endpoint, title }) => [endpoint.name, title[language]]))
  const onSandbox = Object.keys(gateways).filter((name) => gateways[name]?.includes('sandbox'))
  if (onSandbox.length === 0) {
    return html`<p>
      ${language === 'zh' ? '本服务已全部接入真实网关，没有沙箱。' : 'Every product here runs on real gateways; there is no sandbox.'}
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
      ? `目前运行在沙箱上的产品：${names}。不发送短信，不访问任何上游，额度照常扣减。以下输入给出指定的结果，其余一律成功、一致、未拦截：`
      : `On the sandbox at the moment: ${names}. Nothing is sent and nobody is asked; credits are taken as usual. These inputs force an outcome, all others succeed, match, or are not blocked:`
  return html`<p>${intro}</p>
    ${table(language === 'zh' ? ['产品', '输入', '结果'] : ['Product', 'Input', 'Outcome'], rows)}`
}

function errorsBody({ config }: Facts, language: Language): Html {
  const zh = language === 'zh'
  const shapes: readonly Text[] = [
    {
      zh: '短信、域名检测和身份核验的错误是 `{"code": 非零, "message": "…"}`，没有 `data`。短链接的错误是 HTTP 状态加 `{"success": false, "message": "…"}`。同一步检查发现的全部问题写在同一条消息里。',
      en: 'Errors of SMS, domain check and identity verification are `{"code": not zero, "message": "…"}` without `data`. Short link errors are the HTTP status with `{"success": false, "message": "…"}`. All problems found at one step of the checks are named in one message.',
    },
    config.ERROR_HTTP_STATUS === 'ok'
      ? {
          zh: '本服务对短信、域名检测和身份核验的错误一律返回 HTTP 200（429 除外），请看 `code`。',
          en: 'This service answers errors of SMS, domain check and identity verification with HTTP 200 (but for 429): look at `code`.',
        }
      : { zh: '错误码与 HTTP 状态的对应：', en: 'Codes and the HTTP status they travel with:' },
  ]
  return html`${paragraphs(shapes, language)}
    ${table(
      ['code', 'HTTP', zh ? '含义' : 'Meaning'],
      codeMeanings.map(({ code, status, text }) => [code, status, text[language]]),
    )}
    <h3>${zh ? '各接口共有的错误' : 'Errors that all endpoints share'}</h3>
    ${table(
      ['code', 'HTTP', zh ? '何时' : 'When'],
      sharedErrors.map(({ code, status, when }) => [code, status, when[language]]),
    )}`
}

function idempotencyBody({ publicUrl }: Facts, language: Language): Html {
  const texts: readonly Text[] = [
    {
      zh: '消耗额度的操作可带请求头 `Idempotency-Key`（不超过 255 个可见 ASCII 字符，例如订单号）。24 小时内同键同参数只执行一次：之后得到首次的应答和 `Idempotent-Replayed: true`，不再扣费，也不再发送。',
      en: 'Operations that take credits understand the header `Idempotency-Key` (255 visible ASCII characters at most, an order number for instance). Within 24 hours the same key with the same parameters is carried out once: afterwards the first answer comes again with `Idempotent-Replayed: true`, nothing is charged or sent twice.',
    },
    {
      zh: '同键不同参数是 422；首次请求还在处理时是 409 并带 `Retry-After`。扣费前就被拒绝的请求不会被记住，改正后可用同一个键重试；1005 会被记住。键属于账户，请勿放入姓名、证号等个人信息。',
      en: 'The same key with other parameters is 422; while the first call is running it is 409 with `Retry-After`. What was refused before the charge is not remembered: correct it and use the same key. A 1005 is remembered. Keys belong to the account; put no names or ID numbers into them.',
    },
    {
      zh: '连接中断或超时后，用同一个键重试即可，不会多扣。',
      en: 'After a cut connection or a timeout, repeat with the same key: nothing is paid twice.',
    },
  ]
  const code = `curl -s ${publicUrl}${sms.path} \\
  -H 'Content-Type: application/json' -H 'Idempotency-Key: order-1001' \\
  -d '{"username":"demo","api_key":"<API_KEY>","action":"send_sms","phone_number":"13800138000","template_code":"CODE_LOGIN","template_params":{"code":"1234"}}'`
  return html`${paragraphs(texts, language)}
    <pre tabindex="0"><code>${code}</code></pre>`
}

function rateBody({ config: { RATE_LIMIT: limit } }: Facts, language: Language): Html {
  const texts: Text[] = [
    limit
      ? {
          zh: `每个账户每秒 ${limit.perSecond} 次，突发 ${limit.burst} 次（运营方可为单个账户另设）。应答头 \`RateLimit\` 给出剩余次数。`,
          en: `${limit.perSecond} calls a second for an account, bursts of ${limit.burst} (the operator may set another limit for an account). The header \`RateLimit\` tells how many are left.`,
        }
      : { zh: '调用频率不限。', en: 'Calls are not limited.' },
    {
      zh: '超出时为 HTTP 429，`Retry-After` 给出等待秒数。凭据错误按来源地址计数，每分钟 60 次；正确的密钥不受他人影响。',
      en: 'Beyond that the answer is HTTP 429 and `Retry-After` says how many seconds to wait. Wrong credentials count against the address, 60 a minute; a right key is never slowed by others.',
    },
  ]
  return paragraphs(texts, language)
}

function changesBody(_facts: Facts, language: Language): Html {
  return html`${interfaceChanges.map(
    ({ version, changes }) =>
      html`<h3>${version}</h3>
        <ul>
          ${changes.map((change) => html`<li>${change[language]}</li>`)}
        </ul>`,
  )}`
}
