// Console routes for short links: list, detail, clicks, exports, create, change, refresh.
import { dayMs, hourMs } from '../../contract/time.ts'
import { linkRoutes, type LinkFilter, type ClickQuery } from '../../contract/console/shortlink.ts'
import type { LinkClicks, LinkDetail, LinkRow } from '../../contract/console/responses/shortlink.ts'
import { shortlink as endpoint } from '../../contract/shortlink.ts'
import type { Services } from '../services.ts'
import type { LinkSearch, LinkStatistics, ListedLink } from './listing/list.ts'
import { joinTags } from './import/columns.ts'
import type { Shortlink } from './api.ts'
import type { SignedInRequest } from '../console/access.ts'
import type { Api } from '../console/routes.ts'
import { callFromConsole } from '../console/call-from-console.ts'
import { csvStream, csvTime, rowsPerCsvPage } from '../console/csv.ts'
import { filterRange, pageRows, type TimeRange, rangeOf, toPage } from '../console/fields.ts'
import { invalidFields, notFound } from '../console/problem.ts'
import { pricesOf } from '../accounts/prices.ts'

const { title: titleParameter } = endpoint.operations.generate.parameters

/** The longest range of hourly statistics. */
const maxHourlyDays = 7

export function linkPages(api: Api, services: Services, links: Shortlink): void {
  const { config, credits } = services

  async function detailOf(request: SignedInRequest, id: number): Promise<LinkDetail> {
    const found = await links.list.find(request.account.id, id)
    if (!found) throw notFound()
    return {
      ...rowOf(found.link),
      retired: found.retired.map(({ code, retired_at }) => ({ short_code: code, retired_at })),
    }
  }

  async function paid(request: SignedInRequest, response: { body: unknown }, charged: number) {
    const { data } = response.body as { data: { link_id: number } }
    const { remaining } = await credits.balance(request.account.id, 'short_link')
    return { link: await detailOf(request, data.link_id), charged, remaining }
  }

  api.account(linkRoutes.list, async (request, input) => {
    const page = pageRows(input)
    const found = await links.list.page(request.account.id, searchOf(input), page)
    return toPage(page, found.links.map(rowOf), found.total)
  })

  api.accountFile(linkRoutes.csv, async (request, input) => {
    const search = searchOf(input)
    const ids = input.ids?.split(',').map(Number)
    async function* chosen() {
      if (ids) yield await links.list.exportSome(request.account.id, ids)
      else yield* links.list.exportAll(request.account.id, search, rowsPerCsvPage)
    }
    async function* pages() {
      for await (const some of chosen()) {
        yield some.map((link) => [
          link.link_id,
          link.title,
          link.short_code,
          link.a_url,
          link.b_url,
          link.target_url,
          link.redirect_type,
          link.redirect_url_a,
          link.clicks,
          link.bot_clicks,
          link.preview_clicks,
          csvTime(link.created_at),
          csvTime(link.updated_at),
          link.state,
          joinTags(link.tags),
          csvTime(link.expires_at),
          link.expired_url,
          link.max_clicks,
          link.external_id,
          link.domain,
          link.rules.length === 0 ? '' : JSON.stringify(link.rules),
          link.has_password ? 1 : 0,
        ])
      }
    }
    return { name: 'links.csv', content: csvStream(linkHeadings[request.language], pages()) }
  })

  api.account(linkRoutes.one, (request) => detailOf(request, request.id()))

  api.account(linkRoutes.create, async (request, input) => {
    const parameters = { ...input, title: input.title?.trim() || hostOf(input.target_url) }
    const { response } = await callFromConsole(
      services,
      request,
      { endpoint, action: 'generate', parameters },
      links.generate,
    )
    return paid(request, response, pricesOf(request.account, config.PRICES).generate)
  })

  api.account(linkRoutes.change, async (request, input) => {
    const { id, target_url: targetUrl } = await detailOf(request, request.id())
    if (input.title !== undefined && input.title.trim() === '') {
      throw invalidFields({ title: { zh: '必填', en: 'Required' } })
    }
    if (Object.keys(input).length > 0) {
      // `update` requires the target; a change of anything else leaves it as it is.
      const parameters = { link_id: id, target_url: targetUrl, ...input }
      await callFromConsole(services, request, { endpoint, action: 'update', parameters }, links.update)
    }
    return detailOf(request, id)
  })

  api.account(linkRoutes.refresh, async (request) => {
    const { id } = await detailOf(request, request.id())
    const { response } = await callFromConsole(
      services,
      request,
      { endpoint, action: 'execute_update', parameters: { link_id: id } },
      links.refresh,
    )
    return paid(request, response, pricesOf(request.account, config.PRICES).execute_update)
  })

  async function clicksOf(
    request: SignedInRequest,
    input: ClickQuery,
  ): Promise<{ range: TimeRange; clicks: LinkClicks }> {
    const unit = input.unit ?? 'day'
    const limits = unit === 'hour' ? { byDefault: 1, max: maxHourlyDays } : { byDefault: 30, max: 3_660 }
    const range = rangeOf(input, limits)
    const found = await links.list.statistics(request.account.id, request.id(), range)
    if (!found) throw notFound()
    return { range, clicks: clicksIn(range, unit, found) }
  }

  api.account(linkRoutes.clicks, async (request, input) => (await clicksOf(request, input)).clicks)

  api.accountFile(linkRoutes.clicksCsv, async (request, input) => {
    const { range, clicks } = await clicksOf(request, input)
    async function* pages() {
      yield clicks.points.map((point) => [csvTime(point.at), point.person, point.bot, point.preview])
    }
    return {
      name: `clicks-${request.id()}-${range.from}-${range.to}.csv`,
      content: csvStream(clickHeadings[request.language], pages()),
    }
  })
}

