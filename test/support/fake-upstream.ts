// A fake upstream on loopback: records requests, simulates faults, and verifies vendors' signatures.

import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface RecordedRequest {
  readonly method: string
  /** Path and query as sent, still encoded. */
  readonly target: string
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case; repeated headers joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly rawBody: Buffer
  /** The index of the connection, to detect reuse. */
  readonly connection: number
}

/** How to respond to a request, or how to fail. */
export type Behaviour = (response: ServerResponse) => void

export type Handler = (request: RecordedRequest) => Behaviour | Promise<Behaviour>

export interface FakeUpstream {
  /** Such as `http://127.0.0.1:40123/`. */
  readonly url: string
  readonly port: number
  /** All requests in order, including those without a response. */
  readonly requests: readonly RecordedRequest[]
  handle(handler: Handler): void
  /** Closes all connections immediately. */
  close(): Promise<void>
}

/** Without a handler every request gets `200 {}`. A handler that throws causes a 500 response with its error message. */
export async function startFakeUpstream(handler: Handler = () => json(200, {})): Promise<FakeUpstream> {
  const requests: RecordedRequest[] = []
  const connections = new Map<Socket, number>()
  let current = handler

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await record(incoming, connections.get(incoming.socket) ?? -1)
    requests.push(request)
    let behaviour: Behaviour
    try {
      behaviour = await current(request)
    } catch (error) {
      behaviour = text(500, `the fake's handler threw: ${String(error)}`)
    }
    behaviour(response)
  }

  const server = createServer((incoming, response) => {
    // Rejects only when the client disconnects during its request.
    serve(incoming, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => connections.set(socket, connections.size))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    requests,
    handle(next) {
      current = next
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function record(incoming: IncomingMessage, connection: number): Promise<RecordedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const rawBody = Buffer.concat(chunks)
  const target = incoming.url ?? ''
  const mark = target.indexOf('?')
  const headers: Record<string, string> = {}
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    headers[name] = values?.join(', ') ?? ''
  return {
    method: incoming.method ?? '',
    target,
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers,
    body: rawBody.toString('utf8'),
    rawBody,
    connection,
  }
}

// Responses

export function json(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Behaviour {
  return text(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
}

export function text(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Behaviour {
  return (response) => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(body)
  }
}

export function html502(): Behaviour {
  const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'
  return text(502, page, { 'content-type': 'text/html' })
}

/** Chunks without a content length. */
export function hugePage(bytes = 5_000_000): Behaviour {
  return (response) => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    let left = bytes
    const pour = (): void => {
      while (left > 0 && !response.destroyed) {
        const size = Math.min(left, piece.length)
        left -= size
        if (!response.write(piece.subarray(0, size))) {
          response.once('drain', pour)
          return
        }
      }
      response.end()
    }
    response.writeHead(200, { 'content-type': 'text/html' })
    pour()
  }
}

/** Delays a behaviour. */
export function late(ms: number, then: Behaviour): Behaviour {
  return (response) => {
    const timer = setTimeout(() => then(response), ms)
    response.once('close', () => clearTimeout(timer))
  }
}

// Faults

export function hang(): Behaviour {
  return () => undefined
}

/** Closes the connection after the request. */
export function cutBeforeHeaders(): Behaviour {
  return (response) => {
    response.socket?.destroy()
  }
}

/** Closes the connection within the body. */
export function cutInBody(start = '{"Code":"OK",'): Behaviour {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write(start, () => response.socket?.destroy())
  }
}

/** Resets the connection after the request. */
export function reset(): Behaviour {
  return (response) => {
    response.socket?.resetAndDestroy()
  }
}

/** One behaviour per request; the last one repeats. */
export function inTurn(...behaviours: readonly [Behaviour, ...Behaviour[]]): Handler {
  let next = 0
  return () => {
    const behaviour = behaviours[Math.min(next, behaviours.length - 1)] ?? behaviours[0]
    next += 1
    return behaviour
  }
}

// Signatures. Shares no code with server/upstream, so that an error there is not repeated here. Each verifier returns
// undefined for a valid signature and the problem otherwise.

export type Secrets = Readonly<Record<string, string>>

export interface VerifyOptions {
  /** Unix milliseconds; the current time by default. */
  readonly now?: number
  /** Used nonces with their requests; shared by the process by default. */
  readonly nonces?: Map<string, RecordedRequest>
}

const noncesOfThisProcess = new Map<string, RecordedRequest>()

export function verifyAliyunSignature(
  request: RecordedRequest,
  secrets: Secrets,
  options: VerifyOptions = {},
): string | undefined {
  const { headers } = request
  const parts =
    /^ACS3-HMAC-SHA256 Credential=([^,\s]+),SignedHeaders=([^,\s]+),Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    )
  if (parts === null) return 'authorization header is missing or malformed'
  const [, id = '', signedList = '', given = ''] = parts
  const secret = secrets[id]
  if (secret === undefined) return 'unknown access key id'

  const signed = signedList.split(';')
  if (signed.join() !== signed.toSorted().join()) return 'SignedHeaders is not sorted'
  const always = [
    'host',
    'x-acs-action',
    'x-acs-version',
    'x-acs-date',
    'x-acs-signature-nonce',
    'x-acs-content-sha256',
  ]
  const sent = Object.keys(headers).filter((name) => name.startsWith('x-acs-') || name === 'content-type')
  for (const name of [...always, ...sent]) if (!signed.includes(name)) return `header ${name} is not signed`
  for (const name of signed) if (headers[name] === undefined) return `signed header ${name} was not sent`

  const bodyHash = hexSha256(request.rawBody)
  if (headers['x-acs-content-sha256'] !== bodyHash) return 'x-acs-content-sha256 does not fit the body'
  const date = headers['x-acs-date'] ?? ''
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(date)) return 'x-acs-date is malformed'
  if (Math.abs(Date.parse(date) - (options.now ?? Date.now())) > 15 * 60_000)
    return 'x-acs-date is out of range'

  let canonical = `${request.method}\n${request.path}\n${canonicalQuery(request.target)}\n`
  for (const name of signed) canonical += `${name}:${(headers[name] ?? '').trim()}\n`
  canonical += `\n${signedList}\n${bodyHash}`
  const mac = createHmac('sha256', secret)
  mac.update('ACS3-HMAC-SHA256\n')
  mac.update(hexSha256(canonical))
  if (mac.digest('hex') !== given) return 'signature does not match'

  // Last, so that an invalid request uses no nonce. The same request may be verified again.
  const nonces = options.nonces ?? noncesOfThisProcess
  const nonce = `${id} ${headers['x-acs-signature-nonce']}`
  const first = nonces.get(nonce)
  if (first !== undefined && first !== request) return 'nonce was used before'
  nonces.set(nonce, request)
  return undefined
}

