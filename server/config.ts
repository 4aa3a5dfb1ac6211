// Settings: every one is described here, read from the environment (and `.env`), and checked at start, all problems at once.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { prices as defaultPrices } from '../contract/credits.ts'
import { readAddress } from './domain-check/address.ts'
import { domainSettings } from './domain-check/settings.ts'
import { parseMarketShape } from './identity/gateways/market-shape.ts'
import {
  baseUrl,
  choice,
  daysOrForever,
  gatewayList,
  integer,
  numberLimits,
  optional,
  optionalText,
  optionalUrl,
  priceList,
  proxyList,
  rateLimit,
  type Setting,
  setting,
  text,
} from './setting-parsers.ts'

export const settings = {
  PORT: setting(integer(0, 65_535), 3000, { zh: '监听端口', en: 'Port to listen on' }),
  HOST: setting(text, '127.0.0.1', { zh: '监听地址', en: 'Address to listen on' }),
  PUBLIC_URL: setting(baseUrl, undefined, {
    zh: '对外地址，默认 http://HOST:PORT',
    en: 'The address people use; http://HOST:PORT when unset',
  }),
  WORKERS: setting(integer(1, 256), 1, {
    zh: '处理请求的进程数；同 npm start -- --workers N',
    en: 'Processes that serve requests; the same as npm start -- --workers N',
  }),
  DATA_DIR: setting(text, './data', {
    zh: 'SQLite 文件与首次启动生成的密钥所在目录',
    en: 'Folder of the SQLite file and the secrets made at first start',
  }),
  DATABASE_URL: setting(
    optionalUrl(['postgres:', 'postgresql:']),
    undefined,
    {
      zh: 'PostgreSQL 地址；不设则使用内嵌 SQLite',
      en: 'PostgreSQL to use instead of the embedded SQLite',
    },
    'secret',
  ),
  SECRET_KEY: setting(
    optional(32),
    undefined,
    {
      zh: '个人数据哈希与会话的密钥，至少 32 个字符；多台机器须相同',
      en: 'Keys the hashes of personal data and the sessions, 32 characters or more; the same on every machine',
    },
    'secret',
  ),
  OPERATION_LEASE_S: setting(integer(1, 3_600), 60, {
    zh: '上游调用最长未决时间（秒）',
    en: 'Seconds an upstream call may stay undecided',
  }),
  SWEEP_S: setting(integer(1, 3_600), 10, { zh: '清扫间隔（秒）', en: 'Seconds between sweeps' }),
  RATE_LIMIT: setting(
    rateLimit,
    { perSecond: 100, burst: 200 },
    {
      zh: '每账户每秒调用数与突发数，off 为不限',
      en: 'Calls a second and burst of an account; off for none',
    },
  ),
  REDIS_URL: setting(
    optionalUrl(['redis:', 'rediss:']),
    undefined,
    {
      zh: '多个进程共同计数频率限制所用的 Redis 或 Valkey；不设则用 PostgreSQL，SQLite 的多个进程由主进程计数',
      en: 'Redis or Valkey in which several processes count limits together; unset: PostgreSQL, or the first of several processes on SQLite',
    },
    'secret',
  ),
  ERROR_HTTP_STATUS: setting(choice('mapped', 'ok'), 'mapped', {
    zh: 'ok：信封与核验错误也返回 HTTP 200',
    en: 'ok: HTTP 200 for envelope and identity errors too',
  }),
  SAMPLE_ACCOUNT: setting(choice('on', 'off'), 'on', {
    zh: '首次启动是否创建示例账户',
    en: 'Whether the first start makes a sample account',
  }),
  PRICES: setting(priceList(defaultPrices), defaultPrices, {
    zh: '每项操作消耗的额度，例如 generate=1,sms_part=1',
    en: 'Credits each operation takes, e.g. generate=1,sms_part=1',
  }),
  SMS_NUMBER_LIMITS: setting(numberLimits, [], {
    zh: '单号码发送上限，例如 1/m,5/h,10/d',
    en: 'Messages to one number, e.g. 1/m,5/h,10/d',
  }),
  LINK_REFRESH_GRACE_HOURS: setting(integer(0, 8_760), 0, {
    zh: '刷新后旧地址继续可用的小时数',
    en: 'Hours that refreshed addresses live on',
  }),
  TRUSTED_PROXIES: setting(proxyList, [], {
    zh: '可信代理的地址或 CIDR，逗号分隔',
    en: 'Addresses and CIDR ranges of proxies whose X-Forwarded-For counts',
  }),
  SIGN_UP: setting(choice('off', 'on'), 'off', {
    zh: '是否开放注册账户',
    en: 'Whether anybody may make an account in the console',
  }),
  REQUEST_LOG_DAYS: setting(integer(0, 3_650), 30, {
    zh: '请求记录保留的天数；0 表示不记录',
    en: 'Days that calls are kept for the inspector; 0: none are',
  }),
  LEDGER_KEEP_DAYS: setting(daysOrForever(400), 0, {
    zh: '流水逐笔保留的天数，更早的按账户与类型结转；至少 400，0 为永久',
    en: 'Days that the ledger keeps single entries, older ones are carried over; 400 or more, 0: for ever',
  }),
  SMS_RECORD_DAYS: setting(daysOrForever(150), 0, {
    zh: '短信发送记录保留的天数；至少 150，0 为永久',
    en: 'Days that records of messages are kept; 150 or more, 0: for ever',
  }),
  AUDIT_KEEP_DAYS: setting(daysOrForever(180), 0, {
    zh: '操作日志保留的天数；至少 180，0 为永久',
    en: 'Days that the audit log is kept; 180 or more, 0: for ever',
  }),
  LOG_LEVEL: setting(choice('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'info', {
    zh: '日志级别',
    en: 'Log level',
  }),
  METRICS_PORT: setting(integer(0, 65_535), 0, {
    zh: '指标单独监听的端口；0 表示随主端口，仅本机可读',
    en: 'A port of its own for /metrics; 0: the main port, loopback only',
  }),
  SMS_GATEWAYS: setting(gatewayList('sandbox', 'aliyun', 'tencent', 'http'), ['sandbox'], {
    zh: '短信网关，按优先顺序',
    en: 'SMS gateways in order of preference',
  }),
  IDENTITY_GATEWAYS: setting(gatewayList('sandbox', 'aliyun', 'tencent', 'market'), ['sandbox'], {
    zh: '身份核验网关，按优先顺序',
    en: 'Identity gateways in order of preference',
  }),
  DOMAIN_GATEWAYS: setting(gatewayList('sandbox', 'jump', 'http'), ['sandbox'], {
    zh: '域名检测网关，按优先顺序',
    en: 'Domain check gateways in order of preference',
  }),
  GATEWAY_TIMEOUT_MS: setting(integer(100, 60_000), 5_000, {
    zh: '单次网关调用的超时（毫秒）',
    en: 'Milliseconds for one call to one gateway',
  }),
  ALIYUN_ACCESS_KEY_ID: setting(optionalText, undefined, {
    zh: '阿里云 AccessKey ID',
    en: 'Aliyun access key id',
  }),
  ALIYUN_ACCESS_KEY_SECRET: setting(
    optionalText,
    undefined,
    {
      zh: '阿里云 AccessKey Secret',
      en: 'Aliyun access key secret',
    },
    'secret',
  ),
  ALIYUN_SMS_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://dysmsapi.aliyuncs.com/', {
    zh: '阿里云短信地址',
    en: 'Address of Aliyun SMS',
  }),
  ALIYUN_IDENTITY_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://cloudauth.aliyuncs.com/', {
    zh: '阿里云实人认证地址',
    en: 'Address of Aliyun identity verification',
  }),
  TENCENT_SECRET_ID: setting(optionalText, undefined, {
    zh: '腾讯云 SecretId',
    en: 'Tencent Cloud secret id',
  }),
  TENCENT_SECRET_KEY: setting(
    optionalText,
    undefined,
    {
      zh: '腾讯云 SecretKey',
      en: 'Tencent Cloud secret key',
    },
    'secret',
  ),
  TENCENT_REGION: setting(text, 'ap-guangzhou', { zh: '腾讯云地域', en: 'Tencent Cloud region' }),
  TENCENT_SMS_APP_ID: setting(optionalText, undefined, {
    zh: '腾讯云短信应用 ID',
    en: 'Tencent SmsSdkAppId',
  }),
  TENCENT_SMS_ENDPOINT: setting(optionalUrl(['http:', 'https:']), 'https://sms.tencentcloudapi.com/', {
    zh: '腾讯云短信地址',
    en: 'Address of Tencent SMS',
  }),
  TENCENT_IDENTITY_ENDPOINT: setting(
    optionalUrl(['http:', 'https:']),
    'https://faceid.tencentcloudapi.com/',
    {
      zh: '腾讯云人脸核身地址',
      en: 'Address of Tencent FaceID',
    },
  ),
  SMS_HTTP_URL: setting(optionalUrl(['http:', 'https:']), undefined, {
    zh: '通用 HTTP 短信网关地址',
    en: 'Address of the generic HTTP SMS gateway',
  }),
  SMS_HTTP_SECRET: setting(
    optionalText,
    undefined,
    {
      zh: '通用 HTTP 短信网关签名密钥',
      en: 'Signing secret of the generic HTTP SMS gateway',
    },
    'secret',
  ),
  SMS_RECEIPT_SECRET: setting(
    optional(16),
    undefined,
    {
      zh: '回执地址中的密钥部分，默认首次启动生成',
      en: 'The secret part of the receipt addresses; made at first start',
    },
    'secret',
  ),
  SMS_SIGN_NAME: setting(text, 'Tollgate', { zh: '平台短信签名', en: "The platform's SMS signature" }),
  IDENTITY_RECORD_DAYS: setting(integer(1, 3_650), 180, {
    zh: '核验记录（脱敏）保留天数',
    en: 'Days that the (masked) records of verifications are kept',
  }),
  IDENTITY_REPEAT_S: setting(integer(0, 2_592_000), 0, {
    zh: '同一账户重复核验同一人时，多少秒内直接用上次结论；0 为关闭',
    en: 'Seconds in which an account that asks for the same person again gets the last verdict; 0: never',
  }),
  IDENTITY_MARKET_PRESET: setting(
    choice('', 'idcert', 'idenauthen', 'sxidcheck', 'kzidcardv1', 'custom'),
    '',
    {
      zh: '云市场接口预设；custom 用 IDENTITY_MARKET_SHAPE',
      en: 'Preset of the marketplace API; custom: IDENTITY_MARKET_SHAPE',
    },
  ),
  IDENTITY_MARKET_SHAPE: setting(parseMarketShape, undefined, {
    zh: '自定义云市场接口的请求与判定表（JSON）',
    en: 'Request and verdict table of a marketplace API without a preset (JSON)',
  }),
  IDENTITY_MARKET_URL: setting(optionalUrl(['http:', 'https:']), undefined, {
    zh: '云市场接口完整地址',
    en: 'Whole address of the marketplace API',
  }),
  IDENTITY_MARKET_APPCODE: setting(
    optionalText,
    undefined,
    {
      zh: '云市场 AppCode',
      en: 'AppCode of the marketplace API',
    },
    'secret',
  ),
  ...domainSettings,
} as const

