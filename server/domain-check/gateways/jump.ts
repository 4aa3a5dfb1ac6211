// The platform's own jump page: what it does with an outbound address is the verdict. Redirects are read, never followed.
import { httpCall, type HttpAnswer } from '../../upstream/http-call.ts'
import type { Outcome } from '../../upstream/outcome.ts'
import type { Address, DomainGateway, Verdict } from '../port.ts'
import { visibleHtml } from './visible-html.ts'

export interface JumpSettings {
  /** `{url}` stands where the percent-encoded address goes. */
  readonly urlTemplate: string
  readonly userAgent: string
  readonly blockedMarkers: readonly string[]
  readonly warningMarkers: readonly string[]
  /** How the page that only warns before leaving the platform is read. */
  readonly warningMeans: 'blocked' | 'ok' | 'failed'
  readonly timeoutMs: number
}

const maxBodyBytes = 256 * 1024

/** The page did not take this very request; others may well go through. */
const aboutThisRequest = new Set([400, 413, 414, 431])

export function jumpGateway(settings: JumpSettings): DomainGateway {
  return {
    name: 'jump',
    async check(address, signal) {
      const page = settings.urlTemplate.replaceAll('{url}', () => encodeURIComponent(address.url))
      const result = await httpCall(
        {
          method: 'GET',
          url: page,
          headers: {
            'user-agent': settings.userAgent,
            accept: 'text/html,*/*;q=0.8',
            'accept-language': 'zh-CN,zh;q=0.9',
          },
          body: '',
        },
        { timeoutMs: settings.timeoutMs, maxBodyBytes, signal },
      )
      return result.kind === 'answer' ? readJumpAnswer(result, page, address, settings) : result
    },
  }
}

export function readJumpAnswer(
  answer: Pick<HttpAnswer, 'status' | 'headers' | 'body'>,
  page: string,
  address: Address,
  settings: Pick<JumpSettings, 'blockedMarkers' | 'warningMarkers' | 'warningMeans'>,
): Outcome<Verdict> {
  const { status, headers, body } = answer
  if (status >= 300 && status < 400) return readLocation(headers['location'], page, address)
  if (status === 429) return { kind: 'throttled', concerns: 'us', reason: 'http_429' }
  if (aboutThisRequest.has(status)) return unknown(`http_${status}`)
  if (status !== 200) return { kind: 'ambiguous', reason: `http_${status}` }

  const text = visibleHtml(body)
  const shows = (markers: readonly string[]) => markers.some((marker) => text.includes(marker))
  if (shows(settings.blockedMarkers)) return { kind: 'accepted', value: 'blocked' }
  if (!shows(settings.warningMarkers)) return unknown('unknown_page')
  if (settings.warningMeans === 'failed') return unknown('warning_page')
  return { kind: 'accepted', value: settings.warningMeans === 'blocked' ? 'blocked' : 'passes' }
}

/**
 * A redirect lets the visitor go. One that stays on the platform's own site (a captcha, a login) lets nobody go anywhere,
 * and is no verdict, unless that site is what was asked about.
 */
function readLocation(location: string | undefined, page: string, address: Address): Outcome<Verdict> {
  const target = location === undefined || location.trim() === '' ? null : URL.parse(location, page)
  if (target === null || !/^https?:$/.test(target.protocol)) return unknown('unknown_redirect')
  const staysThere = target.host === new URL(page).host && target.hostname !== address.host
  return staysThere ? unknown('redirect_to_itself') : { kind: 'accepted', value: 'passes' }
}

/** No verdict on this address. The canary, not the breaker, finds out when that happens to every address. */
function unknown(reason: string): Outcome<Verdict> {
  return { kind: 'refused', code: 'no_verdict', reason }
}
