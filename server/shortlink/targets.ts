// Checks the target and the title of a link.
import { maxLocationLength, redirectTypes, type RedirectType, shortlink } from '../../contract/shortlink.ts'
import type { Text } from '../../contract/text.ts'
import { countCharacters } from '../../contract/values.ts'
import type { InvalidParameter } from '../http/parameters.ts'
import { longerThan } from '../http/value-problems.ts'

const { target_url, title: titleParameter } = shortlink.operations.generate.parameters
const maxUrlLength = target_url.maxLength
const maxTitleLength = titleParameter.maxLength

/** Hosts that a link must not lead to: it could redirect in a loop. */
export interface OwnHosts {
  readonly publicUrl: URL | undefined
  /** True for every host that is or was in a pool, because removed ones still redirect, and for verified own domains. */
  readonly isPoolHost: (host: string) => boolean
}

export type CheckedTarget =
  | { readonly location: string }
  /** `isWhole`: the text is the whole message and does not follow the name of the parameter. */
  | { readonly problem: Text; readonly isWhole?: true }

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
/** They change the order of what follows, also outside of the title, or show nothing. */
const directions = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/
const plainAscii = /^[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/

/** Returns the ASCII form for `Location`, or the problem, whose text follows the parameter's name. */
export function checkTarget(text: string, own: OwnHosts): CheckedTarget {
  if (text.length > maxUrlLength) return { problem: longerThan(maxUrlLength) }
  // Before parsing: the parser silently removes tabs and line breaks.
  if (controls.test(text)) return problem('不能含控制字符', 'must not contain control characters')
  const authority = /^https?:\/\/([^/?#\\]+)/i.exec(text)?.[1]
  const url = authority === undefined ? null : URL.parse(text)
  if (authority === undefined || url === null) {
    return problem('必须是 http:// 或 https:// 开头的完整网址', 'must be a whole http:// or https:// address')
  }
  if (authority.includes('@') || url.username !== '' || url.password !== '') {
    return problem('不能含用户名或密码', 'must not contain a user name or password')
  }
  if (isOwn(url, own)) return problem('不能指向本平台的短链接域名', 'must not lead to our own link domains')
  // ASCII is sent exactly as it was received; the parser would normalize it.
  const location = plainAscii.test(text) ? text : url.href
  if (location.length > maxLocationLength) {
    return problem(
      `百分号编码后最多 ${maxLocationLength} 个字符`,
      `has at most ${maxLocationLength} characters once percent-encoded`,
    )
  }
  return { location }
}

function isOwn(url: URL, own: OwnHosts): boolean {
  const name = hostName(url)
  if (own.isPoolHost(name) || own.isPoolHost(url.host)) return true
  if (!own.publicUrl) return false
  // Another port is another service. Default ports are empty in both schemes.
  return hostName(own.publicUrl) === name && url.port === own.publicUrl.port
}

function hostName(url: URL): string {
  return url.hostname.endsWith('.') ? url.hostname.slice(0, -1) : url.hostname
}

/** The problem of a target under the name of its parameter. */
export function problemOf(
  name: string,
  { problem: text, isWhole }: Extract<CheckedTarget, { readonly problem: Text }>,
): InvalidParameter {
  return isWhole ? { name, text, isWhole } : { name, text }
}

export function isRedirectType(value: string): value is RedirectType {
  return (redirectTypes as readonly string[]).includes(value)
}

export function titleProblem(title: string): Text | undefined {
  if (countCharacters(title, maxTitleLength) > maxTitleLength) return longerThan(maxTitleLength)
  return controls.test(title) || directions.test(title)
    ? { zh: '不能含控制字符', en: 'must not contain control characters' }
    : undefined
}

function problem(zh: string, en: string): CheckedTarget {
  return { problem: { zh, en } }
}
