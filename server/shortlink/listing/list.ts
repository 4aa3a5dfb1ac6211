// The list of an account's links: search, filters, sorting, pages. With a million links no query blocks the event loop for long.
import { LRUCache } from 'lru-cache'
import type { LinkState, RedirectType } from '../../../contract/shortlink.ts'
import type { Queries } from '../../db/database.ts'
import { hourOf, dayOfHour, firstHourOfDay } from '../clicks/hours.ts'
import { type Analytics, readAnalytics } from './analytics.ts'
import type { StatLinks } from './stats.ts'
import {
  countLinks,
  listDaily,
  listIdsByAge,
  listIdsByClicks,
  listLinks,
  listShares,
  listTags,
  findSlice,
  listHours,
  listTotals,
  findIdRange,
  type HourRow,
  type IdRange,
  type NamedClicks,
  type SliceRow,
  type SliceSearch,
} from './store.ts'
import type { Codes } from '../codes/store.ts'
import type { LinkRecord, Links } from '../links.ts'
import { readTags, stateOf } from '../options/record.ts'
import { findOwnLink, findOwnLinkByCode, listRetiredCodes, type Link, type RetiredCode } from '../store.ts'

export interface LinkSearch {
  /** Part of the title or of the target, or a whole code. */
  readonly q?: string | undefined
  readonly redirectType?: RedirectType | undefined
  readonly tag?: string | undefined
  readonly state?: LinkState | undefined
  /** Created from this millisecond on, and before `end`. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly sort: 'created' | 'clicks' | 'title'
  readonly order: 'asc' | 'desc'
}

export interface ExportedLink extends Omit<LinkRecord, 'created_at' | 'expires_at'> {
  readonly clicks: number
  readonly bot_clicks: number
  readonly preview_clicks: number
  readonly created_at: number
  readonly updated_at: number
  readonly expires_at: number | null
}

export interface ListedLink extends ExportedLink {
  /** People's clicks of the last 14 days, today last. */
  readonly daily: readonly number[]
}

export interface LinkStatistics {
  readonly hours: readonly HourRow[]
  readonly referrers: readonly NamedClicks[]
  readonly devices: readonly NamedClicks[]
  readonly browsers: readonly NamedClicks[]
}

export interface LinkList {
  page(
    accountId: number,
    search: LinkSearch,
    page: { limit: number; offset: number },
  ): Promise<{ links: ListedLink[]; total: number }>
  /** All matches, the newest first, at most `limit` at a time. */
  exportAll(accountId: number, search: LinkSearch, limit: number): AsyncIterable<ExportedLink[]>
  /** Those of the account, in this order. */
  exportSome(accountId: number, ids: readonly number[]): Promise<ExportedLink[]>
  tags(accountId: number): Promise<string[]>
  find(
    accountId: number,
    id: number,
  ): Promise<{ link: ListedLink; retired: readonly RetiredCode[] } | undefined>
  /** The caller has checked whose link it is. */
  analytics(links: StatLinks, range: { start: number; end: number }): Promise<Analytics>
  /** Undefined when the account has no such link. */
  statistics(
    accountId: number,
    id: number,
    range: { start: number; end: number },
  ): Promise<LinkStatistics | undefined>
}

const dailyDays = 14

/** Links that one query reads; between two queries other requests run. */
const linksPerSlice = 4_000
const linksPerCount = 50_000

const maxTags = 200

/** Matches that a search keeps; it counts all. */
const maxMatches = 5_000

/** Results that took longer than `slowMs` are cached for the next pages. */
const slowMs = 50
const cacheMs = 15_000
const maxCachedResults = 100

