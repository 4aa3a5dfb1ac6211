// Sends each request on a new connection, so that the processes behind one port take turns.
import { request } from 'node:http'

export interface ConnectionReply {
  readonly status: number
  readonly location: string | undefined
  readonly replayed: boolean
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  // oxlint-disable-next-line typescript/no-explicit-any -- responses have different shapes
  readonly body: any
}

/** Sends a GET, or a POST with JSON or a form when there is a body. */
export function callOnNewConnection(
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<ConnectionReply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    })
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location,
          replayed: response.headers['idempotent-replayed'] === 'true',
          headers: response.headers,
          body: text.startsWith('{') ? JSON.parse(text) : text,
        })
      })
    })
    sent.on('error', reject)
    if (body === undefined) sent.end()
    else sent.end(body instanceof URLSearchParams ? body.toString() : JSON.stringify(body))
  })
}

export const visit = (url: string, headers?: Readonly<Record<string, string>>): Promise<ConnectionReply> =>
  callOnNewConnection(url, undefined, headers)
