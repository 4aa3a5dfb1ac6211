// Aliyun's request signature, ACS3-HMAC-SHA256, and the building of a signed call to one of its RPC-style APIs.

import { createHash, createHmac, randomBytes } from 'node:crypto'

import type { HttpRequest } from '../http-call.ts'

export interface AliyunKey {
  readonly id: string
  readonly secret: string
}

export interface AliyunSigningInput {
  readonly key: AliyunKey
  readonly method: 'GET' | 'POST'
  /** As sent in the Host header: with the port, where the URL has one. */
  readonly host: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly action: string
  readonly version: string
  /** Only when there is a body: the header is signed if, and only if, it is sent. */
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
  /** Where the API's own metadata puts the fields: SendSms reads the query only, Id2MetaVerify the form only. */
  readonly fieldsIn: 'query' | 'form'
  readonly date?: Date | undefined
  readonly nonce?: string | undefined
}

const ALGORITHM = 'ACS3-HMAC-SHA256'

/** The headers to send, `authorization` among them. */
export function signAliyun(input: AliyunSigningInput): Record<string, string> {
  const bodyHash = sha256(input.body)
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
    .update(`${ALGORITHM}\n${sha256(canonical)}`)
    .digest('hex')
  const authorization = `${ALGORITHM} Credential=${input.key.id},SignedHeaders=${names.join(';')},Signature=${signature}`
  return { ...headers, authorization }
}

/** A request ready for `httpCall`. Build it anew for every attempt: a nonce is good for one. */
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

// RFC 3986: encodeURIComponent leaves these five alone. A lone surrogate would make it throw.
function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