const linkHeadings = {
  zh: [
    '编号',
    '标题',
    '短码',
    '主地址 a_url',
    '备用地址 b_url',
    '目标地址',
    '跳转方式',
    'a_url 的跳转地址',
    '访问',
    '机器人',
    '预览',
    '创建时间',
    '修改时间',
    '状态',
    '标签',
    '到期时间',
    '到期后的跳转地址',
    '访问次数上限',
    '外部编号',
    '自有域名',
    '跳转规则',
    '有密码',
  ],
  en: [
    'id',
    'title',
    'code',
    'a_url',
    'b_url',
    'target_url',
    'redirect_type',
    'redirect_url_a',
    'clicks',
    'bots',
    'previews',
    'created',
    'changed',
    'state',
    'tags',
    'expires_at',
    'expired_url',
    'max_clicks',
    'external_id',
    'domain',
    'rules',
    'has_password',
  ],
} as const

const clickHeadings = {
  zh: ['时间', '访问', '机器人', '预览'],
  en: ['time', 'clicks', 'bots', 'previews'],
} as const

function searchOf(input: LinkFilter): LinkSearch {
  return {
    q: input.q,
    redirectType: input.redirect_type,
    tag: input.tag,
    state: input.state,
    sort: input.sort ?? 'created',
    order: input.order ?? (input.sort === 'title' ? 'asc' : 'desc'),
    ...filterRange(input),
  }
}

function rowOf({ link_id: id, ...link }: ListedLink): LinkRow {
  return { id, ...link }
}

/** The default title. An invalid URL is rejected by the API's own rule. */
function hostOf(target: string): string {
  return URL.parse(target.trim())?.host || target.trim().slice(0, titleParameter.maxLength)
}

function clicksIn(range: TimeRange, unit: 'day' | 'hour', found: LinkStatistics): LinkClicks {
  const unitMs = unit === 'day' ? dayMs : hourMs
  const points = Array.from({ length: Math.round((range.end - range.start) / unitMs) }, (_one, index) => ({
    at: range.start + index * unitMs,
    person: 0,
    bot: 0,
    preview: 0,
  }))
  for (const { hour, kind, clicks } of found.hours) {
    const point = points[Math.floor((hour * hourMs - range.start) / unitMs)]
    if (point) point[kind] += clicks
  }
  const { referrers, devices, browsers } = found
  return { from: range.from, to: range.to, unit, points, referrers, devices, browsers }
}
