// Health checks for load balancers and monitors: liveness, readiness and metrics.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createProxyStateReader } from '../http/address.ts'
import type { Readiness } from './readiness-store.ts'

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

export function registerHealth(
  app: FastifyInstance,
  options: {
    readiness: Readiness
    isStopping: () => boolean
    metrics: { type: string; text: () => Promise<string> }
    servesMetrics: boolean
    metricsToken: string | undefined
    trustedProxies: readonly string[]
  },
): void {
  const proxyState = createProxyStateReader(options.trustedProxies)
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
    app.route({ method: ['GET', 'HEAD'], url, handler })

  get('/livez', async (request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('x-tollgate-proxy', proxyState(request.raw))
      .send({ status: 'ok' }),
  )

  get('/readyz', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (options.isStopping()) return reply.code(503).send({ status: 'stopping' })
    const status = await options.readiness.check()
    return reply.code(status === 'ok' ? 200 : 503).send({ status })
  })

  if (options.servesMetrics) {
    get('/metrics', async (request, reply) => {
      if (!isLocalAndDirect(request.raw)) return reply.code(404).send({ status: 'not found' })
      if (!hasMetricsToken(request.raw, options.metricsToken)) {
        return reply.code(401).header('www-authenticate', 'Bearer').send({ status: 'token required' })
      }
      return reply.type(options.metrics.type).send(await options.metrics.text())
    })
  }
}

/**
 * True for a request from this machine that no proxy forwarded. A proxy on this machine connects from loopback too. It adds a
 * forwarding header, or forwards a Host that is not our address, or uses HTTP/1.0 (nginx without any header settings).
 */
function isLocalAndDirect({ socket, headers, httpVersion }: IncomingMessage): boolean {
  if (!loopback.has(socket.remoteAddress ?? '') || httpVersion === '1.0') return false
  if (proxyHeaders.some((name) => headers[name] !== undefined)) return false
  const host = loopbackHost.exec(headers.host ?? '')
  return host !== null && Number(host[1] ?? 80) === socket.localPort
}

/** Without METRICS_TOKEN every request has it. */
export function hasMetricsToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  if (token === undefined) return true
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))
}
