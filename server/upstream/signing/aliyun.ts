// Signs requests to Aliyun's RPC-style APIs with ACS3-HMAC-SHA256.
import { createHmac, hash, randomBytes } from 'node:crypto'

import type { HttpRequest } from '../http-call.ts'

export interface AliyunKey {
  readonly id: string
  readonly secret: string
}

export interface AliyunSigningInput {
  readonly key: AliyunKey
  readonly method: 'GET' | 'POST'
  /** As in the Host header, with the port if the URL has one. */
  readonly host: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly action: string
  readonly version: string
  /** Only with a body: the header is signed if and only if it is sent. */
  readonly contentType?: string | undefined
  readonly body: string
  readonly date: Date
  readonly nonce: string
}

export interface AliyunCall {
  readonly key: AliyunKey
  /** Such as `https://dysmsapi.aliyuncs.com/`. */
  readonly endpoint: string
  readonly action: string
  readonly version: string
  readonly fields: Readonly<Record<string, string>>
  /** By the API's metadata: SendSms reads only the query, Id2MetaVerify only the form. */
  readonly fieldsIn: 'query' | 'form'
  readonly date?: Date | undefined
  readonly nonce?: string | undefined
}

const ALGORITHM = 'ACS3-HMAC-SHA256'

/** Returns all headers to send, including `authorization`. */
export function signAliyun(input: AliyunSigningInput): Record<string, string> {
  const bodyHash = hash('sha256', input.body)
  const headers: Record<string, string> = {
    host: input.host,
    'x-acs-action': input.action,
    'x-acs-content-sha256': bodyHash,
    'x-acs-date': input.date.toISOString().replace(/\.\d+Z$/, 'Z'),
    'x-acs-signature-nonce': input.nonce,
    'x-acs-version': input.version,
  }
  if (input.contentType !== undefined) headers['content-type'] = input.contentType

  const names = Object.keys(headers).toSorted()
  const canonical = [
    input.method,
    input.path,
    encodeFields(input.query),
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n')
  const signature = createHmac('sha256', input.key.secret)
    .update(`${ALGORITHM}\n${hash('sha256', canonical)}`)
    .digest('hex')
  const authorization = `${ALGORITHM} Credential=${input.key.id},SignedHeaders=${names.join(';')},Signature=${signature}`
  return { ...headers, authorization }
}

/** A request for `httpCall`. Every attempt needs a new one, because a nonce is valid once. */
export function aliyunRequest(call: AliyunCall): HttpRequest {
  const endpoint = new URL(call.endpoint)
  const encoded = encodeFields(call.fields)
  const inQuery = call.fieldsIn === 'query'
  const body = inQuery ? '' : encoded
  const headers = signAliyun({
    key: call.key,
    method: 'POST',
    host: endpoint.host,
    path: endpoint.pathname,
    query: inQuery ? call.fields : {},
    action: call.action,
    version: call.version,
    contentType: inQuery ? undefined : 'application/x-www-form-urlencoded',
    body,
    date: call.date ?? new Date(),
    nonce: call.nonce ?? randomBytes(16).toString('hex'),
  })
  const url = endpoint.origin + endpoint.pathname + (inQuery && encoded !== '' ? `?${encoded}` : '')
  return { method: 'POST', url, headers: { ...headers, accept: 'application/json' }, body }
}

function encodeFields(fields: Readonly<Record<string, string>>): string {
  return Object.keys(fields)
    .toSorted()
    .map((name) => `${percentEncode(name)}=${percentEncode(fields[name] ?? '')}`)
    .join('&')
}

// RFC 3986: encodeURIComponent does not encode these five characters, and throws on a lone surrogate.
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
