// Aggregates clicks into counters and unique visitors, in the form of the rows of their tables.
import type { Tables } from '../../db/schema.ts'
import { dayOfHour } from './hours.ts'
import type { VisitKind } from './user-agents.ts'

export type ClickCounter = Tables['link_click']
export type LinkVisitor = Tables['link_visitor']

/** Each counter and each visitor once, sorted by link. */
export interface ClickCounts {
  readonly counters: readonly ClickCounter[]
  readonly visitors: readonly LinkVisitor[]
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
}

export function aggregate(batches: Iterable<readonly JournalEntry[]>): ClickCounts {
  const links = new Map<number, LinkCounts>()
  for (const entries of batches) {
    for (const entry of entries) {
      const [linkId, hour, , , , referrer, , visitor] = entry
      let link = links.get(linkId)
      if (link === undefined) {
        link = { counters: [], visitorsByDay: new Map() }
        links.set(linkId, link)
      }
      addClicks(link.counters, entry, referrer)
      if (visitor !== null) addVisitor(link.visitorsByDay, dayOfHour(hour), visitor)
    }
  }
  const counters: ClickCounter[] = []
  const visitors: LinkVisitor[] = []
  for (const [link_id, link] of [...links].sort(([a], [b]) => a - b)) {
    for (const counter of link.counters) counters.push(counter)
    for (const [day, ofDay] of link.visitorsByDay) {
      for (const visitor of ofDay) visitors.push({ day, link_id, visitor })
    }
  }
  return { counters, visitors }
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

function addVisitor(visitorsByDay: Map<number, Set<number>>, day: number, visitor: number): void {
  const ofDay = visitorsByDay.get(day)
  if (ofDay) ofDay.add(visitor)
  else visitorsByDay.set(day, new Set([visitor]))
}

/** Splits counts into parts of at most `size` counters, each with the visitors of its links. */
export function* split({ counters, visitors }: ClickCounts, size: number): Generator<ClickCounts> {
  let firstVisitor = 0
  for (let start = 0; start < counters.length; start += size) {
    const nextLink = counters[start + size]?.link_id ?? Number.POSITIVE_INFINITY
    let lastVisitor = firstVisitor
    while (lastVisitor < visitors.length && visitors[lastVisitor]!.link_id < nextLink) lastVisitor += 1
    yield {
      counters: counters.slice(start, start + size),
      visitors: visitors.slice(firstVisitor, lastVisitor),
    }
    firstVisitor = lastVisitor
  }
}
