// Health checks for load balancers and monitors: liveness, readiness and metrics.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isSameSecret } from '../encryption.ts'
import { createProxyStateReader } from '../http/address.ts'
import { isLocalAndDirect } from '../http/local.ts'
import type { Readiness } from './readiness-store.ts'

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

/** Without METRICS_TOKEN every request has it. */
export function hasMetricsToken({ headers }: IncomingMessage, token: string | undefined): boolean {
  return token === undefined || isSameSecret(headers.authorization ?? '', `Bearer ${token}`)
}
