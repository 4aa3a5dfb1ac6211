// Reads the verdict from the platform's jump page for outbound links. Redirects are read, never followed.
import { httpCall, type HttpResponse } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { Address, DomainGateway, CheckVerdict } from '../port.ts'
import { visibleHtml } from './visible-html.ts'

export interface JumpOptions {
  /** `{url}` is replaced by the percent-encoded address. */
  readonly urlTemplate: string
  readonly userAgent: string
  readonly blockedMarkers: readonly string[]
  readonly warningMarkers: readonly string[]
  /** The meaning of the page that only warns about leaving the platform. */
  readonly warningMeans: 'blocked' | 'ok' | 'failed'
  readonly timeoutMs: number
}

const maxBodyBytes = 256 * 1024

/** Statuses that concern only this request, not the gateway. */
const requestErrors = new Set([400, 413, 414, 431])

export function createJumpGateway(options: JumpOptions): DomainGateway {
  return {
    name: 'jump',
    async check(address, signal) {
      const page = options.urlTemplate.replaceAll('{url}', () => encodeURIComponent(address.url))
      const result = await httpCall(
        {
          method: 'GET',
          url: page,
          headers: {
            'user-agent': options.userAgent,
            accept: 'text/html,*/*;q=0.8',
            'accept-language': 'zh-CN,zh;q=0.9',
          },
          body: '',
        },
        { timeoutMs: options.timeoutMs, maxBodyBytes, signal },
      )
      return result.kind === 'response' ? readJumpResponse(result, page, address, options) : result
    },
  }
}

export function readJumpResponse(
  response: Pick<HttpResponse, 'status' | 'headers' | 'body'>,
  page: string,
  address: Address,
  options: Pick<JumpOptions, 'blockedMarkers' | 'warningMarkers' | 'warningMeans'>,
): Outcome<CheckVerdict> {
  const { status, headers, body } = response
  if (status >= 300 && status < 400) return readLocation(headers['location'], page, address)
  if (status === 429) return { kind: 'throttled', concerns: 'us', reason: 'http_429' }
  if (requestErrors.has(status)) return noVerdict(`http_${status}`)
  if (status !== 200) return { kind: 'ambiguous', reason: `http_${status}` }

  const text = visibleHtml(body)
  const shows = (markers: readonly string[]) => markers.some((marker) => text.includes(marker))
  if (shows(options.blockedMarkers)) return { kind: 'accepted', value: 'blocked' }
  if (!shows(options.warningMarkers)) return noVerdict('unknown_page')
  if (options.warningMeans === 'failed') return noVerdict('warning_page')
  return { kind: 'accepted', value: options.warningMeans === 'blocked' ? 'blocked' : 'passes' }
}

/**
 * A redirect to another site means that the address passes. A redirect within the platform's site (a captcha, a login) is
 * no verdict, unless that site is the address to check.
 */
function readLocation(location: string | undefined, page: string, address: Address): Outcome<CheckVerdict> {
  const target = location === undefined || location.trim() === '' ? null : URL.parse(location, page)
  if (target === null || !/^https?:$/.test(target.protocol)) return noVerdict('unknown_redirect')
  const staysOnPlatform = target.host === new URL(page).host && target.hostname !== address.host
  return staysOnPlatform ? noVerdict('redirect_to_itself') : { kind: 'accepted', value: 'passes' }
}

/** No verdict on this address only. The canary, not the breaker, detects when it happens to every address. */
function noVerdict(reason: string): Outcome<CheckVerdict> {
  return { kind: 'refused', code: 'no_verdict', reason }
}
