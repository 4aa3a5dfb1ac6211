// Aggregates clicks into counters and unique visitors, in the form of the rows of their tables.
import type { Tables } from '../../db/schema.ts'
import { dayOfHour } from './hours.ts'
import type { VisitKind } from './user-agents.ts'

export type ClickCounter = Tables['link_click']
export type LinkVisitor = Tables['link_visitor']
export type ClickPartCounter = Tables['link_click_part']

/** Each counter and each visitor once, sorted by link. */
export interface ClickCounts {
  readonly counters: readonly ClickCounter[]
  readonly visitors: readonly LinkVisitor[]
  /** Absent in what an earlier version aggregated. */
  readonly parts?: readonly ClickPartCounter[]
}

/** Clicks of one visitor as stored in the click journal: an array is half as long as an object and twice as fast to parse. */
export type JournalEntry = readonly [
  linkId: number,
  hour: number,
  kind: VisitKind,
  device: string,
  browser: string,
  referrer: string,
  clicks: number,
  /** Null: the visitor is not counted. */
  visitor: number | null,
  /** Of people; empty when unknown, and absent in entries of an earlier version. */
  os?: string,
  app?: string,
  country?: string,
  province?: string,
]

/** More counters of one link at a time are counted together as one referrer: clients can send any referrer. */
const maxCountersPerLink = 50
export const otherReferrers = '*'

/** Bounds of the stored counters of one link. What is beyond them counts for `otherReferrers`. */
export const maxReferrersPerDay = 100
export const maxNamedPerHour = 300
export const maxNamedPerDay = 300
/** Further visitors of a day are not counted as unique ones. */
export const maxVisitorsPerDay = 100_000

/** Whether a client chose the referrer freely; the other columns have a few dozen values. */
export function isNamed(referrer: string): boolean {
  return referrer !== '' && referrer !== otherReferrers
}

interface LinkCounts {
  readonly counters: ClickCounter[]
  readonly visitorsByDay: Map<number, Set<number>>
  /** By part, day and value; there are few values of each part. */
  readonly parts: Map<string, ClickPartCounter>
}

export function aggregate(batches: Iterable<readonly JournalEntry[]>): ClickCounts {
  const links = new Map<number, LinkCounts>()
  for (const entries of batches) {
    for (const entry of entries) {
      const [linkId, hour, , , , referrer, , visitor] = entry
      let link = links.get(linkId)
      if (link === undefined) {
        link = { counters: [], visitorsByDay: new Map(), parts: new Map() }
        links.set(linkId, link)
      }
      addClicks(link.counters, entry, referrer)
      addParts(link.parts, entry)
      if (visitor !== null) addVisitor(link.visitorsByDay, dayOfHour(hour), visitor)
    }
  }
  const counters: ClickCounter[] = []
  const visitors: LinkVisitor[] = []
  const parts: ClickPartCounter[] = []
  for (const [link_id, link] of [...links].sort(([a], [b]) => a - b)) {
    for (const counter of link.counters) counters.push(counter)
    for (const part of link.parts.values()) parts.push(part)
    for (const [day, ofDay] of link.visitorsByDay) {
      for (const visitor of ofDay) visitors.push({ day, link_id, visitor })
    }
  }
  return { counters, visitors, parts }
}

function addClicks(counters: ClickCounter[], entry: JournalEntry, referrer: string): void {
  const [link_id, hour, kind, device, browser, , clicks] = entry
  for (const counter of counters) {
    if (
      counter.referrer === referrer &&
      counter.hour === hour &&
      counter.kind === kind &&
      counter.browser === browser &&
      counter.device === device
    ) {
      counter.clicks += clicks
      return
    }
  }
  if (counters.length >= maxCountersPerLink && referrer !== otherReferrers) {
    addClicks(counters, entry, otherReferrers)
  } else counters.push({ link_id, hour, kind, device, browser, referrer, clicks })
}

function addParts(parts: Map<string, ClickPartCounter>, entry: JournalEntry): void {
  const [link_id, hour, , , , , clicks, , os = '', app = '', country = '', province = ''] = entry
  const values = { os, app, country, province }
  const day = dayOfHour(hour)
  for (const part of partNames) {
    const value = values[part]
    if (value === '') continue
    const key = `${part} ${day} ${value}`
    const counter = parts.get(key)
    if (counter) counter.clicks += clicks
    else parts.set(key, { link_id, part, day, value, clicks })
  }
}

/** Sorted, like the rows of the table. */
const partNames = ['app', 'country', 'os', 'province'] as const

function addVisitor(visitorsByDay: Map<number, Set<number>>, day: number, visitor: number): void {
  const ofDay = visitorsByDay.get(day)
  if (ofDay) ofDay.add(visitor)
  else visitorsByDay.set(day, new Set([visitor]))
}

/** Splits counts into parts of at most `size` counters, each with the visitors of its links. */
export function* split(
  { counters, visitors, parts = [] }: ClickCounts,
  size: number,
): Generator<ClickCounts> {
  let firstVisitor = 0
  let firstPart = 0
  for (let start = 0; start < counters.length; start += size) {
    const nextLink = counters[start + size]?.link_id ?? Number.POSITIVE_INFINITY
    let lastVisitor = firstVisitor
    while (lastVisitor < visitors.length && visitors[lastVisitor]!.link_id < nextLink) lastVisitor += 1
    let lastPart = firstPart
    while (lastPart < parts.length && parts[lastPart]!.link_id < nextLink) lastPart += 1
    yield {
      counters: counters.slice(start, start + size),
      visitors: visitors.slice(firstVisitor, lastVisitor),
      parts: parts.slice(firstPart, lastPart),
    }
    firstVisitor = lastVisitor
    firstPart = lastPart
  }
}
