// `GET /tls-ask?domain=HOST`: a TLS proxy on this machine asks whether it may request a certificate for a host.
import type { FastifyInstance } from 'fastify'
import { isLocalAndDirect } from '../../http/local.ts'
import type { Pools } from '../redirect/lookup-store.ts'
import { readBannedHost } from '../bans/banned-hosts.ts'

export interface TlsAskOptions {
  readonly pools: () => Promise<Pools>
  readonly publicUrl: () => string
}

export function registerTlsAsk(api: FastifyInstance, { pools, publicUrl }: TlsAskOptions): void {
  api.route({
    method: ['GET', 'HEAD'],
    url: '/tls-ask',
    handler: async (request, reply) => {
      if (!isLocalAndDirect(request.raw)) return reply.callNotFound()
      const { domain } = request.query as Readonly<Record<string, unknown>>
      const host = typeof domain === 'string' ? readBannedHost(domain) : undefined
      const isKnown = host !== undefined && isKnownHost(host, await pools(), publicUrl())
      return reply
        .code(isKnown ? 200 : 404)
        .header('cache-control', 'no-store')
        .send({ known: isKnown })
    },
  })
}

function isKnownHost(host: string, { byHost, owners }: Pools, publicUrl: string): boolean {
  if (host === URL.parse(publicUrl)?.hostname || owners.has(host) || byHost.has(host)) return true
  // A pool may have hosts with a port.
  return [...byHost.keys()].some((name) => name.startsWith(`${host}:`))
}
