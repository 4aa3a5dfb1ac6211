// Serves the built console with security headers; every path that is not a file gets the app's page.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from '../http/accepts-gzip.ts'
import { consoleFolder } from './built.ts'

/** Components insert styles at run time; scripts come only from files of this origin and from index.html, by their hash. */
const contentPolicy = (hashes: readonly string[]) =>
  [
    `default-src 'none'`,
    [`script-src 'self'`, ...hashes.map((hash) => `'${hash}'`)].join(' '),
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data: blob:`,
    `font-src 'self' data:`,
    `connect-src 'self'`,
    `manifest-src 'self'`,
    `base-uri 'none'`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
  ].join('; ')

const notBuilt = `<!doctype html>
<html lang="zh-CN">
<head><meta charset="utf-8"><title>Tollgate</title></head>
<body>
<h1>控制台尚未构建</h1>
<p>在项目目录运行 <code>npm run build:web</code>，然后刷新本页。接口不受影响。</p>
<p lang="en">The console is not built yet. Run <code>npm run build:web</code> in the project's folder and reload. The API is not affected.</p>
</body>
</html>
`

/** The hashes of the scripts inside a page, as a content security policy names them. */
function inlineHashes(page: string): string[] {
  return [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `sha256-${createHash('sha256').update(script!).digest('base64')}`,
  )
}

export function securityHeaders(reply: FastifyReply, policy: string, isSecure: boolean): void {
  reply
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header('referrer-policy', 'no-referrer')
    .header('cross-origin-opener-policy', 'same-origin')
  if (isSecure) reply.header('strict-transport-security', 'max-age=31536000')
}

export function consoleFiles(app: FastifyInstance, isSecure: boolean, folder: string = consoleFolder): void {
  app.addHook('onRequest', async (_request, reply) => securityHeaders(reply, contentPolicy([]), isSecure))
  app.register(fastifyStatic, {
    root: folder,
    serve: false,
    // Uses the .br and .gz files of the build.
    preCompressed: true,
    cacheControl: false,
    dotfiles: 'ignore',
  })
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => FastifyReply) =>
    app.route({ method: ['GET', 'HEAD'], url, handler })
  get('/console', (_request, reply) => reply.redirect('/console/', 308))
  get('/console/', sendApp)
  get('/console/*', (request, reply) => {
    const path = (request.params as { '*': string })['*']
    // A path without a file extension is a page of the app.
    if (!/\.\w+$/.test(path)) return sendApp(request, reply)
    // Names of built files contain a hash of their content.
    const isHashed = path.startsWith('assets/') && existsSync(join(folder, 'assets', basename(path)))
    reply.header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    return reply.sendFile(path)
  })

  function sendApp(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const file = join(folder, 'index.html')
    reply.header('cache-control', 'no-cache').type('text/html; charset=utf-8')
    if (!existsSync(file)) return reply.code(503).send(notBuilt)
    const page = readFileSync(file, 'utf8')
    reply
      .header('content-security-policy', contentPolicy(inlineHashes(page)))
      .header('vary', 'accept-encoding')
    if (!acceptsGzip(request.headers)) return reply.send(page)
    return reply.header('content-encoding', 'gzip').send(gzipSync(page))
  }
}