type SettingName = keyof typeof settings

export type Config = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

/** What each gateway cannot run without. */
const needs: Readonly<Record<string, readonly SettingName[]>> = {
  'SMS_GATEWAYS aliyun': ['ALIYUN_ACCESS_KEY_ID', 'ALIYUN_ACCESS_KEY_SECRET'],
  'SMS_GATEWAYS tencent': ['TENCENT_SECRET_ID', 'TENCENT_SECRET_KEY', 'TENCENT_SMS_APP_ID'],
  'SMS_GATEWAYS http': ['SMS_HTTP_URL', 'SMS_HTTP_SECRET'],
  'IDENTITY_GATEWAYS aliyun': ['ALIYUN_ACCESS_KEY_ID', 'ALIYUN_ACCESS_KEY_SECRET'],
  'IDENTITY_GATEWAYS tencent': ['TENCENT_SECRET_ID', 'TENCENT_SECRET_KEY'],
  'IDENTITY_GATEWAYS market': ['IDENTITY_MARKET_PRESET', 'IDENTITY_MARKET_URL', 'IDENTITY_MARKET_APPCODE'],
  'DOMAIN_GATEWAYS http': ['DOMAIN_HTTP_PRESET', 'DOMAIN_HTTP_URL'],
}

export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`设置有误 / wrong settings: ${problems.join('; ')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, { parse, fallback }] of Object.entries<Setting<unknown>>(settings)) {
    const given = environment[name]?.trim()
    // An empty variable is the usual way to leave a setting out in compose files.
    if (given === undefined || given === '') {
      values[name] = fallback
      continue
    }
    const parsed = parse(given)
    if ('problem' in parsed) problems.push(`${name} ${parsed.problem}`)
    else values[name] = parsed.value
  }
  const config = values as Config
  for (const [gateway, names] of Object.entries(needs)) {
    const [listName, gatewayName] = gateway.split(' ') as [SettingName, string]
    const chosen = config[listName]
    if (!Array.isArray(chosen) || !chosen.includes(gatewayName)) continue
    for (const name of names) {
      if (!config[name])
        problems.push(`${name} 缺失，${listName}=${gatewayName} 需要它 / is needed by ${gatewayName}`)
    }
  }
  if (config.IDENTITY_MARKET_PRESET === 'custom' && !config.IDENTITY_MARKET_SHAPE) {
    problems.push('IDENTITY_MARKET_SHAPE 缺失，预设 custom 需要它 / is needed by the preset custom')
  }
  if (Boolean(config.DOMAIN_CANARY_GOOD) !== Boolean(config.DOMAIN_CANARY_BAD)) {
    problems.push('DOMAIN_CANARY_GOOD 与 DOMAIN_CANARY_BAD 须同时设置 / must be set together')
  }
  for (const name of ['DOMAIN_CANARY_GOOD', 'DOMAIN_CANARY_BAD'] as const) {
    if (config[name] && !readAddress(config[name]))
      problems.push(`${name} 不是有效网址 / is no valid address`)
  }
  if (!isUrlTemplate(config.DOMAIN_JUMP_URL)) {
    problems.push('DOMAIN_JUMP_URL 须为含 {url} 的完整地址 / must be a whole URL with {url} in it')
  }
  if (config.DOMAIN_HTTP_PRESET === 'custom') {
    for (const name of ['DOMAIN_HTTP_VERDICT', 'DOMAIN_HTTP_OK', 'DOMAIN_HTTP_BLOCKED'] as const) {
      if (!config[name]?.length) problems.push(`${name} 缺失，custom 需要它 / is needed by custom`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function isUrlTemplate(template: string | undefined): boolean {
  return (
    template === undefined ||
    (template.includes('{url}') && /^https?:$/.test(URL.parse(template)?.protocol ?? ''))
  )
}

/** Where people reach the service, without a slash at the end. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  return (PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`).replace(/\/+$/, '')
}

/** The environment with `.env` of the working directory beneath it: what is set outside wins. */
export function readEnvironment(directory: string = process.cwd()): Environment {
  const file = resolve(directory, '.env')
  if (!existsSync(file)) return process.env
  return { ...parseEnv(readFileSync(file, 'utf8')), ...process.env }
}
