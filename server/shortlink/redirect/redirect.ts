// Redirects visitors of short links. It runs before the router, on bare node:http, because it is the hottest path.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { scanQuery, scanReferrer } from '../../../contract/link-qr.ts'
import type { AddressOf } from '../../http/address.ts'
import type { RequestIdOf } from '../../http/request-id.ts'
import { clientOf, createAgentReader, isPrefetch, referrerHost } from '../clicks/user-agents.ts'
import type { Language } from '../../../contract/text.ts'
import { languageOf } from '../../http/call.ts'
import type { NotFoundPage } from '../../services.ts'
import type { Clicks } from '../clicks/clicks.ts'
import { findCodeEnd, isReservedPath } from '../codes/code.ts'
import type { ConditionalRedirects, Decision } from './conditions.ts'
import type { Destination, LinkConditions, Lookup, Pools } from './lookup-store.ts'
import {
  destinationHtml,
  type Page,
  pageHeaders,
  retiredPage,
  unavailablePage,
  unknownPage,
} from './pages.ts'

export type RedirectOutcome = 'redirect' | 'page' | 'gone' | 'unknown' | 'failed' | 'password'

export interface RedirectOptions {
  readonly lookup: Lookup
  readonly clicks: Clicks
  readonly conditional: ConditionalRedirects
  readonly addressOf: AddressOf
  readonly requestIdOf: RequestIdOf
  readonly isStopping: () => boolean
  readonly onError: (error: unknown, requestId: string) => void
}

export interface Redirects {
  /** Handles requests whose path is a code; returns false for others. */
  tryHandle(request: IncomingMessage, response: ServerResponse): boolean
  readonly counts: Readonly<Record<RedirectOutcome, number>>
}

export function createRedirects(options: RedirectOptions): Redirects {
  const { lookup, clicks, conditional, addressOf, requestIdOf, isStopping, onError } = options
  const counts: Record<RedirectOutcome, number> = {
    redirect: 0,
    page: 0,
    gone: 0,
    unknown: 0,
    failed: 0,
    password: 0,
  }
  const readAgent = createAgentReader()

  function tryHandle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = request.url ?? ''
    const isB = path.charCodeAt(2) === 0x2f && path.startsWith('/b/')
    const start = isB ? 3 : 1
    const end = findCodeEnd(path, start)
    if (end === -1) return false
    const code = path.slice(start, end)
    if (!isB && isReservedPath(code)) return false
    if (request.method !== 'GET' && request.method !== 'HEAD' && request.method !== 'POST') {
      refuseMethod(response, 'GET, HEAD')
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
    if (request.method === 'POST' && !found?.conditions) return refuseMethod(response, 'GET, HEAD')
    if (found === undefined || isOnForeignDomain(pools, request, found.accountId)) {
      counts.unknown += 1
      return sendPage(request, response, unknownPage)
    }
    if (found.suspended || (found.liveUntil !== undefined && found.liveUntil <= Date.now())) {
      counts.gone += 1
      return sendPage(request, response, retiredPage)
    }
    const isAddressB = isB || isInPoolB(pools, request)
    if (found.conditions !== undefined) {
      return respondByConditions(request, response, found, found.conditions, isAddressB)
    }
    redirect(request, response, found, isAddressB ? found.locationB : found.locationA)
  }

  function redirect(
    request: IncomingMessage,
    response: ServerResponse,
    found: Destination,
    location: string,
  ): void {
    if (found.type === 'page') {
      counts.page += 1
      const language = languageOf(request)
      sendHtml(request, response, 200, destinationHtml(location, found.title, language), flatPageHeaders)
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
    if (request.method !== 'HEAD') countClick(request, found)
  }

  function countClick(request: IncomingMessage, found: Destination): void {
    const { headers } = request
    clicks.count({
      linkId: found.id,
      agent: readAgent(headers['user-agent'] ?? ''),
      isPrefetch: isPrefetch(headers),
      referrer: isScan(request.url) ? scanReferrer : referrerHost(headers.referer),
      address: addressOf(request),
    })
  }

  function respondByConditions(
    request: IncomingMessage,
    response: ServerResponse,
    found: Destination,
    conditions: LinkConditions,
    isAddressB: boolean,
  ): void {
    const agent = readAgent(request.headers['user-agent'] ?? '')
    const visit = {
      request,
      isAddressB,
      agent,
      kind: clientOf(agent, isPrefetch(request.headers)).kind,
      isCounted: request.method !== 'HEAD',
      address: addressOf(request),
    }
    if (request.method !== 'POST' && conditions.max_clicks === null)
      return send(request, response, found, conditional.decide(found, conditions, visit))
    const decision =
      request.method === 'POST'
        ? conditional.submit(found, conditions, visit)
        : conditional.decideWithLimit(found, conditions, visit)
    decision.then(
      (decided) => send(request, response, found, decided),
      (error: unknown) => fail(request, response, error),
    )
  }

  function send(
    request: IncomingMessage,
    response: ServerResponse,
    found: Destination,
    decision: Decision,
  ): void {
    switch (decision.kind) {
      case 'redirect':
        return redirect(request, response, found, decision.location)
      case 'see_other':
        counts.redirect += 1
        sendLocation(response, 303, decision.location)
        return countClick(request, found)
      case 'expired':
        counts.gone += 1
        return sendLocation(response, request.method === 'POST' ? 303 : 302, decision.location)
      case 'gone':
        counts.gone += 1
        return sendPage(request, response, decision.page)
      case 'form': {
        counts.password += 1
        const more = decision.retryAfter === undefined ? [] : ['Retry-After', String(decision.retryAfter)]
        // What was not read of the form would be taken for the next request.
        if (request.method === 'POST' && !request.complete) more.push('Connection', 'close')
        return sendPage(request, response, decision.page, more)
      }
      case 'method_not_allowed':
        return refuseMethod(response, 'GET, HEAD')
    }
  }

  function sendLocation(response: ServerResponse, status: number, location: string): void {
    sendHead(response, status, ['Location', location, 'Cache-Control', 'no-store', 'Content-Length', '0'])
    response.end()
  }

  function refuseMethod(response: ServerResponse, allow: string): void {
    sendHead(response, 405, ['Allow', allow, 'Content-Length', '0'])
    response.end()
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
    const { status, html, headers = flatPageHeaders } = page
    sendHtml(request, response, status, html[languageOf(request)], [...headers, ...more])
  }

  function sendHtml(
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    html: string,
    headers: readonly string[],
  ): void {
    sendHead(response, status, [...headers, 'Content-Length', String(Buffer.byteLength(html))])
    response.end(request.method === 'HEAD' ? undefined : html)
  }

  function sendHead(response: ServerResponse, status: number, headers: string[]): void {
    headers.push('X-Request-Id', requestIdOf(response.req))
    if (isStopping()) headers.push('Connection', 'close')
    response.writeHead(status, headers)
  }

  return { tryHandle, counts }
}

/** A mistyped code that is too long or too short gets the same page as an unknown one. */
export function notFoundPage(path: string, language: Language): NotFoundPage | undefined {
  if (!/^\/(b\/)?[\w-]{1,40}\/?$/.test(path)) return undefined
  return { status: unknownPage.status, html: unknownPage.html[language], headers: pageHeaders }
}

/** Ordinary addresses have no query, so one comparison decides. */
function isScan(url: string | undefined): boolean {
  return url?.endsWith(scanQuery) === true || (url?.includes('?') === true && scanPattern.test(url))
}

const scanPattern = /[?&]qr=1(?:&|$)/

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
