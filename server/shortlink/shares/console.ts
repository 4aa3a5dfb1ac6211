// Console routes of the statistics of a link or a tag, and of links that share them.
import { type AnalyticsQuery, linkAnalyticsRoutes } from '../../../contract/console/link-analytics.ts'
import type { LinkAnalytics, LinkShare } from '../../../contract/console/responses/link-analytics.ts'
import { analyticsLimits, analyticsParts, sharePath } from '../../../contract/link-analytics.ts'
import { requireNotExpired } from '../../console/call-from-console.ts'
import { csvStream } from '../../console/csv.ts'
import { rangeOf } from '../../console/fields.ts'
import { invalidFields, notFound } from '../../console/problem.ts'
import type { Api } from '../../console/routes.ts'
import type { Services } from '../../services.ts'
import type { Shortlink } from '../api.ts'
import type { ShareSubject } from './shares.ts'
import type { Share } from './store.ts'

export function linkAnalyticsPages(api: Api, services: Services, links: Shortlink): void {
  const { shares, list } = links

  async function read(accountId: number, input: AnalyticsQuery): Promise<LinkAnalytics> {
    const subject = subjectOf(input)
    const range = rangeOf(input, { byDefault: 30, max: analyticsLimits.days })
    if ('tag' in subject) {
      const found = await list.analytics({ accountId, tag: subject.tag }, range)
      return { name: subject.tag, a_url: '', ...found }
    }
    const found = await list.find(accountId, subject.linkId)
    if (!found) throw notFound()
    const { title, a_url } = found.link
    return { name: title, a_url, ...(await list.analytics({ id: subject.linkId }, range)) }
  }

  api.account(linkAnalyticsRoutes.read, ({ account }, input) => read(account.id, input))

  api.accountFile(linkAnalyticsRoutes.csv, async (request, input) => {
    const found = await read(request.account.id, input)
    async function* pages() {
      yield found.days.flatMap(({ day, person, bot, preview }) => [
        ['day', day, person],
        ['bot', day, bot],
        ['preview', day, preview],
      ])
      for (const part of analyticsParts)
        yield found.parts[part].map(({ value, clicks }) => [part, value, clicks])
    }
    return {
      name: `analytics-${input.link ?? 'tag'}-${found.from}-${found.to}.csv`,
      content: csvStream(headings[request.language], pages()),
    }
  })

  api.account(linkAnalyticsRoutes.shares, async ({ account }) => ({
    items: (await shares.list(account.id)).map(describe),
  }))

  api.account(linkAnalyticsRoutes.share, async ({ account }, input) => {
    requireNotExpired(account)
    const subject = subjectOf(input)
    if ('linkId' in subject && !(await list.find(account.id, subject.linkId))) throw notFound()
    const { share, token } = await shares.create(account.id, subject, input.days)
    return { ...describe(share), url: `${services.publicUrl()}${sharePath}${token}` }
  })

  api.account(linkAnalyticsRoutes.revoke, async (request) => {
    if (!(await shares.revoke(request.account.id, request.id()))) throw notFound()
    return {}
  })
}

const headings = { zh: ['分组', '值', '访问'], en: ['group', 'value', 'clicks'] } as const

function subjectOf({ link, tag }: Pick<AnalyticsQuery, 'link' | 'tag'>): ShareSubject {
  const name = tag?.trim() ?? ''
  if ((link === undefined) === (name === '')) {
    throw invalidFields({ tag: { zh: '请指定一个链接或标签', en: 'Name either a link or a tag' } })
  }
  return link === undefined ? { tag: name } : { linkId: link }
}

function describe({ id, link_id: link, tag, expires_at, created_at }: Share): LinkShare {
  return { id, link, tag, expires_at, created_at }
}
