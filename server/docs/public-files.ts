// Files that browsers, crawlers and security researchers look for: the icon, robots.txt, security.txt.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { dayMs } from '../../contract/time.ts'
import { logoSvg } from '../http/logo.ts'
import type { Services } from '../services.ts'

/** Crawlers may follow short links. Paths that need a key or a session have nothing for them. */
const robots = `User-agent: *
Disallow: /api/
Disallow: /console/
Disallow: /receipts/
`

/** RFC 9116 recommends less than a year. */
const securityTextDays = 180

export function registerPublicFiles(
  app: FastifyInstance,
  { config, publicUrl }: Pick<Services, 'config' | 'publicUrl'>,
): void {
  const get = (url: string, handler: (reply: FastifyReply) => FastifyReply) =>
    app.route({ method: ['GET', 'HEAD'], url, handler: (_request, reply) => handler(reply) })
  const send = (reply: FastifyReply, type: string, text: string) =>
    reply
      .header('cache-control', 'public, max-age=86400')
      .header('x-content-type-options', 'nosniff')
      .type(type)
      .send(text)

  const icon = logoSvg
  if (icon !== undefined) {
    // Browsers ask for the first name where a page names no icon.
    for (const path of ['/favicon.ico', '/favicon.svg']) {
      get(path, (reply) =>
        send(reply.header('content-security-policy', `default-src 'none'`), 'image/svg+xml', icon),
      )
    }
  }
  get('/robots.txt', (reply) => send(reply, 'text/plain; charset=utf-8', robots))
  const contact = config.SECURITY_CONTACT
  if (contact === undefined) return
  get('/.well-known/security.txt', (reply) => {
    const expires = new Date(Math.floor(Date.now() / dayMs + securityTextDays) * dayMs).toISOString()
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${expires}`,
      'Preferred-Languages: zh, en',
      `Canonical: ${publicUrl()}/.well-known/security.txt`,
    ]
    return send(reply, 'text/plain; charset=utf-8', `${lines.join('\n')}\n`)
  })
}
