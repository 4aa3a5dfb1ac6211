// Every setting: merged from the settings.ts of each folder, read from the environment (and `.env`) and checked at start.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { auditSettings } from './audit/settings.ts'
import { consoleSettings } from './console/settings.ts'
import { creditSettings } from './credits/settings.ts'
import { readAddress } from './domain-check/address.ts'
import { domainCheckSettings } from './domain-check/settings.ts'
import { httpSettings } from './http/settings.ts'
import { identitySettings } from './identity/settings.ts'
import { limitSettings } from './limits/settings.ts'
import { operationSettings } from './operations/settings.ts'
import { requestLogSettings } from './request-log/settings.ts'
import { runtimeSettings } from './runtime/settings.ts'
import { shortlinkSettings } from './shortlink/settings.ts'
import { smsSettings } from './sms/settings.ts'
import { upstreamSettings } from './upstream/settings.ts'
import type { Setting } from './setting-parsers.ts'

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
  ...requestLogSettings,
  ...auditSettings,
  ...consoleSettings,
  ...operationSettings,
} as const

type SettingName = keyof typeof settings

export type Config = {
  readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never
}

/** Settings that a gateway requires. */
const requiredSettings: Readonly<Record<string, readonly SettingName[]>> = {
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
    // Compose files leave out a setting with an empty variable.
    if (given === undefined || given === '') {
      values[name] = fallback
      continue
    }
    const parsed = parse(given)
    if ('problem' in parsed) problems.push(`${name} ${parsed.problem}`)
    else values[name] = parsed.value
  }
  const config = values as Config
  for (const [gateway, names] of Object.entries(requiredSettings)) {
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

/** The public base URL, without a trailing slash. */
export function publicUrlOf({ PUBLIC_URL, HOST, PORT }: Config): string {
  return (PUBLIC_URL ?? `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`).replace(/\/+$/, '')
}

/** The environment, with `.env` of the working directory as defaults. */
export function readEnvironment(directory: string = process.cwd()): Environment {
  const file = resolve(directory, '.env')
  if (!existsSync(file)) return process.env
  return { ...parseEnv(readFileSync(file, 'utf8')), ...process.env }
}
