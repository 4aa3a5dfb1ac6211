// Short links in the console: the list, one link with its history and clicks, and what its owner does with it by hand.
import { dayMs, hourMs } from '../../contract/time.ts'
import { type Static, Type } from 'typebox'
import {
  type LinkClicks,
  type LinkDetail,
  linkRoutes,
  type LinkRow,
} from '../../contract/console/shortlink.ts'
import { redirectTypes, shortlink as endpoint } from '../../contract/shortlink.ts'
import type { Services } from '../services.ts'
import type { LinkSearch, LinkStatistics, ListedLink } from './listing/list.ts'
import type { Shortlink } from './api.ts'
import type { Api, SignedInAsk } from '../console/routes.ts'
import { byHand } from '../console/call-from-console.ts'
import { csvStream, csvTime } from '../console/csv.ts'
import { dayRange, filterRange, nothing, page, type Range, rangeOf } from '../console/fields.ts'
import { invalidFields, notFound } from '../console/problem.ts'

const { target_url, title: titleParameter } = endpoint.operations.generate.parameters

const redirectType = Type.Enum([...redirectTypes])

const filter = {
  ...dayRange,
  q: Type.Optional(Type.String({ maxLength: 200 })),
  redirect_type: Type.Optional(redirectType),
  sort: Type.Optional(Type.Enum(['created', 'clicks', 'title'])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
}

const filterOnly = Type.Object(filter)

// Longer than what is allowed, so that the product's own words say what is.
const url = Type.String({ minLength: 1, maxLength: 2 * target_url.maxLength })
const title = Type.String({ maxLength: 2 * titleParameter.maxLength })

const newLink = Type.Object({
  target_url: url,
  title: Type.Optional(title),
  redirect_type: Type.Optional(redirectType),
  redirect_url_a: Type.Optional(Type.String({ maxLength: 2 * target_url.maxLength })),
})

const linkChange = Type.Object({ target_url: Type.Optional(url), title: Type.Optional(title) })

const clickQuery = Type.Object({ ...dayRange, unit: Type.Optional(Type.Enum(['day', 'hour'])) })

/** By the hour, a range longer than this is no longer a picture. */
const mostHourDays = 7

export function linkPages(api: Api, services: Services, links: Shortlink): void {
  const { config, credits } = services

  async function detailOf(ask: SignedInAsk, id: number): Promise<LinkDetail> {
    const found = await links.list.find(ask.account.id, id)
    if (!found) throw notFound()
    return {
      ...rowOf(found.link),
      retired: found.retired.map(({ code, retired_at }) => ({ short_code: code, retired_at })),
    }
  }

  async function paid(ask: SignedInAsk, answer: { body: unknown }, charged: number) {
    const { data } = answer.body as { data: { link_id: number } }
    const { remaining } = await credits.balance(ask.account.id, 'short_link')
    return { link: await detailOf(ask, data.link_id), charged, remaining }
  }

  api.account(linkRoutes.list, Type.Object({ ...filter, ...page }), async (ask, sent) => {
    const size = sent.size ?? 20
    const number = sent.page ?? 1
    const found = await links.list.page(ask.account.id, searchOf(sent), {
      limit: size,
      offset: (number - 1) * size,
    })
    return { items: found.links.map(rowOf), total: found.total, page: number, size }
  })

  api.accountFile(linkRoutes.csv, filterOnly, async (ask, sent) => {
    const search = searchOf(sent)
    async function* pages() {
      for await (const some of links.list.all(ask.account.id, search)) {
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
        ])
      }
    }
    return { name: 'links.csv', content: csvStream(linkHeadings[ask.language], pages()) }
  })

  api.account(linkRoutes.one, nothing, (ask) => detailOf(ask, ask.id()))

  api.account(linkRoutes.create, newLink, async (ask, sent) => {
    const parameters = { ...sent, title: sent.title?.trim() || hostOf(sent.target_url) }
    const { answer } = await byHand(
      services,
      ask,
      { endpoint, action: 'generate', parameters },
      links.generate,
    )
    return paid(ask, answer, config.PRICES.generate)
  })

  api.account(linkRoutes.change, linkChange, async (ask, sent) => {
    const { id } = await detailOf(ask, ask.id())
    if (sent.title !== undefined && sent.title.trim() === '') {
      throw invalidFields({ title: { zh: '必填', en: 'Required' } })
    }
    if (sent.title !== undefined || sent.target_url !== undefined) {
      const parameters = { link_id: id, ...sent }
      await byHand(services, ask, { endpoint, action: 'update', parameters }, links.update)
    }
    return detailOf(ask, id)
  })

  api.account(linkRoutes.refresh, nothing, async (ask) => {
    const { id } = await detailOf(ask, ask.id())
    const { answer } = await byHand(
      services,
      ask,
      { endpoint, action: 'execute_update', parameters: { link_id: id } },
      links.refresh,
    )
    return paid(ask, answer, config.PRICES.execute_update)
  })

  async function clicksOf(
    ask: SignedInAsk,
    sent: Static<typeof clickQuery>,
  ): Promise<{ range: Range; clicks: LinkClicks }> {
    const unit = sent.unit ?? 'day'
    const limits = unit === 'hour' ? { usual: 1, most: mostHourDays } : { usual: 30, most: 3_660 }
    const range = rangeOf(sent, limits)
    const found = await links.list.statistics(ask.account.id, ask.id(), range)
    if (!found) throw notFound()
    return { range, clicks: clicksIn(range, unit, found) }
  }

  api.account(linkRoutes.clicks, clickQuery, async (ask, sent) => (await clicksOf(ask, sent)).clicks)

  api.accountFile(linkRoutes.clicksCsv, clickQuery, async (ask, sent) => {
    const { range, clicks } = await clicksOf(ask, sent)
    async function* pages() {
      yield clicks.points.map((point) => [csvTime(point.at), point.person, point.bot, point.preview])
    }
    return {
      name: `clicks-${ask.id()}-${range.from}-${range.to}.csv`,
      content: csvStream(clickHeadings[ask.language], pages()),
    }
  })
}

const linkHeadings = {
  zh: [
    '编号',
    '标题',
    '短码',
    '地址 A',
    '地址 B',
    '目标地址',
    '跳转方式',
    '地址 A 的目标',
    '点击',
    '机器人',
    '预览',
    '创建时间',
    '修改时间',
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
  ],
} as const

const clickHeadings = {
  zh: ['时间', '点击', '机器人', '预览'],
  en: ['time', 'clicks', 'bots', 'previews'],
} as const

function searchOf(sent: Static<typeof filterOnly>): LinkSearch {
  return {
    q: sent.q,
    redirectType: sent.redirect_type,
    sort: sent.sort ?? 'created',
    order: sent.order ?? (sent.sort === 'title' ? 'asc' : 'desc'),
    ...filterRange(sent),
  }
}

function rowOf({ link_id: id, ...link }: ListedLink): LinkRow {
  return { id, ...link }
}

/** What a title is made of when there is none. What is no address gets its message from the product. */
function hostOf(target: string): string {
  return URL.parse(target.trim())?.host || target.trim().slice(0, titleParameter.maxLength)
}

/** Every unit of the range, empty ones too. */
function clicksIn(range: Range, unit: 'day' | 'hour', found: LinkStatistics): LinkClicks {
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
