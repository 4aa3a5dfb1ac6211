// The list of an account's links: searched, filtered, sorted, a page at a time. A million links never hold anyone up.
import type { RedirectType } from '../../../contract/shortlink.ts'
import type { Database } from '../../db/database.ts'
import { hourOf, dayOfHour, firstHourOfDay } from '../clicks/hours.ts'
import {
  countSome,
  findDaily,
  findIdsByAge,
  findIdsByClicks,
  findLinks,
  findShares,
  findSlice,
  findHours,
  findTotals,
  idRangeOf,
  type HourRow,
  type IdRange,
  type NamedClicks,
  type SliceRow,
  type SliceSearch,
} from './store.ts'
import type { Codes } from '../codes/store.ts'
import type { LinkRecord, Links } from '../links.ts'
import { findOwnLink, findOwnLinkByCode, listRetiredCodes, type Link, type RetiredCode } from '../store.ts'

export interface LinkSearch {
  /** Part of the title or of the target, or a whole code. */
  readonly q?: string | undefined
  readonly redirectType?: RedirectType | undefined
  /** Made from this millisecond on, and before that one. */
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly sort: 'created' | 'clicks' | 'title'
  readonly order: 'asc' | 'desc'
}

export interface ListedLink extends Omit<LinkRecord, 'created_at'> {
  readonly clicks: number
  readonly bot_clicks: number
  readonly preview_clicks: number
  /** People's visits of the last 14 days, today last. */
  readonly daily: readonly number[]
  readonly created_at: number
  readonly updated_at: number
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
  /** Everything that fits for a file, the newest first, so many at a time. */
  all(accountId: number, search: LinkSearch): AsyncIterable<ListedLink[]>
  find(
    accountId: number,
    id: number,
  ): Promise<{ link: ListedLink; retired: readonly RetiredCode[] } | undefined>
  /** Undefined when there is no such link of this account. */
  statistics(
    accountId: number,
    id: number,
    range: { start: number; end: number },
  ): Promise<LinkStatistics | undefined>
}

const sparkDays = 14

/** One statement looks at so many links; between two of them everyone else has a turn. */
const perSlice = 4_000
const perCount = 50_000

const perFilePage = 500

/** Of a search or an unusual order so many are kept in hand. The count goes on beyond them. */
const mostRanked = 5_000

/** How long something that took long to find out is remembered. */
const freshMs = 15_000
const longMs = 50
const mostRemembered = 100

