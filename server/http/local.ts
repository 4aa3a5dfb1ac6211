// Whether a request comes from this machine itself.
import type { IncomingMessage } from 'node:http'

const proxyHeaders = [
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'x-real-ip',
  'via',
] as const

const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::(\d{1,5}))?$/i

/**
 * True for a request from this machine that no proxy forwarded. A proxy on this machine connects from loopback too. It adds a
 * forwarding header, or forwards a Host that is not our address, or uses HTTP/1.0 (nginx without any header settings).
 */
export function isLocalAndDirect({ socket, headers, httpVersion }: IncomingMessage): boolean {
  if (!loopback.has(socket.remoteAddress ?? '') || httpVersion === '1.0') return false
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false
  const host = loopbackHost.exec(headers.host ?? '')
  return host !== null && Number(host[1] ?? 80) === socket.localPort
}