export function createLinkList(
  db: Queries,
  codes: Codes,
  links: Links,
  flush: (linkId?: number) => Promise<void>,
): LinkList {
  const cache = new LRUCache<string, Promise<unknown>>({ max: maxCachedResults, ttl: cacheMs })

  async function findIds(
    accountId: number,
    search: LinkSearch,
    page: { limit: number; offset: number },
  ): Promise<{ ids: readonly number[]; total: number }> {
    const isUnfiltered = hasNoFilter(readSearch(search))
    const hasNoRange = search.start === undefined && search.end === undefined
    if (isUnfiltered && (search.sort === 'created' || (search.sort === 'clicks' && hasNoRange))) {
      const range = await findIdRange(db, search)
      const query = { ...page, order: search.order }
      const ids =
        search.sort === 'created'
          ? await listIdsByAge(db, accountId, range, query)
          : await listIdsByClicks(db, accountId, query)
      const total = await cachedIfSlow(JSON.stringify([accountId, range]), () => countAll(accountId, range))
      return { ids, total }
    }
    const found = await cachedIfSlow(JSON.stringify([accountId, search]), () => searchAll(accountId, search))
    return { ids: found.ids.slice(page.offset, page.offset + page.limit), total: found.total }
  }

  /** Fast results are computed each time and always current. */
  function cachedIfSlow<T>(key: string, compute: () => Promise<T>): Promise<T> {
    const known = cache.get(key)
    if (known) return known as Promise<T>
    const startedAt = performance.now()
    const result = compute()
    cache.set(key, result)
    const forget = () => void (cache.peek(key) === result && cache.delete(key))
    result.then(() => {
      if (performance.now() - startedAt < slowMs) forget()
    }, forget)
    return result
  }

  async function countAll(accountId: number, range: IdRange): Promise<number> {
    let total = 0
    let from = range.from
    for (;;) {
      const { count, last } = await countLinks(db, accountId, { from, to: range.to }, linksPerCount)
      total += count
      if (count < linksPerCount || last === null) return total
      from = last + 1
      await yieldToEventLoop()
    }
  }

  async function searchAll(
    accountId: number,
    search: LinkSearch,
  ): Promise<{ ids: readonly number[]; total: number }> {
    const query = readSearch(search)
    const compare = createComparison(search)
    // Without a filter all links match, so links after the last match need not be read.
    const isUnfiltered = hasNoFilter(query)
    let matches: SliceRow[] = []
    const byCode = search.q === undefined ? undefined : await findByCode(accountId, search)
    let range: IdRange = await findIdRange(db, search)
    let total = isUnfiltered ? await countAll(accountId, range) : 0
    let lastMatch: SliceRow | undefined
    for (;;) {
      const { sort, order } = search
      const notAfter =
        isUnfiltered && lastMatch && sort !== 'created' ? { sort, order, row: lastMatch } : undefined
      const { rows, next } = await findSlice(db, accountId, range, { ...query, notAfter }, linksPerSlice)
      if (!isUnfiltered) total += rows.length
      matches = matches.concat(rows)
      if (matches.length > 2 * maxMatches) {
        matches = matches.sort(compare).slice(0, maxMatches)
        lastMatch = matches.at(-1)
      }
      if (next === undefined) break
      range = { from: range.from, to: next }
      await yieldToEventLoop()
    }
    if (byCode && !matches.some(({ id }) => id === byCode.id)) {
      total += 1
      const [counted] = query.withClicks ? await listTotals(db, [byCode.id]) : []
      matches.push({ id: byCode.id, title: byCode.title, clicks: counted?.clicks ?? 0 })
    }
    const ids = matches
      .sort(compare)
      .slice(0, maxMatches)
      .map(({ id }) => id)
    return { ids, total }
  }

  /** Finds a link by its whole code, if it matches the other filters. */
  async function findByCode(accountId: number, search: LinkSearch): Promise<Link | undefined> {
    const link = await findOwnLinkByCode(db, accountId, search.q?.trim() ?? '', codes)
    if (!link) return undefined
    if (search.redirectType !== undefined && link.redirect_type !== search.redirectType) return undefined
    if (search.tag !== undefined && !readTags(link).includes(search.tag)) return undefined
    if (search.state !== undefined && stateOf(link, Date.now()) !== search.state) return undefined
    if (search.start !== undefined && link.created_at < search.start) return undefined
    return search.end !== undefined && link.created_at >= search.end ? undefined : link
  }

  async function exportSome(accountId: number, ids: readonly number[]): Promise<ExportedLink[]> {
    if (ids.length === 0) return []
    const found = new Map((await listLinks(db, accountId, ids)).map((link) => [link.id, link]))
    const totals = new Map((await listTotals(db, ids)).map((row) => [row.link_id, row]))
    return ids.flatMap((id) => {
      const link = found.get(id)
      if (!link) return []
      return [
        {
          ...links.describe(link),
          clicks: totals.get(id)?.clicks ?? 0,
          bot_clicks: totals.get(id)?.bots ?? 0,
          preview_clicks: totals.get(id)?.previews ?? 0,
          created_at: link.created_at,
          updated_at: link.updated_at,
          expires_at: link.expires_at,
        },
      ]
    })
  }

  async function describe(accountId: number, ids: readonly number[]): Promise<ListedLink[]> {
    if (ids.length === 0) return []
    const firstDay = dayOfHour(hourOf(Date.now())) - dailyDays + 1
    const listed = (await exportSome(accountId, ids)).map((link) => ({
      ...link,
      daily: Array.from({ length: dailyDays }, () => 0),
    }))
    const byId = new Map(listed.map((link) => [link.link_id, link]))
    for (const { link_id: id, day, clicks } of await listDaily(db, ids, firstHourOfDay(firstDay))) {
      const daily = byId.get(id)?.daily
      if (daily && day - firstDay < dailyDays) daily[day - firstDay] = clicks
    }
    return listed
  }

  return {
    async page(accountId, search, page) {
      const { ids, total } = await findIds(accountId, search, page)
      return { links: await describe(accountId, ids), total }
    },
    async *exportAll(accountId, search, limit) {
      const query = { ...readSearch(search), withClicks: false }
      const byCode = search.q === undefined ? undefined : await findByCode(accountId, search)
      if (byCode) yield await exportSome(accountId, [byCode.id])
      let range: IdRange = await findIdRange(db, search)
      for (;;) {
        const { rows, next } = await findSlice(db, accountId, range, query, limit)
        const ids = rows.map(({ id }) => id).filter((id) => id !== byCode?.id)
        if (ids.length > 0)
          yield await exportSome(
            accountId,
            ids.sort((a, b) => b - a),
          )
        if (next === undefined) return
        range = { from: range.from, to: next }
      }
    },
    exportSome,
    tags: (accountId) => listTags(db, accountId, maxTags),
    async find(accountId, id) {
      const link = await findOwnLink(db, accountId, id)
      if (!link) return undefined
      // Includes the clicks that this process has not counted yet. When that fails, the counts are a little older.
      await flush(id).catch(() => undefined)
      const [listed] = await describe(accountId, [id])
      return listed && { link: listed, retired: await listRetiredCodes(db, id, codes) }
    },
    async analytics(wanted, range) {
      await flush('id' in wanted ? wanted.id : undefined).catch(() => undefined)
      return readAnalytics(db, wanted, range)
    },
    async statistics(accountId, id, { start, end }) {
      if (!(await findOwnLink(db, accountId, id))) return undefined
      await flush(id).catch(() => undefined)
      const hours = { fromHour: hourOf(start), toHour: hourOf(end) }
      return {
        hours: await listHours(db, id, hours),
        referrers: await listShares(db, id, hours, 'referrer'),
        devices: await listShares(db, id, hours, 'device'),
        browsers: await listShares(db, id, hours, 'browser'),
      }
    },
  }
}

/** Reads of SQLite are synchronous. */
function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function readSearch({ q, redirectType, tag, state, sort }: LinkSearch): SliceSearch {
  const text = q?.trim()
  return { text: text === '' ? undefined : text, redirectType, tag, state, withClicks: sort === 'clicks' }
}

function hasNoFilter({ text, redirectType, tag, state }: SliceSearch): boolean {
  return text === undefined && redirectType === undefined && tag === undefined && state === undefined
}

function createComparison({ sort, order }: LinkSearch): (a: SliceRow, b: SliceRow) => number {
  const direction = order === 'asc' ? 1 : -1
  return (a, b) => {
    const first =
      sort === 'clicks' ? a.clicks - b.clicks : sort === 'title' ? byCodePoint(a.title, b.title) : 0
    return direction * (first || a.id - b.id)
  }
}

/** The order of UTF-8 bytes, as in both databases; JavaScript sorts surrogate pairs lower. */
function byCodePoint(a: string, b: string): number {
  const rank = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit)
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
