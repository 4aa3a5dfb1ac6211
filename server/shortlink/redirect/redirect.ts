// Redirects visitors of short links. It runs before the router, on bare node:http, because it is the hottest path.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressOf } from '../../http/address.ts'
import { createRequestId } from '../../http/call.ts'
import { createAgentReader, isPrefetch, referrerHost } from '../clicks/user-agents.ts'
import type { NotFoundPage } from '../../services.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { codeLength, isReservedPath, looksLikeCode } from '../codes/code.ts'
import type { Destination, Lookup, Pools } from './lookup-store.ts'
import {
  bannedPage,
  destinationPage,
  type Page,
  pageHeaders,
  retiredPage,
  unavailablePage,
  unknownPage,
} from './pages.ts'

export type RedirectOutcome = 'redirect' | 'page' | 'gone' | 'unknown' | 'failed'

export interface RedirectOptions {
  readonly lookup: Lookup
  readonly clicks: Clicks
  readonly addressOf: AddressOf
  readonly isStopping: () => boolean
  readonly onError: (error: unknown, requestId: string) => void
}

export interface Redirects {
  /** Handles requests whose path is a code; returns false for others. */
  tryHandle(request: IncomingMessage, response: ServerResponse): boolean
  readonly counts: Readonly<Record<RedirectOutcome, number>>
}

export function createRedirects(options: RedirectOptions): Redirects {
  const { lookup, clicks, addressOf, isStopping, onError } = options
  const counts: Record<RedirectOutcome, number> = { redirect: 0, page: 0, gone: 0, unknown: 0, failed: 0 }
  const readAgent = createAgentReader()

  function tryHandle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = request.url ?? ''
    const isB = path.charCodeAt(2) === 0x2f && path.startsWith('/b/')
    const start = isB ? 3 : 1
    const end = start + codeLength
    if (path.length !== end && path.charCodeAt(end) !== 0x3f) return false
    if (!looksLikeCode(path, start)) return false
    const code = path.slice(start, end)
    if (!isB && isReservedPath(code)) return false
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendHead(response, 405, ['Allow', 'GET, HEAD', 'Content-Length', '0'])
      response.end()
      return true
    }
    try {
      const found = lookup.find(code)
      const pools = lookup.cachedPools()
      if (found instanceof Promise || pools === undefined) {
        Promise.all([found, pools ?? lookup.pools()]).then(
          ([destination, read]) => respond(request, response, destination, read, isB),
          (error: unknown) => fail(request, response, error),
        )
      } else respond(request, response, found, pools, isB)
    } catch (error) {
      fail(request, response, error)
    }
    return true
  }

  function respond(
    request: IncomingMessage,
    response: ServerResponse,
    found: Destination | undefined,
    pools: Pools,
    isB: boolean,
  ): void {
    if (found === undefined || isOnForeignDomain(pools, request, found.accountId)) {
      counts.unknown += 1
      return sendPage(request, response, unknownPage)
    }
    if (found.banned) {
      counts.gone += 1
      return sendPage(request, response, bannedPage)
    }
    if (found.suspended || (found.liveUntil !== undefined && found.liveUntil <= Date.now())) {
      counts.gone += 1
      return sendPage(request, response, retiredPage)
    }
    const location = isB || isInPoolB(pools, request) ? found.locationB : found.locationA
    if (found.type === 'page') {
      counts.page += 1
      sendPage(request, response, destinationPage(location))
    } else {
      counts.redirect += 1
      if (found.type === 'direct') {
        sendHead(response, 302, ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0'])
      } else {
        // Browsers cache it for a day only, so that the target can still be changed.
        sendHead(response, 301, [
          'Location',
          location,
          'Cache-Control',
          'max-age=86400',
          'Content-Length',
          '0',
        ])
      }
      response.end()
    }
    if (request.method === 'HEAD') return
    const { headers } = request
    clicks.count({
      linkId: found.id,
      agent: readAgent(headers['user-agent'] ?? ''),
      isPrefetch: isPrefetch(headers),
      referrer: referrerHost(headers.referer),
      address: addressOf(request),
    })
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    counts.failed += 1
    onError(error, 'redirect')
    if (response.headersSent) response.end()
    else sendPage(request, response, unavailablePage, ['Retry-After', '5'])
  }

  function sendPage(
    request: IncomingMessage,
    response: ServerResponse,
    page: Page,
    more: readonly string[] = [],
  ): void {
    const length = String(Buffer.byteLength(page.html))
    sendHead(response, page.status, [...flatPageHeaders, 'Content-Length', length, ...more])
    response.end(request.method === 'HEAD' ? undefined : page.html)
  }

  function sendHead(response: ServerResponse, status: number, headers: string[]): void {
    headers.push('X-Request-Id', createRequestId())
    if (isStopping()) headers.push('Connection', 'close')
    response.writeHead(status, headers)
  }

  return { tryHandle, counts }
}

/** A mistyped code that is too long or too short gets the same page as an unknown one. */
export function notFoundPage(path: string): NotFoundPage | undefined {
  return /^\/(b\/)?[\w-]{1,40}\/?$/.test(path) ? { ...unknownPage, headers: pageHeaders } : undefined
}

const flatPageHeaders = Object.entries(pageHeaders).flat()

/** Whether the host is in pool b, with or without its port. */
function isInPoolB({ byHost }: Pools, request: IncomingMessage): boolean {
  return byHost.size > 0 && findHost(byHost, request) === 'b'
}

/** Whether the host is the own domain of another account. */
function isOnForeignDomain({ owners }: Pools, request: IncomingMessage, accountId: number): boolean {
  return owners.size > 0 && (findHost(owners, request) ?? accountId) !== accountId
}

/** By the Host header, with or without its port. */
function findHost<T>(byHost: ReadonlyMap<string, T>, request: IncomingMessage): T | undefined {
  const host = (request.headers.host ?? '').toLowerCase()
  const found = byHost.get(host)
  if (found !== undefined) return found
  const colon = host.indexOf(':')
  const name = colon === -1 ? host : host.slice(0, colon)
  return byHost.get(name.endsWith('.') ? name.slice(0, -1) : name)
}
