// Every setting: merged from the settings.ts of each folder, read from the environment (and `.env`) and checked at start.
import { closeSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { auditSettings } from './audit/settings.ts'
import { consoleProblems, consoleSettings } from './console/settings.ts'
import { creditSettings } from './credits/settings.ts'
import { docsSettings } from './docs/settings.ts'
import { domainCheckProblems, domainCheckRequirements, domainCheckSettings } from './domain-check/settings.ts'
import { eventProblems, eventSettings } from './events/settings.ts'
import { httpSettings } from './http/settings.ts'
import { identityProblems, identityRequirements, identitySettings } from './identity/settings.ts'
import { limitSettings } from './limits/settings.ts'
import { mcpSettings } from './mcp/settings.ts'
import { operationSettings } from './operations/settings.ts'
import { paymentProblems, paymentRequirements, paymentSettings } from './payments/settings.ts'
import { requestLogSettings } from './request-log/settings.ts'
import { runtimeSettings } from './runtime/settings.ts'
import { shortlinkSettings } from './shortlink/settings.ts'
import { smsRequirements, smsSettings } from './sms/settings.ts'
import { longestGatewayCallMs, upstreamSettings } from './upstream/settings.ts'
import type { Text } from '../contract/text.ts'
import { maxSettingLength, type Parsed, type Setting, type SettingValues } from './setting-parsers.ts'

export const settings = {
  ...runtimeSettings,
  ...httpSettings,
  ...limitSettings,
  ...creditSettings,
  ...shortlinkSettings,
  ...smsSettings,
  ...identitySettings,
  ...domainCheckSettings,
  ...upstreamSettings,
  ...eventSettings,
  ...paymentSettings,
  ...requestLogSettings,
  ...auditSettings,
  ...consoleSettings,
  ...docsSettings,
  ...mcpSettings,
  ...operationSettings,
} as const

type SettingName = keyof typeof settings

/** How the console groups them. */
export const settingGroups: readonly { readonly text: Text; readonly settings: object }[] = [
  { text: { zh: '运行', en: 'Runtime' }, settings: { ...runtimeSettings, ...operationSettings } },
  { text: { zh: 'HTTP 与限流', en: 'HTTP and limits' }, settings: { ...httpSettings, ...limitSettings } },
  { text: { zh: '额度', en: 'Credits' }, settings: creditSettings },
  { text: { zh: '短链接', en: 'Short links' }, settings: shortlinkSettings },
  { text: { zh: '短信', en: 'SMS' }, settings: smsSettings },
  { text: { zh: '身份核验', en: 'Identity verification' }, settings: identitySettings },
  { text: { zh: '域名检测', en: 'Domain check' }, settings: domainCheckSettings },
  { text: { zh: '上游服务商', en: 'Providers' }, settings: upstreamSettings },
  { text: { zh: '事件与邮件', en: 'Events and mail' }, settings: eventSettings },
  { text: { zh: '支付', en: 'Payments' }, settings: paymentSettings },
  { text: { zh: '记录', en: 'Logs' }, settings: { ...requestLogSettings, ...auditSettings } },
  { text: { zh: '控制台与登录', en: 'Console and sign-in' }, settings: consoleSettings },
  { text: { zh: '文档与 MCP', en: 'Documents and MCP' }, settings: { ...docsSettings, ...mcpSettings } },
]

export type Config = SettingValues<typeof settings>

/** Settings that an entry of a list requires: a gateway or a payment provider. */
const requiredSettings = {
  SMS_GATEWAYS: smsRequirements,
  IDENTITY_GATEWAYS: identityRequirements,
  DOMAIN_GATEWAYS: domainCheckRequirements,
  PAYMENTS: paymentRequirements,
} as const satisfies { readonly [K in SettingName]?: Readonly<Record<string, readonly SettingName[]>> }

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
  for (const [name, setting] of Object.entries<Setting<unknown>>(settings)) {
    const parsed = readSetting(name, setting, environment)
    if ('value' in parsed) values[name] = parsed.value
    else problems.push(parsed.problem)
  }

  const config = values as Config
  problems.push(...missingSettings(config))
  problems.push(
    ...identityProblems(config),
    ...eventProblems(config),
    ...consoleProblems(config),
    ...domainCheckProblems(config),
    ...paymentProblems(config),
  )
  // What concerns settings of several folders.
  if (config.METRICS_PORT !== 0 && config.METRICS_PORT === config.PORT) {
    problems.push('METRICS_PORT 不能与 PORT 相同 / must differ from PORT')
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

function missingSettings(config: Config): string[] {
  const problems: string[] = []
  for (const [list, entries] of Object.entries(requiredSettings)) {
    const chosen: readonly string[] = config[list as keyof typeof requiredSettings] ?? []
    for (const [entry, names] of Object.entries<readonly SettingName[]>(entries)) {
      if (!chosen.includes(entry)) continue
      for (const name of names) {
        if (!config[name]) problems.push(`${name} 缺失，${list}=${entry} 需要它 / is required by ${entry}`)
      }
    }
  }
  return problems
}

function readSetting(
  name: string,
  { parse, fallback, secret }: Setting<unknown>,
  environment: Environment,
): Parsed<unknown> {
  let given = environment[name]?.trim() ?? ''
  const file = secret ? (environment[`${name}_FILE`]?.trim() ?? '') : ''
  if (file !== '') {
    if (given !== '')
      return { problem: `${name} 与 ${name}_FILE 只能设置一个 / is set together with ${name}_FILE` }
    const content = readSecretFile(file)
    if ('problem' in content) return { problem: `${name}_FILE ${content.problem}` }
    given = content.value
  }
  if (given === '') {
    // Compose files leave out an optional setting with an empty variable. With a default it is probably a mistake.
    if (environment[name] === undefined || !hasDefault(fallback)) return { value: fallback }
    return { problem: `${name} 为空，请删除或填写 / is empty: remove it or set a value` }
  }
  if (given.length > maxSettingLength) return { problem: `${name} 过长 / is too long` }
  const parsed = parse(given)
  return 'problem' in parsed ? { problem: `${name} ${parsed.problem}` } : parsed
}

function hasDefault(fallback: unknown): boolean {
  return fallback !== undefined && fallback !== '' && !(Array.isArray(fallback) && fallback.length === 0)
}

/** Reads at most as many bytes as a setting may have: the path may name any file, even an endless one. */
function readSecretFile(file: string): Parsed<string> {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(maxSettingLength + 1)
      let length = 0
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = readSync(descriptor, buffer, length, buffer.length - length, null)
      }
      if (length > maxSettingLength) return { problem: '文件过长 / the file is too long' }
      const value = buffer.toString('utf8', 0, length).trim()
      return value === '' ? { problem: '文件为空 / the file is empty' } : { value }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { problem: `文件无法读取 / the file cannot be read (${code})` }
  }
}