export function verifyTencentSignature(
  request: RecordedRequest,
  secrets: Secrets,
  options: VerifyOptions = {},
): string | undefined {
  const { headers } = request
  const parts =
    /^TC3-HMAC-SHA256 Credential=([^/\s]+)\/(\d{4}-\d\d-\d\d)\/([a-z0-9]+)\/tc3_request, SignedHeaders=([^,\s]+), Signature=([0-9a-f]{64})$/.exec(
      headers['authorization'] ?? '',
    )
  if (parts === null) return 'authorization header is missing or malformed'
  const [, id = '', day = '', service = '', signedList = '', given = ''] = parts
  const secret = secrets[id]
  if (secret === undefined) return 'unknown secret id'
  for (const name of ['x-tc-action', 'x-tc-version'])
    if (headers[name] === undefined) return `header ${name} is missing`

  const stamp = headers['x-tc-timestamp'] ?? ''
  if (!/^\d{1,12}$/.test(stamp)) return 'x-tc-timestamp is missing or malformed'
  if (Math.abs(Number(stamp) * 1000 - (options.now ?? Date.now())) > 5 * 60_000)
    return 'x-tc-timestamp is out of range'
  if (new Date(Number(stamp) * 1000).toISOString().split('T')[0] !== day) return 'scope is not of the UTC day'

  const signed = signedList.split(';')
  if (signed.join() !== signed.toSorted().join()) return 'SignedHeaders is not sorted'
  for (const name of ['content-type', 'host'])
    if (!signed.includes(name)) return `header ${name} is not signed`
  let canonical = `${request.method}\n${request.path}\n${request.target.split('?')[1] ?? ''}\n`
  for (const name of signed) {
    if (headers[name] === undefined) return `signed header ${name} was not sent`
    // The vendor signs values in lower case.
    canonical += `${name}:${headers[name].trim().toLowerCase()}\n`
  }
  canonical += `\n${signedList}\n${hexSha256(request.rawBody)}`

  let key: Buffer = Buffer.from(`TC3${secret}`)
  for (const step of [day, service, 'tc3_request']) key = createHmac('sha256', key).update(step).digest()
  const toSign = `TC3-HMAC-SHA256\n${stamp}\n${day}/${service}/tc3_request\n${hexSha256(canonical)}`
  if (createHmac('sha256', key).update(toSign).digest('hex') !== given) return 'signature does not match'
  return undefined
}

function canonicalQuery(target: string): string {
  const mark = target.indexOf('?')
  if (mark === -1 || mark === target.length - 1) return ''
  return target
    .slice(mark + 1)
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=')
      const raw = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)]
      const [name = '', value = ''] = raw.map((part) => bytewiseEncode(decodeURIComponent(part)))
      return { name, value }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ name, value }) => `${name}=${value}`)
    .join('&')
}

function bytewiseEncode(value: string): string {
  let encoded = ''
  for (const byte of Buffer.from(value, 'utf8')) {
    const character = String.fromCharCode(byte)
    encoded += /[A-Za-z0-9\-._~]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}

function hexSha256(value: string | Buffer): string {
  return createHash('sha256').update(value).digest('hex')
}
