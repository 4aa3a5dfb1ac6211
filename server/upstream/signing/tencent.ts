// Signs requests to Tencent Cloud's JSON APIs with TC3-HMAC-SHA256.
import { createHmac, hash } from 'node:crypto'

import type { HttpRequest } from '../http-call.ts'

export interface TencentKey {
  readonly id: string
  readonly secret: string
}

export interface TencentSigningInput {
  readonly key: TencentKey
  /** As in the Host header. */
  readonly host: string
  /** Part of the credential scope: `sms` or `faceid`. */
  readonly service: string
  /** Byte for byte as sent. */
  readonly contentType: string
  readonly body: string
  readonly date: Date
}

export interface TencentCall {
  readonly key: TencentKey
  /** Such as `https://sms.tencentcloudapi.com/`. */
  readonly endpoint: string
  readonly service: string
  readonly action: string
  readonly version: string
  /** Required by SendSms, not accepted by FaceID. */
  readonly region?: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
  readonly date?: Date | undefined
}

const ALGORITHM = 'TC3-HMAC-SHA256'
const SIGNED_HEADERS = 'content-type;host'

/** Returns the value of the `authorization` header. */
export function signTencent(input: TencentSigningInput): string {
  const canonical = [
    'POST',
    '/',
    '',
    `content-type:${input.contentType}`,
    `host:${input.host}`,
    '',
    SIGNED_HEADERS,
    hash('sha256', input.body),
  ].join('\n')
  // The vendor uses the UTC day here, although it is in UTC+8.
  const day = input.date.toISOString().slice(0, 10)
  const scope = `${day}/${input.service}/tc3_request`
  const toSign = [ALGORITHM, unixSeconds(input.date), scope, hash('sha256', canonical)].join('\n')
  const key = hmac(hmac(hmac(`TC3${input.key.secret}`, day), input.service), 'tc3_request')
  const signature = hmac(key, toSign).toString('hex')
  return `${ALGORITHM} Credential=${input.key.id}/${scope}, SignedHeaders=${SIGNED_HEADERS}, Signature=${signature}`
}

/** A request for `httpCall`. Tencent's path is always `/`, regardless of the endpoint's path. */
export function tencentRequest(call: TencentCall): HttpRequest {
  const endpoint = new URL(call.endpoint)
  const date = call.date ?? new Date()
  const contentType = 'application/json'
  const body = JSON.stringify(call.fields)
  const headers: Record<string, string> = {
    host: endpoint.host,
    'content-type': contentType,
    'x-tc-action': call.action,
    'x-tc-version': call.version,
    'x-tc-timestamp': unixSeconds(date),
    authorization: signTencent({
      key: call.key,
      host: endpoint.host,
      service: call.service,
      contentType,
      body,
      date,
    }),
  }
  if (call.region !== undefined) headers['x-tc-region'] = call.region
  return { method: 'POST', url: `${endpoint.origin}/`, headers, body }
}

function unixSeconds(date: Date): string {
  return String(Math.floor(date.getTime() / 1000))
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
