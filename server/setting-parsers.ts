// Turns the text of a setting into a value. The problem of a parser says what it expects.
import { isIP } from 'node:net'
import type { Text } from '../contract/text.ts'
import { signNameProblem } from '../contract/sign-name.ts'
import { isAddressOrRange } from './http/address.ts'
import type { RateLimit } from './limits/token-bucket.ts'

export type Parsed<T> = { readonly value: T } | { readonly problem: string }

type Parse<T> = (given: string) => Parsed<T>

export interface Setting<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly text: Text
  /** Secrets are never shown, neither in messages nor on the settings page. */
  readonly secret: boolean
}

/** The values of a folder's settings. */
export type SettingValues<Settings> = {
  readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never
}

export function setting<const T>(
  parse: Parse<T>,
  fallback: NoInfer<T>,
  description: Text,
  secret?: 'secret',
): Setting<T> {
  return { parse, fallback, text: description, secret: secret === 'secret' }
}

/** For every value: no real one is longer. */
export const maxSettingLength = 32_768

const maxTextLength = 2_048

// oxlint-disable-next-line no-control-regex -- these are the characters to find
const control = /[\u0000-\u001f\u007f]/

export const text: Parse<string> = (value) => {
  if (control.test(value)) return { problem: '含控制字符 / contains control characters' }
  if (value.length > maxTextLength)
    return { problem: `超过 ${maxTextLength} 个字符 / is longer than ${maxTextLength} characters` }
  return { value }
}

/** The signature of a message. */
export const signName: Parse<string> = (value) => {
  const problem = signNameProblem(value)
  return problem ? { problem: `${problem.zh} / ${problem.en}` } : text(value)
}

export const optionalText: Parse<string | undefined> = (value) => text(value)

/** A text that is sent in an HTTP header. */
export const headerText: Parse<string> = (value) =>
  /^[\u0020-\u007e]+$/.test(value)
    ? text(value)
    : { problem: '只能含可打印的 ASCII 字符 / may contain printable ASCII characters only' }

export const optionalHeaderText: Parse<string | undefined> = (value) => headerText(value)

/** An optional text with a minimum length. */
export function optional(minLength: number): Parse<string | undefined> {
  return (value) =>
    value.length >= minLength
      ? text(value)
      : { problem: `至少 ${minLength} 个字符 / needs ${minLength} characters` }
}

/** A secret that needs no escaping in a URL path or a header. */
export const pathSecret: Parse<string | undefined> = (value) =>
  /^[\w.~-]{16,200}$/.test(value)
    ? { value }
    : {
        problem: `必须是 16 至 200 个字母、数字或 - _ . ~ / must have 16 to 200 letters, digits or - _ . ~`,
      }

/** An IP address or a host name. */
export const host: Parse<string> = (value) =>
  isIP(value) !== 0 || /^(?=.{1,253}$)[a-z\d]([a-z\d.-]*[a-z\d])?$/i.test(value)
    ? { value }
    : { problem: '必须是 IP 地址或主机名 / must be an IP address or a host name' }

export function integer(min: number, max: number): Parse<number> {
  return (given) => {
    const value = Number(given)
    if (/^\d{1,10}$/.test(given) && value >= min && value <= max) return { value }
    return { problem: `必须是 ${min} 至 ${max} 的整数 / must be a whole number from ${min} to ${max}` }
  }
}

/** Days that something is kept; 0: indefinitely. */
export function daysOrForever(min: number): Parse<number> {
  return (given) => {
    const value = Number(given)
    if (/^\d{1,5}$/.test(given) && (value === 0 || value >= min)) return { value }
    return {
      problem: `必须是 0（永久）或不少于 ${min} 的天数 / must be 0 (indefinitely) or ${min} days or more`,
    }
  }
}

export function choice<const T extends string>(...choices: readonly T[]): Parse<T> {
  return (given) => {
    const value = choices.find((item) => item === given)
    if (value !== undefined) return { value }
    const words = choices.filter((item) => item !== '').join('、')
    return { problem: `只能是 ${words} / must be one of these` }
  }
}