export function createLinkList(
  db: Database,
  codes: Codes,
  links: Links,
  flush: (linkId: number) => Promise<void>,
): LinkList {
  const memory = new Map<string, { readonly at: number; readonly result: Promise<unknown> }>()

  async function idsOf(
    accountId: number,
    search: LinkSearch,
    page: { limit: number; offset: number },
  ): Promise<{ ids: readonly number[]; total: number }> {
    const { text, redirectType } = sliceSearch(search)
    const isPlain = text === undefined && redirectType === undefined
    const isOfAllDays = search.start === undefined && search.end === undefined
    if (isPlain && (search.sort === 'created' || (search.sort === 'clicks' && isOfAllDays))) {
      const range = await idRangeOf(db, search)
      const wanted = { ...page, order: search.order }
      const ids =
        search.sort === 'created'
          ? await findIdsByAge(db, accountId, range, wanted)
          : await findIdsByClicks(db, accountId, wanted)
      const total = await remembered(JSON.stringify([accountId, range]), () => countAll(accountId, range))
      return { ids, total }
    }
    const walked = await remembered(JSON.stringify([accountId, search]), () => walk(accountId, search))
    return { ids: walked.ids.slice(page.offset, page.offset + page.limit), total: walked.total }
  }

  /** What was quick is made anew each time and never out of date; what took long is good for the next pages too. */
  function remembered<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = memory.get(key)
    if (known && performance.now() - known.at < freshMs) return known.result as Promise<T>
    const result = make()
    if (memory.size >= mostRemembered) memory.delete(memory.keys().next().value!)
    const entry = { at: performance.now(), result }
    memory.set(key, entry)
    const forget = () => void (memory.get(key) === entry && memory.delete(key))
    result.then(() => {
      if (performance.now() - entry.at < longMs) forget()
    }, forget)
    return result
  }

  async function countAll(accountId: number, range: IdRange): Promise<number> {
    let total = 0
    let from = range.from
    for (;;) {
      const { count, last } = await countSome(db, accountId, { from, to: range.to }, perCount)
      total += count
      if (count < perCount || last === null) return total
      from = last + 1
      await letOthersIn()
    }
  }

  async function walk(
    accountId: number,
    search: LinkSearch,
  ): Promise<{ ids: readonly number[]; total: number }> {
    const wanted = sliceSearch(search)
    const compare = comparison(search)
    // Without a filter everything fits, so what cannot come to the front need not even be read.
    const isPlain = wanted.text === undefined && wanted.redirectType === undefined
    let kept: SliceRow[] = []
    const byCode = search.q === undefined ? undefined : await findByCode(accountId, search)
    let range: IdRange = await idRangeOf(db, search)
    let total = isPlain ? await countAll(accountId, range) : 0
    let worst: SliceRow | undefined
    for (;;) {
      const better = isPlain && worst ? { ...search, than: worst } : undefined
      const { rows, next } = await findSlice(db, accountId, range, { ...wanted, better }, perSlice)
      if (!isPlain) total += rows.length
      kept = kept.concat(rows)
      if (kept.length > 2 * mostRanked) {
        kept = kept.sort(compare).slice(0, mostRanked)
        worst = kept.at(-1)
      }
      if (next === undefined) break
      range = { from: range.from, to: next }
      await letOthersIn()
    }
    if (byCode && !kept.some(({ id }) => id === byCode.id)) {
      total += 1
      kept.push({ id: byCode.id, title: byCode.title, clicks: 0 })
    }
    const ids = kept
      .sort(compare)
      .slice(0, mostRanked)
      .map(({ id }) => id)
    return { ids, total }
  }

  /** A whole code finds its link, if the other filters let it. */
  async function findByCode(accountId: number, search: LinkSearch): Promise<Link | undefined> {
    const link = await findOwnLinkByCode(db, accountId, search.q?.trim() ?? '', codes)
    if (!link) return undefined
    if (search.redirectType !== undefined && link.redirect_type !== search.redirectType) return undefined
    if (search.start !== undefined && link.created_at < search.start) return undefined
    return search.end !== undefined && link.created_at >= search.end ? undefined : link
  }

  async function describe(accountId: number, ids: readonly number[]): Promise<ListedLink[]> {
    if (ids.length === 0) return []
    const today = dayOfHour(hourOf(Date.now()))
    const firstDay = today - sparkDays + 1
    const found = new Map((await findLinks(db, accountId, ids)).map((link) => [link.id, link]))
    const totals = new Map(
      (await findTotals(db, ids)).map((row) => [`${row.link_id} ${row.kind}`, row.clicks]),
    )
    const daily = new Map(
      (await findDaily(db, ids, firstHourOfDay(firstDay))).map((row) => [
        `${row.link_id} ${row.day}`,
        row.clicks,
      ]),
    )
    return ids.flatMap((id) => {
      const link = found.get(id)
      if (!link) return []
      return [
        {
          ...links.describe(link),
          clicks: totals.get(`${id} person`) ?? 0,
          bot_clicks: totals.get(`${id} bot`) ?? 0,
          preview_clicks: totals.get(`${id} preview`) ?? 0,
          daily: Array.from(
            { length: sparkDays },
            (_one, index) => daily.get(`${id} ${firstDay + index}`) ?? 0,
          ),
          created_at: link.created_at,
          updated_at: link.updated_at,
        },
      ]
    })
  }

  return {
    async page(accountId, search, page) {
      const { ids, total } = await idsOf(accountId, search, page)
      return { links: await describe(accountId, ids), total }
    },
    async *all(accountId, search) {
      const wanted = { ...sliceSearch(search), withClicks: false }
      const byCode = search.q === undefined ? undefined : await findByCode(accountId, search)
      if (byCode) yield await describe(accountId, [byCode.id])
      let range: IdRange = await idRangeOf(db, search)
      for (;;) {
        const { rows, next } = await findSlice(db, accountId, range, wanted, perFilePage)
        const ids = rows.map(({ id }) => id).filter((id) => id !== byCode?.id)
        if (ids.length > 0)
          yield await describe(
            accountId,
            ids.sort((a, b) => b - a),
          )
        if (next === undefined) return
        range = { from: range.from, to: next }
      }
    },
    async find(accountId, id) {
      const link = await findOwnLink(db, accountId, id)
      if (!link) return undefined
      // The visits that still wait in memory belong to the picture; a failed write only makes it lag.
      await flush(id).catch(() => undefined)
      const [listed] = await describe(accountId, [id])
      return listed && { link: listed, retired: await listRetiredCodes(db, id, codes) }
    },
    async statistics(accountId, id, { start, end }) {
      if (!(await findOwnLink(db, accountId, id))) return undefined
      await flush(id).catch(() => undefined)
      const hours = { fromHour: hourOf(start), toHour: hourOf(end) }
      return {
        hours: await findHours(db, id, hours),
        referrers: await findShares(db, id, hours, 'referrer'),
        devices: await findShares(db, id, hours, 'device'),
        browsers: await findShares(db, id, hours, 'browser'),
      }
    },
  }
}

/** Reads of the embedded engine answer in the same turn of the event loop. */
function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function sliceSearch({ q, redirectType, sort }: LinkSearch): SliceSearch {
  const text = q?.trim().toLowerCase()
  return { text: text === '' ? undefined : text, redirectType, withClicks: sort === 'clicks' }
}

function comparison({ sort, order }: LinkSearch): (a: SliceRow, b: SliceRow) => number {
  const direction = order === 'asc' ? 1 : -1
  return (a, b) => {
    const first =
      sort === 'clicks' ? a.clicks - b.clicks : sort === 'title' ? byCodePoint(a.title, b.title) : 0
    return direction * (first || a.id - b.id)
  }
}

/** As both databases compare bytes of UTF-8; the halves of a surrogate pair stand lower than they should. */
function byCodePoint(a: string, b: string): number {
  const rank = (unit: number) => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit)
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i += 1) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
