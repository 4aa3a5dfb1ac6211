// How the text of a setting becomes a value. Each parser says in one phrase what it wanted.
import { isIP } from 'node:net'
import type { Text } from '../contract/text.ts'
import type { RateLimit } from './limits/token-bucket.ts'

type Parsed<T> = { readonly value: T } | { readonly problem: string }

type Parse<T> = (given: string) => Parsed<T>

export interface Setting<T> {
  readonly parse: Parse<T>
  readonly fallback: T
  readonly text: Text
  /** Secrets are never shown, neither in messages nor on the settings page. */
  readonly secret: boolean
}

export function setting<const T>(
  parse: Parse<T>,
  fallback: NoInfer<T>,
  description: Text,
  secret?: 'secret',
): Setting<T> {
  return { parse, fallback, text: description, secret: secret === 'secret' }
}

export const text: Parse<string> = (value) => ({ value })

export const optionalText: Parse<string | undefined> = (value) => ({ value })

/** An optional text of at least so many characters. */
export function optional(least: number): Parse<string | undefined> {
  return (value) =>
    value.length >= least ? { value } : { problem: `至少 ${least} 个字符 / needs ${least} characters` }
}

export function integer(least: number, most: number): Parse<number> {
  return (given) => {
    const value = Number(given)
    if (/^\d{1,10}$/.test(given) && value >= least && value <= most) return { value }
    return { problem: `须为 ${least} 到 ${most} 的整数 / must be a whole number from ${least} to ${most}` }
  }
}

/** Days that something is kept, at least so many; 0: for ever. */
export function daysOrForever(least: number): Parse<number> {
  return (given) => {
    const value = Number(given)
    if (/^\d{1,5}$/.test(given) && (value === 0 || value >= least)) return { value }
    return {
      problem: `须为 0（永久）或不少于 ${least} 的天数 / must be 0 (for ever) or ${least} days or more`,
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

export function optionalUrl(schemes: readonly string[]): Parse<string | undefined> {
  return (given) => {
    const names = schemes.map((scheme) => `${scheme}//`).join('、')
    if (!URL.canParse(given) || !schemes.includes(new URL(given).protocol)) {
      return { problem: `须为 ${names} 开头的完整地址 / must be a whole URL of these schemes` }
    }
    return { value: given }
  }
}

/** A web address that others can begin with. */
export const baseUrl: Parse<string | undefined> = (given) => {
  const url = URL.parse(given)
  const isBase = url && !/[?#]/.test(given) && url.username === '' && url.password === ''
  if (url && !isBase) {
    return { problem: '不能带 ?、# 或用户名 / must have no query, fragment or user name' }
  }
  return optionalUrl(['http:', 'https:'])(given)
}

export const list: Parse<readonly string[]> = (given) => ({ value: splitList(given) })

export function gatewayList<const T extends string>(...known: readonly T[]): Parse<readonly T[]> {
  return (given) => {
    if (given === 'off') return { value: [] }
    const names = splitList(given)
    if (names.length === 0) return { problem: '没有网关，要关闭请写 off / names no gateway; off closes it' }
    const unknown = names.filter((name) => !(known as readonly string[]).includes(name))
    if (unknown.length > 0) {
      return { problem: `不认识 ${unknown.join('、')}，可用 ${known.join('、')} / unknown gateway` }
    }
    if (new Set(names).size !== names.length) return { problem: '有重复 / names one twice' }
    return { value: names as T[] }
  }
}

export const rateLimit: Parse<RateLimit | undefined> = (given) => {
  if (given === 'off') return { value: undefined }
  const match = /^(\d{1,7}),(\d{1,7})$/.exec(given.replaceAll(' ', ''))
  const perSecond = Number(match?.[1])
  const burst = Number(match?.[2])
  if (perSecond >= 1 && burst >= 1) return { value: { perSecond, burst } }
  return { problem: '须为“每秒,突发”两个正整数或 off / must be two whole numbers (a second, burst) or off' }
}

export interface NumberLimit {
  readonly count: number
  readonly window: 'm' | 'h' | 'd'
}

export const numberLimits: Parse<readonly NumberLimit[]> = (given) => {
  const limits: NumberLimit[] = []
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
    for (const item of splitList(given)) {
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
  const wrong = items.filter((item) => {
    const [address, bits, ...rest] = item.split('/')
    const family = isIP(address ?? '')
    if (family === 0 || rest.length > 0) return true
    return bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
  })
  if (wrong.length > 0)
    return { problem: `不是地址或 CIDR：${wrong.join('、')} / not an address or CIDR range` }
  return { value: items }
}

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