export function optionalChoice<const T extends string>(...choices: readonly T[]): Parse<T | undefined> {
  return choice(...choices)
}

export function optionalUrl(schemes: readonly string[]): Parse<string | undefined> {
  return (given) => {
    const names = schemes.map((scheme) => `${scheme}//`).join('、')
    // The parser of URLs accepts `http:host` and drops blanks, but what uses the text may not.
    const isWhole = /^[a-z]+:\/\/\S+$/i.test(given) && given.length <= maxTextLength && !control.test(given)
    if (!isWhole || !schemes.includes(URL.parse(given)?.protocol ?? '')) {
      return { problem: `必须是 ${names} 开头的完整地址 / must be a whole URL of these schemes` }
    }
    const { username, password } = new URL(given)
    if (!isPercentEncoded(username) || !isPercentEncoded(password)) {
      return { problem: invalidPercentEncoding }
    }
    return { value: given }
  }
}

const invalidPercentEncoding =
  '用户名或密码的百分号编码无效，% 本身必须写成 %25 / has an invalid percent-encoding in the user name or password; write % as %25'

function isPercentEncoded(given: string): boolean {
  try {
    decodeURIComponent(given)
    return true
  } catch {
    return false
  }
}

/** The path is the number of the database. */
export const redisUrl: Parse<string | undefined> = (given) => {
  const parsed = optionalUrl(['redis:', 'rediss:'])(given)
  if ('problem' in parsed || /^(\/\d{0,5})?$/.test(new URL(given).pathname)) return parsed
  return {
    problem: '路径只能是数据库编号，例如 /1 / the path must be the number of a database, for example /1',
  }
}

/** Who a mail is from: an address, or a name with the address in angle brackets. */
export const optionalSender: Parse<string | undefined> = (given) =>
  /^(?:[^\s<>@,]+@[^\s<>@,]+|[^<>]*<[^\s<>@,]+@[^\s<>@,]+>)$/.test(given)
    ? text(given)
    : {
        problem:
          '必须是邮箱地址，或“名称 <邮箱地址>” / must be a mail address, or a name with the address in angle brackets',
      }