/** Names that the environment and `.env` may contain. */
export function isSettingName(name: string): boolean {
  const known: Readonly<Record<string, Setting<unknown>>> = settings
  if (Object.hasOwn(known, name)) return true
  const secretName = name.replace(/_FILE$/, '')
  return secretName !== name && Object.hasOwn(known, secretName) && known[secretName]!.secret
}

/** Settings that are allowed but probably not meant; logged at start and reported by `doctor`. */
export function listConfigWarnings(config: Config): Text[] {
  const warnings: Text[] = []
  if (config.DOMAIN_GATEWAYS.includes('jump') && !config.DOMAIN_CANARY_GOOD) {
    warnings.push({
      zh: 'DOMAIN_GATEWAYS 含 jump，但未设置 DOMAIN_CANARY_GOOD 与 DOMAIN_CANARY_BAD：跳转页变化时无法发现错误的检测结果',
      en: 'the gateway jump has no DOMAIN_CANARY_GOOD and DOMAIN_CANARY_BAD: wrong verdicts after a change of the jump page are not detected',
    })
  }
  if (config.OIDC_ISSUER && !config.PUBLIC_URL) {
    warnings.push({
      zh: '设置了 OIDC_ISSUER，但未设置 PUBLIC_URL：统一登录的回调地址随监听地址变化',
      en: 'OIDC_ISSUER is set without PUBLIC_URL: the redirect URI of single sign-on follows the address the service listens on',
    })
  }
  if (config.TRUSTED_PROXIES.some((range) => range.endsWith('/0'))) {
    warnings.push({
      zh: 'TRUSTED_PROXIES 含全部地址：任何调用方都可以伪造来源地址',
      en: 'TRUSTED_PROXIES contains every address: any caller can forge its address',
    })
  }
  if (config.METRICS_PORT !== 0 && !config.METRICS_TOKEN && !isLoopbackHost(config.HOST)) {
    warnings.push({
      zh: `METRICS_PORT 监听在 ${config.HOST} 上，但未设置 METRICS_TOKEN：能连接该端口的任何人都可以读取指标，除非防火墙限制访问`,
      en: `METRICS_PORT listens on ${config.HOST} without METRICS_TOKEN: anyone who can connect to it reads the metrics, unless a firewall prevents it`,
    })
  }
  const neededS = Math.ceil(longestCallMs(config) / 1000)
  if (neededS > config.OPERATION_LEASE_S) {
    warnings.push({
      zh: `OPERATION_LEASE_S=${config.OPERATION_LEASE_S} 过短：按 GATEWAY_TIMEOUT_MS 依次调用各网关最长 ${neededS} 秒，其间额度可能已退回，服务商却仍完成了调用；请设为至少 ${neededS}`,
      en: `OPERATION_LEASE_S=${config.OPERATION_LEASE_S} is too short: calling the gateways in order takes up to ${neededS} s by GATEWAY_TIMEOUT_MS, so credits may be refunded while a provider still does the work; set it to ${neededS} or more`,
    })
  }
  return warnings
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Every gateway of one call fails as late as it can. Domain checks have a deadline, which their lease exceeds. */
function longestCallMs({ SMS_GATEWAYS, IDENTITY_GATEWAYS, GATEWAY_TIMEOUT_MS }: Config): number {
  const gateways = [SMS_GATEWAYS, IDENTITY_GATEWAYS].map(
    (names) => names.filter((name) => name !== 'sandbox').length,
  )
  return Math.max(...gateways) * longestGatewayCallMs(GATEWAY_TIMEOUT_MS)
}

/** The public base URL, without a trailing slash. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  return (PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`).replace(/\/+$/, '')
}

/** The environment, with `.env` of the working directory as defaults. */
export function readEnvironment(): Environment {
  return { ...readEnvironmentFile(), ...process.env }
}

/** `.env` of the working directory; empty if there is none. */
export function readEnvironmentFile(): Environment {
  const file = resolve('.env')
  try {
    // A link to a file that is missing is an error: the service would start on another database.
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return {}
    // Some editors put a byte order mark before the first name.
    return parseEnv(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new ConfigError([`${file} 无法读取 / cannot be read (${code})`])
  }
}
