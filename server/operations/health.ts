// For load balancers and monitors: is the process alive, can it do its work, what does it count.
import type { FastifyInstance } from 'fastify'
import type { Database } from '../db/database.ts'
import { proxyStateReader } from '../http/address.ts'

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const

const loopback = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1'])

/** How long readiness may wait for the database. */
const readyTimeoutMs = 3_000

export function registerHealth(
  app: FastifyInstance,
  options: {
    db: Database
    isStopping: () => boolean
    metrics: { type: string; text: () => Promise<string> }
    metricsHere: boolean
    trustedProxies: readonly string[]
  },
): void {
  const proxyState = proxyStateReader(options.trustedProxies)
  app.get('/livez', async (request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .header('x-tollgate-proxy', proxyState(request.raw))
      .send({ status: 'ok' }),
  )

  app.get('/readyz', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    if (options.isStopping()) return reply.code(503).send({ status: 'stopping' })
    try {
      await withTimeout(options.db.checkWritable())
      return { status: 'ok' }
    } catch {
      return reply.code(503).send({ status: 'database unavailable' })
    }
  })

  if (options.metricsHere) {
    app.get('/metrics', async (request, reply) => {
      // A proxy on this machine comes from loopback too, but it says for whom, in one header or another.
      const isOurs =
        loopback.has(request.raw.socket.remoteAddress ?? '') &&
        !proxyHeaders.some((name) => request.headers[name] !== undefined)
      if (!isOurs) return reply.code(404).send({ status: 'not found' })
      return reply.type(options.metrics.type).send(await options.metrics.text())
    })
  }
}

async function withTimeout(work: Promise<void>): Promise<void> {
  const timeout = AbortSignal.timeout(readyTimeoutMs)
  await Promise.race([
    work,
    new Promise<never>((_resolve, reject) => {
      timeout.addEventListener('abort', () => reject(new Error('timed out')), { once: true })
    }),
  ])
}
