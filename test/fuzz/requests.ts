// Builds the HTTP request of a case.
import { gzipSync } from 'node:zlib'
import { consoleApi, csrfHeader } from '../../contract/console/route.ts'
import type { TestAccount, TestService } from '../support/service.ts'
import type { ApiCase, BodyKind, ConsoleCase, Damage, ParameterLocation } from './case.ts'
import { headerSafe, jsonText } from './words.ts'

export interface FuzzSession {
  readonly cookie: string
  readonly csrf: string
}

export interface OutgoingRequest {
  readonly url: string
  readonly method: string
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
  readonly chunked: boolean
}

export function apiRequest(
  service: TestService,
  one: ApiCase,
  accounts: { holder: TestAccount; otherAccount: TestAccount },
): OutgoingRequest {
  const parameters = [...one.parameters, ...credentialsOf(one, accounts)]
  const hasNoBody = ['GET', 'HEAD', 'TRACE'].includes(one.method)
  const actualLocation = (location: ParameterLocation) =>
    hasNoBody && location === 'body' ? 'query' : location
  const at = (location: ParameterLocation) =>
    parameters.filter((parameter) => actualLocation(parameter.location) === location)
  const query = urlencoded(at('query')).slice(0, 6_000)
  const headers: Record<string, string> = { ...one.headers }
  for (const { name, value } of at('header')) {
    if (/^[\w-]{1,40}$/.test(name) && name !== 'expect') headers[name] = headerValue(value)
  }
  const { type, text } = bodyOf(one.bodyKind, at('body'))
  const contentType = one.contentType === 'matching' ? type : one.contentType
  const body = text === undefined ? undefined : damaged(encoded(one, text), one.damage)
  if (contentType !== undefined && body !== undefined) headers['content-type'] = contentType
  if (one.encoding === 'gzip') headers['content-encoding'] = 'gzip'
  return {
    url: `${service.url}${one.endpoint}${query === '' ? '' : `?${query}`}`,
    method: one.method,
    headers,
    body,
    chunked: one.chunked,
  }
}

function credentialsOf(
  { credentials: kind, credentialsIn: location }: ApiCase,
  { holder, otherAccount }: { holder: TestAccount; otherAccount: TestAccount },
): { name: string; value: unknown; location: ParameterLocation }[] {
  const pair = (username: unknown, key: unknown) => [
    { name: 'username', value: username, location },
    { name: 'api_key', value: key, location },
  ]
  switch (kind) {
    case 'valid':
      return pair(holder.username, holder.key)
    case 'otherAccount':
      return pair(otherAccount.username, otherAccount.key)
    case 'malformed':
      return pair(holder.username, `${holder.key.slice(0, -1)}!`)
    case 'hostile':
      return pair({ $ne: null }, ['x'])
    case 'none':
      return []
  }
}

type NamedValues = readonly { readonly name: string; readonly value: unknown }[]

function bodyOf(kind: BodyKind, given: NamedValues): { type: string; text: string | undefined } {
  if (given.length === 0) return { type: 'application/json', text: undefined }
  switch (kind) {
    case 'json': {
      const pairs = given.map(({ name, value }) => `${JSON.stringify(name)}:${jsonText(value)}`)
      return { type: 'application/json', text: `{${pairs.join(',')}}` }
    }
    case 'form':
      return { type: 'application/x-www-form-urlencoded', text: urlencoded(given) }
    case 'multipart': {
      const parts = given.map(
        ({ name, value }) =>
          `--fuzz\r\nContent-Disposition: form-data; name="${name.replaceAll('"', '%22')}"\r\n\r\n${textOf(value)}\r\n`,
      )
      return { type: 'multipart/form-data; boundary=fuzz', text: `${parts.join('')}--fuzz--\r\n` }
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value)
}

function urlencoded(given: NamedValues): string {
  return given
    .map(
      ({ name, value }) =>
        `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(textOf(value).toWellFormed())}`,
    )
    .join('&')
}

function headerValue(value: unknown): string {
  return headerSafe(textOf(value))
}

function encoded({ encoding }: ApiCase, text: string): Buffer {
  switch (encoding) {
    case 'bom':
      return Buffer.from(`\ufeff${text}`)
    case 'gzip':
      return gzipSync(text)
    default:
      return Buffer.from(text, encoding)
  }
}

export function consoleRequest(
  service: TestService,
  one: ConsoleCase,
  sessions: Record<'account' | 'operator', FuzzSession>,
  victimId: number,
): OutgoingRequest {
  const pathParameter =
    one.pathParameter === 'victim' ? String(victimId) : encodeURIComponent(one.pathParameter)
  const path = one.route.replaceAll(/:\w+/g, () => pathParameter)
  const query = new URLSearchParams(one.query).toString().slice(0, 6_000)
  const session = one.who === 'visitor' ? undefined : sessions[one.who]
  const headers: Record<string, string> = { ...one.headers }
  if (session) {
    headers['cookie'] = session.cookie
    if (one.token === 'valid') headers[csrfHeader] = session.csrf
    if (one.token === 'invalid') headers[csrfHeader] = 'x'
  }
  const hasBody = !['GET', 'HEAD'].includes(one.method)
  if (hasBody && one.contentType !== '') headers['content-type'] = one.contentType
  return {
    url: `${service.url}${consoleApi}${path}${query === '' ? '' : `?${query}`}`,
    method: one.method,
    headers,
    body: hasBody ? damaged(Buffer.from(jsonText(one.body)), one.damage) : undefined,
    chunked: false,
  }
}

export function damaged(bytes: Buffer, damage: readonly Damage[]): Buffer {
  let result = bytes
  for (const { at, kind, byte } of damage) {
    const index = Math.floor(at * result.length)
    if (kind === 'cut') result = result.subarray(0, index)
    else {
      const rest = result.subarray(kind === 'flip' ? index + 1 : index)
      result = Buffer.concat([result.subarray(0, index), Buffer.of(byte), rest])
    }
  }
  return result
}
