// The public documents: /docs/ in two languages, /openapi.json and a Postman collection, all made from the contract.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import project from '../../package.json' with { type: 'json' }
import type { Services } from '../services.ts'
import { type Facts, openApiDocument } from './openapi.ts'
import { referencePage } from './page.ts'
import { postmanCollection } from './postman.ts'

interface Document {
  readonly type: string
  readonly text: string
  readonly zipped: Buffer
  readonly tag: string
}

type Paths = Readonly<Record<string, Document>>

const pageType = 'text/html; charset=utf-8'
const jsonType = 'application/json; charset=utf-8'

/** No other origin, no script at all. */
const policy = `default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const style = readFileSync(new URL('style.css', import.meta.url), 'utf8')

/** Made once, at the first question: the public address is known only when the server listens. */
export function registerDocs(app: FastifyInstance, services: Pick<Services, 'config' | 'publicUrl'>): void {
  let made: Paths | undefined
  const documents = () => (made ??= makeDocuments(services))

  const send = (path: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const { type, text, zipped, tag } = documents()[path]!
    reply
      .header('etag', tag)
      .header('cache-control', 'public, max-age=300')
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      .header('content-security-policy', policy)
      .header('vary', 'accept-encoding')
    if (request.headers['if-none-match'] === tag) return reply.code(304).send()
    reply.type(type)
    const takesGzip = /\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? '')
    return takesGzip ? reply.header('content-encoding', 'gzip').send(zipped) : reply.send(text)
  }
  for (const path of ['/docs/', '/docs/en/', '/docs/style.css', '/docs/postman.json', '/openapi.json']) {
    app.route({ method: ['GET', 'HEAD'], url: path, handler: send(path) })
  }
  for (const path of ['/docs', '/docs/en']) {
    app.get(path, (_request, reply) => reply.redirect(`${path.slice(path.lastIndexOf('/') + 1)}/`, 302))
  }
}

function makeDocuments(services: Pick<Services, 'config' | 'publicUrl'>): Paths {
  const facts: Facts = {
    publicUrl: services.publicUrl(),
    version: project.version,
    config: services.config,
  }
  return {
    '/docs/': document(pageType, referencePage(facts, 'zh')),
    '/docs/en/': document(pageType, referencePage(facts, 'en')),
    '/docs/style.css': document('text/css; charset=utf-8', style),
    '/docs/postman.json': document(jsonType, JSON.stringify(postmanCollection(facts), null, 2)),
    '/openapi.json': document(jsonType, JSON.stringify(openApiDocument(facts), null, 2)),
  }
}

function document(type: string, text: string): Document {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  return { type, text, zipped: gzipSync(text), tag }
}