/** A mail address, or where to write; as a URI. */
export const optionalContact: Parse<string | undefined> = (given) => {
  const address = given.replace(/^mailto:/i, '')
  if (/^[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+$/.test(address)) return { value: `mailto:${address}` }
  const parsed = optionalUrl(['https:'])(given)
  return 'problem' in parsed
    ? { problem: '必须是邮箱或 https 地址 / must be a mail address or an https URL' }
    : parsed
}

/** The origin of the service: links, pages and the console's addresses are paths right below it. */
export const publicOrigin: Parse<string | undefined> = (given) => {
  const parsed = optionalUrl(['http:', 'https:'])(given)
  if ('problem' in parsed) return parsed
  const url = new URL(given)
  if (/[?#]/.test(given) || url.username !== '' || url.password !== '') {
    return { problem: '不能带 ?、# 或用户名 / must have no query, fragment or user name' }
  }
  if (url.pathname !== '/') {
    return {
      problem: `不能带路径 ${url.pathname}，请使用单独的域名 / must have no path: Tollgate needs a host name of its own`,
    }
  }
  return { value: url.origin }
}

export const list: Parse<readonly string[]> = (given) => {
  const parsed = text(given)
  if ('problem' in parsed) return parsed
  const value = splitList(given)
  return value.length > 0 ? { value } : emptyList
}

const emptyList = { problem: '列表为空 / is a list without an item' }

export function gatewayList<const T extends string>(...known: readonly T[]): Parse<readonly T[]> {
  return listOrOff({ zh: '网关', en: 'gateway' }, known)
}

/** Names of one kind; `off`: none. */
export function listOrOff<const T extends string>(kind: Text, known: readonly T[]): Parse<readonly T[]> {
  return (given) => {
    if (given === 'off') return { value: [] }
    const names = splitList(given)
    if (names.length === 0)
      return { problem: `未指定${kind.zh}，停用请填 off / names no ${kind.en}; off closes it` }
    const unknown = names.filter((name) => !(known as readonly string[]).includes(name))
    if (unknown.length > 0) {
      return {
        problem: `未知${kind.zh} ${shorten(unknown)}，可选 ${known.join('、')} / unknown ${kind.en}`,
      }
    }
    if (new Set(names).size !== names.length) return { problem: '有重复项 / names one twice' }
    return { value: names as T[] }
  }
}

export const rateLimit: Parse<RateLimit | undefined> = (given) => {
  if (given === 'off') return { value: undefined }
  const match = /^(\d{1,7}),(\d{1,7})$/.exec(given.replaceAll(' ', ''))
  const perSecond = Number(match?.[1])
  const burst = Number(match?.[2])
  if (perSecond >= 1 && burst >= 1) return { value: { perSecond, burst } }
  return { problem: '必须是“每秒,突发”两个正整数或 off / must be two whole numbers (a second, burst) or off' }
}

export interface NumberLimit {
  readonly count: number
  readonly window: 'm' | 'h' | 'd'
}

export const numberLimits: Parse<readonly NumberLimit[]> = (given) => {
  const limits: NumberLimit[] = []
  if (splitList(given).length === 0) return emptyList
  for (const item of splitList(given)) {
    const match = /^([1-9]\d{0,5})\/([mhd])$/.exec(item)
    if (!match) return { problem: '格式如 1/m,5/h,10/d / must look like 1/m,5/h,10/d' }
    limits.push({ count: Number(match[1]), window: match[2] as NumberLimit['window'] })
  }
  return { value: limits }
}

export function priceList<const T extends Readonly<Record<string, number>>>(
  defaults: T,
): Parse<{ readonly [K in keyof T]: number }> {
  return (given) => {
    const value: Record<string, number> = { ...defaults }
    const items = splitList(given)
    if (items.length === 0) return emptyList
    if (new Set(items.map((item) => item.split('=')[0])).size !== items.length)
      return { problem: '有重复项 / names one twice' }
    for (const item of items) {
      const match = /^(\w+)=(\d{1,6})$/.exec(item)
      if (!match || !Object.hasOwn(defaults, match[1]!)) {
        return { problem: `格式如 ${Object.keys(defaults).join('=1,')}=1 / must look like this` }
      }
      value[match[1]!] = Number(match[2])
    }
    return { value: value as { [K in keyof T]: number } }
  }
}

export const proxyList: Parse<readonly string[]> = (given) => {
  const items = splitList(given)
  if (items.length === 0) return emptyList
  const wrong = items.filter((item) => !isAddressOrRange(item))
  if (wrong.length > 0)
    return { problem: `不是地址或 CIDR：${shorten(wrong)} / not an address or CIDR range` }
  return { value: items }
}

/** Name servers: addresses, with a port when it is not 53. */
export const serverList: Parse<readonly string[]> = (given) => {
  const items = splitList(given)
  if (items.length === 0) return emptyList
  const wrong = items.filter((item) => {
    const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:\]]+))(?::(\d{1,5}))?$/.exec(item) ?? []
    if (isIP(item) === 6) return false
    const isAddress = bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6
    return !isAddress || (port !== undefined && !(Number(port) >= 1 && Number(port) <= 65_535))
  })
  if (wrong.length > 0)
    return { problem: `必须是 IP 或 IP:端口：${shorten(wrong)} / must be addresses, with or without a port` }
  return { value: items }
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** What was given, as part of one line. */
function shorten(items: readonly string[]): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to replace
  const line = items.join('、').replaceAll(/[\u0000-\u001f\u007f]/g, '?')
  return line.length > 80 ? `${line.slice(0, 80)}…` : line
}

/** Seconds in order, for example the waits before retries. */
export function secondsList(max: number): Parse<readonly number[]> {
  return (given) => {
    const items = splitList(given)
    const value = items.map(Number)
    const isValid = items.every((item) => /^\d{1,7}$/.test(item)) && value.length <= max
    if (isValid && value.length > 0) return { value }
    return {
      problem: `必须是逗号分隔的秒数，最多 ${max} 个 / must be seconds separated by commas, at most ${max}`,
    }
  }
}
