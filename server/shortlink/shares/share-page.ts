// `/share/TOKEN`: statistics of a link or a tag for anyone who has the address, without an account and without JavaScript.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import { shareLimits, sharedDays, sharePath } from '../../../contract/link-analytics.ts'
import { dayMs, endOfDay, formatDay, minuteMs } from '../../../contract/time.ts'
import { languageOf } from '../../http/call.ts'
import { networkOf } from '../../http/address.ts'
import { visitorPageHeaders } from '../../http/visitor-page.ts'
import type { Services } from '../../services.ts'
import type { Analytics } from '../listing/analytics.ts'
import type { LinkList } from '../listing/list.ts'
import type { Links } from '../links.ts'
import { endedPage, manyViewsPage, statisticsHtml, tooManyLinksPage, unknownPage } from './share-html.ts'
import type { SharedStatistics, Shares } from './shares.ts'
import { AppError } from '../../http/errors.ts'

interface ShareContext {
  readonly shares: Shares
  readonly list: LinkList
  readonly links: Links
  readonly limits: Services['limits']
  readonly addressOf: Services['http']['addressOf']
}

const headers = visitorPageHeaders()

/** The same statistics are read once for many views. */
const cacheMs = 10_000
const maxCached = 200

export function registerSharePage(api: FastifyInstance, context: ShareContext): void {
  const cache = new LRUCache<string, Promise<Analytics>>({ max: maxCached, ttl: cacheMs })

  function read({ id, links }: SharedStatistics, days: number): Promise<Analytics> {
    const end = endOfDay(formatDay(Date.now()))!
    const key = `${id} ${days} ${end}`
    const known = cache.get(key)
    if (known) return known
    const result = context.list.analytics(links, { start: end - days * dayMs, end })
    cache.set(key, result)
    result.catch(() => cache.delete(key))
    return result
  }

  api.route({
    method: ['GET', 'HEAD'],
    url: `${sharePath}:token`,
    handler: async (request, reply) => {
      const language = languageOf(request.raw)
      const network = networkOf(context.addressOf(request.raw))
      const attempt = await context.limits.attempts.attempt(
        [{ key: `share ${network}`, max: shareLimits.viewsPerMinute }],
        minuteMs,
      )
      if ('retryAfterMs' in attempt) {
        reply.header('retry-after', String(Math.ceil(attempt.retryAfterMs / 1000)))
        return send(reply, 429, manyViewsPage[language])
      }
      const { token = '' } = request.params as { readonly token?: string }
      const shared = await context.shares.find(token)
      if (shared === 'unknown') return send(reply, 404, unknownPage[language])
      if (shared === 'ended') return send(reply, 410, endedPage[language])
      const days = daysOf(request.query)
      const found = await read(shared, days).catch(unlessTooLarge)
      if (!found) return send(reply, 409, tooManyLinksPage[language])
      const html = statisticsHtml(found, {
        title: shared.link?.title ?? shared.tag,
        address: shared.link === undefined ? '' : context.links.describe(shared.link).a_url,
        days,
        expiresAt: shared.expiresAt,
        language,
      })
      return send(reply, 200, html)
    },
  })
}

/** A tag can get more links than are summed after it was shared. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof AppError) || error.status >= 500) throw error
}

/** Anything else is the default. */
function daysOf(query: unknown): number {
  const { days } = query as Readonly<Record<string, unknown>>
  return sharedDays.find((one) => String(one) === days) ?? 30
}

function send(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply.code(status).headers(headers).send(html)
}
