// The public key of statements, for checking them without us.
import type { FastifyInstance } from 'fastify'
import type { Statements } from './statements.ts'

export function registerStatementKey(app: FastifyInstance, { key }: Statements): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/.well-known/tollgate-statement-key',
    handler: (_request, reply) =>
      reply
        .header('cache-control', 'public, max-age=3600')
        .header('x-content-type-options', 'nosniff')
        .type('text/plain; charset=utf-8')
        .send(key.pem),
  })
}
