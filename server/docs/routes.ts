// Serves the reference in both languages, /openapi.json and a Postman collection, all generated from the contract.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { docsAddress } from '../../contract/docs-address.ts'
import project from '../../package.json' with { type: 'json' }
import { acceptsGzip } from '../http/accepts-gzip.ts'
import type { Services } from '../services.ts'
import { registerClientArchives } from './client-archives.ts'
import { openApiDocument } from './openapi.ts'
import { operatorDocument } from './openapi-operator.ts'
import type { DocsContext } from './operations.ts'
import { html } from './html.ts'
import { type DocsPage, layout } from './layout.ts'
import { llmsText } from './llms.ts'
import { toMarkdown } from './markdown.ts'
import { morePages } from './more-pages.ts'
import { referencePage } from './page.ts'
import { postmanCollection } from './postman.ts'

interface StaticDocument {
  readonly type: string
  /** As bytes: a text would be encoded with every request. */
  readonly content: Buffer
  readonly compressed: Buffer
  readonly tag: string
}

type Paths = Readonly<Record<string, () => StaticDocument>>

const pageType = 'text/html; charset=utf-8'
const jsonType = 'application/json; charset=utf-8'

/** The script adds search, copy buttons and calls with the reader's key; pages are complete without it. */
const policy = `default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const style = ['style.css', 'samples.css']
  .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('')
const script = readFileSync(new URL('docs.js', import.meta.url), 'utf8')

const pages: readonly DocsPage[] = [referencePage, ...morePages]

/** Each page in both languages, as HTML and as Markdown. */
const pagePaths = pages.flatMap((page) =>
  (['zh', 'en'] as const).flatMap((language) => {
    const address = docsAddress(language, page.path)
    return [address, address.endsWith('/') ? `${address}index.md` : `${address}.md`]
  }),
)

/**
 * Each document is generated with its first request, because the public URL is known only when the server listens. All of them at once
 * would keep other calls waiting.
 */
export function registerDocs(app: FastifyInstance, services: Pick<Services, 'config' | 'publicUrl'>): void {
  let cached: Paths | undefined
  const documents = () => (cached ??= createDocuments(services))

  const send = (path: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const { lang } = request.query as { lang?: unknown }
    const found = documents()[`${path}?lang=${String(lang)}`] ?? documents()[path]!
    const { type, content, compressed, tag } = found()
    reply
      .header('etag', tag)
      .header('cache-control', 'public, max-age=300')
      .header('x-content-type-options', 'nosniff')
      .header('referrer-policy', 'no-referrer')
      // As the console, which opens the reference with the key of its reader.
      .header('cross-origin-opener-policy', 'same-origin')
      .header('content-security-policy', policy)
      .header('vary', 'accept-encoding')
    if (request.headers['if-none-match'] === tag) return reply.code(304).send()
    reply.type(type)
    if (!acceptsGzip(request.headers)) return reply.send(content)
    return reply.header('content-encoding', 'gzip').send(compressed)
  }
  for (const path of [
    ...pagePaths,
    '/docs/style.css',
    '/docs/docs.js',
    '/docs/postman.json',
    '/openapi.json',
    '/openapi-operator.json',
    '/llms.txt',
  ]) {
    app.route({ method: ['GET', 'HEAD'], url: path, handler: send(path) })
  }
  registerClientArchives(app)
  for (const path of ['/docs', '/docs/en']) {
    app.route({
      method: ['GET', 'HEAD'],
      url: path,
      handler: (_request, reply) => reply.redirect(`${path.slice(path.lastIndexOf('/') + 1)}/`, 302),
    })
  }
}

function createDocuments(services: Pick<Services, 'config' | 'publicUrl'>): Paths {
  const context: DocsContext = {
    publicUrl: services.publicUrl(),
    version: project.version,
    config: services.config,
  }
  return {
    ...Object.fromEntries(
      pages.flatMap((page) =>
        (['zh', 'en'] as const).flatMap((language) => {
          const address = docsAddress(language, page.path)
          const markdown = () =>
            toMarkdown(
              html`<h1>${page.title[language]}</h1>
                ${page.body(context, language)}`,
            )
          return [
            [address, document(pageType, () => layout(page, context, language))],
            [
              address.endsWith('/') ? `${address}index.md` : `${address}.md`,
              document('text/markdown; charset=utf-8', markdown),
            ],
          ]
        }),
      ),
    ),
    '/llms.txt': document('text/plain; charset=utf-8', () => llmsText(context)),
    '/docs/docs.js': document('text/javascript; charset=utf-8', () => script),
    '/docs/style.css': document('text/css; charset=utf-8', () => style),
    '/docs/postman.json': document(jsonType, () => JSON.stringify(postmanCollection(context), null, 2)),
    '/openapi.json': document(jsonType, () => JSON.stringify(openApiDocument(context, 'both'), null, 2)),
    '/openapi-operator.json': document(jsonType, () => JSON.stringify(operatorDocument(context), null, 2)),
    '/openapi.json?lang=zh': document(jsonType, () =>
      JSON.stringify(openApiDocument(context, 'zh'), null, 2),
    ),
    '/openapi.json?lang=en': document(jsonType, () =>
      JSON.stringify(openApiDocument(context, 'en'), null, 2),
    ),
  }
}

function document(type: string, create: () => string): () => StaticDocument {
  let made: StaticDocument | undefined
  return () => (made ??= toDocument(type, create()))
}

function toDocument(type: string, text: string): StaticDocument {
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
  const content = Buffer.from(text)
  return { type, content, compressed: gzipSync(content), tag }
}
