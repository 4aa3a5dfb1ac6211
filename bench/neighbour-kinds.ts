// The kinds of load that one account or stranger puts on the service in the neighbours part.
import { creditRoutes } from '../contract/console/credits.ts'
import { homeRoutes } from '../contract/console/home.ts'
import { requestRoutes } from '../contract/console/requests.ts'
import { pathOf, type Route } from '../contract/console/route.ts'
import { sessionRoutes } from '../contract/console/session.ts'
import { linkRoutes } from '../contract/console/shortlink.ts'
import { domainCheck } from '../contract/domain-check.ts'
import { identity } from '../contract/identity.ts'
import { shortlink } from '../contract/shortlink.ts'
import { sms } from '../contract/sms.ts'
import type { Browser } from '../test/support/console.ts'
import type { CrowdRequest } from './crowd.ts'
import type { Payer } from './storage.ts'

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

/** A little less than the limit, so that the body is read and decoded. */
const megabyte = 1_040_000

const post = (path: string, body: unknown): CrowdRequest => ({
  method: 'POST',
  path,
  headers: json,
  body: JSON.stringify(body),
})

const raw = (path: string, headers: Readonly<Record<string, string>>, body: string): CrowdRequest => ({
  method: 'POST',
  path,
  headers,
  body,
})

/** As many connections, and every call is answered from memory and one indexed read. */
export function harmlessRequests(payer: Payer): readonly CrowdRequest[] {
  return [post(sms.path, { ...credentialsOf(payer), action: 'get_credits' })]
}

const credentialsOf = ({ username, key }: Payer) => ({ username, api_key: key })

/** By name; each is sent by all connections of the crowd. `visitor` has a session of the same account. */
export function loadKinds(
  payer: Payer,
  visitor: Browser,
  serviceUrl: string,
): Readonly<Record<string, readonly CrowdRequest[]>> {
  const own = credentialsOf(payer)
  const link = { target_url: 'https://example.com/landing?from=bench', title: 'benchmark' }
  const text = { template_code: 'CODE', template_params: { code: '123456' } }
  const send = (phone_number: string) => post(sms.path, { ...own, action: 'send_sms', phone_number, ...text })
  const get = (
    route: Pick<Route<unknown, unknown>, 'path'>,
    query: Record<string, string | number> = {},
  ) => ({
    method: 'GET' as const,
    path: pathOf(route, {}, query),
    headers: { cookie: visitor.cookie ?? '' },
  })
  return {
    'successful generate': [post(shortlink.path, { ...own, action: 'generate', ...link })],
    'successful send_sms': [send('13800138001')],
    'refused calls': [
      post(shortlink.path, { ...own, action: 'generate', target_url: 'javascript:alert(1)', title: 't' }),
      post(sms.path, { ...own, action: 'send_sms', phone_number: '13800138001', template_code: 'NONE' }),
      post(identity.path, { ...own, name: '张三', idcard: '110105194912310021' }),
    ],
    'refunded calls': [send('19900000001')],
    'batches of links': [
      post(shortlink.path, {
        ...own,
        action: 'generate_batch',
        links: Array.from({ length: 100 }, () => link),
      }),
    ],
    'batches of messages': [
      post(sms.path, {
        ...own,
        action: 'send_batch',
        ...text,
        phone_numbers: Array.from({ length: 100 }, (_, index) => String(13_900_000_000 + index)),
      }),
    ],
    'batches of domains': [
      post(domainCheck.path, {
        ...own,
        urls: Array.from({ length: 50 }, (_, index) => `https://a${index}.example.com/`),
      }),
    ],
    'lists of the account': [
      post(shortlink.path, { ...own, action: 'list', page_size: 100 }),
      post(sms.path, { ...own, action: 'get_status', phone_number: '13800138001' }),
    ],
    ...bodiesOfAMegabyte(own),
    'console lists': [
      get(linkRoutes.list, { q: 'landing', sort: 'clicks' }),
      get(requestRoutes.list, { min_ms: 1 }),
      get(creditRoutes.ledger),
      get(homeRoutes.home),
    ],
    'console exports': [get(linkRoutes.csv), get(requestRoutes.csv), get(creditRoutes.ledgerCsv)],
    'console writes': [
      {
        method: 'POST',
        path: pathOf(creditRoutes.previewCode),
        headers: {
          ...json,
          cookie: visitor.cookie ?? '',
          'x-csrf-token': visitor.csrf ?? '',
          origin: serviceUrl,
        },
        body: '{"code":"AAAAAAAAAAAAAAAA"}',
      },
    ],
    'health probes': ['/readyz', '/livez', '/metrics'].map((path) => ({ method: 'GET', path, headers: {} })),
    'unknown links': Array.from({ length: 500 }, (_, index) => ({
      method: 'GET',
      path: `/${(56_800_235_584 * 0.9 + index * 7_919).toString(36).slice(-7).padStart(7, 'a')}`,
      headers: {},
    })),
    'wrong keys': [
      post(sms.path, { ...own, api_key: `tg_${'x'.repeat(49)}`, action: 'get_credits' }),
      post(sms.path, { username: 'nobody', api_key: 'no key', action: 'get_credits' }),
    ],
    'guessed passwords': Array.from({ length: 50 }, (_, index) => ({
      method: 'POST',
      path: pathOf(sessionRoutes.signIn),
      headers: { ...json, origin: serviceUrl },
      body: JSON.stringify({ username: `nobody${index}`, password: 'wrong password 1' }),
    })),
  }
}

/** Shapes that cost much to decode, from an account and from a stranger. */
function bodiesOfAMegabyte(own: object): Readonly<Record<string, readonly CrowdRequest[]>> {
  const call = { ...own, action: 'generate', title: 't' }
  const list = (item: string) => {
    const items = Math.floor(megabyte / (item.length + 1))
    return `${JSON.stringify(call).slice(0, -1)},"target_url":[${`${item},`.repeat(items).slice(0, -1)}]}`
  }
  const parts = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'
  const body = {
    'long text': JSON.stringify({ ...call, target_url: 'x'.repeat(megabyte) }),
    numbers: list('1'),
    'empty objects': list('{}'),
    escapes: `{"target_url":"${'\\u4e2d'.repeat(Math.floor(megabyte / 6))}"}`,
  }
  const forms = {
    plus: `target_url=${'+'.repeat(megabyte)}`,
    percent: `target_url=${'%41'.repeat(Math.floor(megabyte / 3))}`,
    fields: 'a=1&'.repeat(megabyte / 4),
    brackets: `a${'[b]'.repeat(Math.floor(megabyte / 3))}=1`,
  }
  const kinds: Record<string, readonly CrowdRequest[]> = {}
  for (const [shape, text] of Object.entries(body))
    kinds[`1 MB of JSON, ${shape}`] = [raw(shortlink.path, json, text)]
  for (const [shape, text] of Object.entries(forms))
    kinds[`1 MB of form, ${shape}`] = [raw(shortlink.path, form, text)]
  const multipart = `${parts.repeat(Math.floor(megabyte / parts.length))}--b--`
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  kinds['1 MB of multipart'] = [raw(shortlink.path, headers, multipart)]
  return kinds
}
