// Health checks for load balancers and monitors: liveness, readiness and metrics.
import type { FastifyInstance } from 'fastify'
import { createProxyStateReader } from '../http/address.ts'
import type { Readiness } from './readiness-store.ts'

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const

const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

export function registerHealth(
  app: FastifyInstance,
  options: {
    readiness: Readiness
    isStopping: () => boolean
    metrics: { type: string; text: () => Promise<string> }
    servesMetrics: boolean
    trustedProxies: readonly string[]
  },
): void {
  const proxyState = createProxyStateReader(options.trustedProxies)
  app.get('/livez', async (request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('x-tollgate-proxy', proxyState(request.raw))
      .send({ status: 'ok' }),
  )

  app.get('/readyz', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (options.isStopping()) return reply.code(503).send({ status: 'stopping' })
    const status = await options.readiness.check()
    return reply.code(status === 'ok' ? 200 : 503).send({ status })
  })

  if (options.servesMetrics) {
    app.get('/metrics', async (request, reply) => {
      // A proxy on this machine connects from loopback too, but it adds a forwarding header.
      const isLocal =
        loopback.has(request.raw.socket.remoteAddress ?? '') &&
        !proxyHeaders.some((name) => request.headers[name] !== undefined)
      if (!isLocal) return reply.code(404).send({ status: 'not found' })
      return reply.type(options.metrics.type).send(await options.metrics.text())
    })
  }
}
