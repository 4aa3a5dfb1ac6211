// Requests on connections of their own, so that the processes behind one port take turns.
import { request } from 'node:http'

export interface FreshReply {
  readonly status: number
  readonly location: string | undefined
  readonly replayed: boolean
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of every shape
  readonly body: any
}

/** A GET, or with a body a POST of JSON. */
export function freshCall(
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<FreshReply> {
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
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

export const visit = (url: string, headers?: Readonly<Record<string, string>>): Promise<FreshReply> =>
  freshCall(url, undefined, headers)
