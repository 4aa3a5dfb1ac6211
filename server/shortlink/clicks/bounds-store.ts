// Bounds the counters and visitors that one link can add in a day: clients can send any referrer and any browser.
//
// It reads before the transaction that counts, so several processes can exceed the bounds by one fold each.
import type { Queries } from '../../db/database.ts'
import { valueTable } from '../../db/dialect.ts'
import type { Tables } from '../../db/schema.ts'
import {
  type ClickCounter,
  type ClickCounts,
  isNamed,
  type LinkVisitor,
  maxNamedPerHour,
  maxReferrersPerDay,
  maxVisitorsPerDay,
  otherReferrers,
} from './counts.ts'
import { dayOfHour, firstHourOfDay, hoursPerDay } from './hours.ts'

export async function boundCounts(queries: Queries, counts: ClickCounts): Promise<ClickCounts> {
  return {
    counters: await boundCounters(queries, counts.counters),
    visitors: await boundVisitors(queries, counts.visitors),
    // Their values are few, whatever clients send.
    parts: counts.parts ?? [],
  }
}

const linkDay = (linkId: number, day: number) => `${linkId} ${day}`
const keyOf = (one: Omit<ClickCounter, 'clicks'>) =>
  `${one.link_id} ${one.hour} ${one.kind} ${one.device} ${one.browser} ${one.referrer}`

async function boundCounters(
  queries: Queries,
  counters: readonly ClickCounter[],
): Promise<readonly ClickCounter[]> {
  const named = counters.filter(({ referrer }) => isNamed(referrer))
  if (named.length === 0) return counters
  const { keys, rowsByHour } = await findHours(queries, named)
  const referrersByDay = await findReferrers(queries, named)
  const bounded = new Map<string, ClickCounter>()
  for (const counter of counters) {
    const kept =
      isNamed(counter.referrer) && !claim(counter) ? { ...counter, referrer: otherReferrers } : counter
    const key = keyOf(kept)
    const known = bounded.get(key)
    bounded.set(key, known ? { ...known, clicks: known.clicks + kept.clicks } : kept)
  }
  return [...bounded.values()]

  /** Whether the counter exists or may be added. */
  function claim(counter: ClickCounter): boolean {
    if (keys.has(keyOf(counter))) return true
    const { link_id: linkId, hour, referrer } = counter
    const referrers = referrersByDay.get(linkDay(linkId, dayOfHour(hour))) ?? new Set()
    const rows = rowsByHour.get(`${linkId} ${hour}`) ?? 0
    const isFull = !referrers.has(referrer) && referrers.size >= maxReferrersPerDay
    if (isFull || rows >= maxNamedPerHour) return false
    referrersByDay.set(linkDay(linkId, dayOfHour(hour)), referrers.add(referrer))
    rowsByHour.set(`${linkId} ${hour}`, rows + 1)
    return true
  }
}

type StoredKey = Omit<Tables['link_click'], 'clicks'>

/** The counters with a referrer that exist in the hours of these ones. */
async function findHours(
  queries: Queries,
  counters: readonly ClickCounter[],
): Promise<{ keys: Set<string>; rowsByHour: Map<string, number> }> {
  const hours = new Map(
    counters.map(({ link_id, hour }) => [`${link_id} ${hour}`, { wanted_id: link_id, wanted_hour: hour }]),
  )
  const list = valueTable(queries, { wanted_id: 'bigint', wanted_hour: 'bigint' }, [...hours.values()])
  const rows = await queries.all<StoredKey>(
    `SELECT c.link_id, c.hour, c.kind, c.device, c.browser, c.referrer FROM ${list.sql} AS t
     JOIN link_click c ON c.link_id = t.wanted_id AND c.hour = t.wanted_hour
     WHERE c.referrer NOT IN ('', '${otherReferrers}')`,
    list.values,
  )
  const rowsByHour = new Map<string, number>()
  for (const { link_id, hour } of rows) {
    rowsByHour.set(`${link_id} ${hour}`, (rowsByHour.get(`${link_id} ${hour}`) ?? 0) + 1)
  }
  return { keys: new Set(rows.map(keyOf)), rowsByHour }
}

/** The referrers of the days of these counters. */
async function findReferrers(
  queries: Queries,
  counters: readonly ClickCounter[],
): Promise<Map<string, Set<string>>> {
  const days = new Map(
    counters.map(({ link_id, hour }) => {
      const day = dayOfHour(hour)
      return [linkDay(link_id, day), { wanted_id: link_id, wanted_day: day, first_hour: firstHourOfDay(day) }]
    }),
  )
  const columns = { wanted_id: 'bigint', wanted_day: 'bigint', first_hour: 'bigint' } as const
  const list = valueTable(queries, columns, [...days.values()])
  const rows = await queries.all<{ link_id: number; day: number; referrer: string }>(
    `SELECT DISTINCT t.wanted_id AS link_id, t.wanted_day AS day, c.referrer FROM ${list.sql} AS t
     JOIN link_click c ON c.link_id = t.wanted_id AND c.hour >= t.first_hour AND c.hour < t.first_hour + ${hoursPerDay}
     WHERE c.referrer NOT IN ('', '${otherReferrers}')`,
    list.values,
  )
  const referrers = new Map<string, Set<string>>()
  for (const { link_id, day, referrer } of rows) {
    const name = linkDay(link_id, day)
    referrers.set(name, (referrers.get(name) ?? new Set()).add(referrer))
  }
  return referrers
}

async function boundVisitors(
  queries: Queries,
  visitors: readonly LinkVisitor[],
): Promise<readonly LinkVisitor[]> {
  if (visitors.length === 0) return visitors
  const days = new Map(
    visitors.map(({ link_id, day }) => [linkDay(link_id, day), { wanted_id: link_id, wanted_day: day }]),
  )
  const list = valueTable(queries, { wanted_id: 'bigint', wanted_day: 'bigint' }, [...days.values()])
  const rows = await queries.all<{ link_id: number; day: number; visitors: number }>(
    `SELECT v.link_id, v.day, COUNT(*) AS visitors FROM ${list.sql} AS t
     JOIN link_visitor v ON v.day = t.wanted_day AND v.link_id = t.wanted_id
     GROUP BY v.link_id, v.day HAVING COUNT(*) >= ${maxVisitorsPerDay}`,
    list.values,
  )
  const full = new Set(rows.map(({ link_id, day }) => linkDay(link_id, day)))
  return full.size === 0 ? visitors : visitors.filter((one) => !full.has(linkDay(one.link_id, one.day)))
}
