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

/** What many visits have in common. The last four are of people only, and empty when unknown. */
export type VisitProfile = readonly [
  hour: number,
  kind: VisitKind,
  device: string,
  browser: string,
  referrer: string,
  os: string,
  app: string,
  country: string,
  province: string,
]

/** Visits as stored in the click journal. A list of numbers is a quarter of the length and takes a quarter of the time to parse. */
export interface JournalVisits {
  readonly profiles: readonly VisitProfile[]
  /** Of each visit its link, the position of its profile, its clicks, and its visitor; null where the visitor is not counted. */
  readonly visits: readonly (number | null)[]
}

const numbersPerVisit = 4

/** Clicks of one visitor as an earlier version stored them. */
export type JournalEntry = readonly [
  linkId: number,
  hour: number,
  kind: VisitKind,
  device: string,
  browser: string,
  referrer: string,
  clicks: number,
  visitor: number | null,
  os?: string,
  app?: string,
  country?: string,
  province?: string,
]

export function fromEntries(entries: readonly JournalEntry[]): JournalVisits {
  const profiles: VisitProfile[] = []
  const visits: (number | null)[] = []
  for (const entry of entries) {
    const [linkId, hour, kind, device, browser, referrer, clicks, visitor] = entry
    const [os = '', app = '', country = '', province = ''] = entry.slice(8) as string[]
    visits.push(linkId, profiles.length, clicks, visitor)
    profiles.push([hour, kind, device, browser, referrer, os, app, country, province])
  }
  return { profiles, visits }
}

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

interface LinkVisits {
  /** Clicks by profile. */
  readonly clicks: Map<VisitProfile, number>
  readonly visitorsByDay: Map<number, Set<number>>
}

export function aggregate(batches: Iterable<JournalVisits>): ClickCounts {
  const counters: ClickCounter[] = []
  const visitors: LinkVisitor[] = []
  const parts: ClickPartCounter[] = []
  for (const [link_id, link] of [...groupByLink(batches)].sort(([a], [b]) => a - b)) {
    const ofLink: ClickCounter[] = []
    const partsOfLink = new Map<string, ClickPartCounter>()
    for (const [profile, clicks] of link.clicks) {
      addClicks(ofLink, link_id, profile, clicks, profile[4])
      addParts(partsOfLink, link_id, profile, clicks)
    }
    for (const counter of ofLink) counters.push(counter)
    for (const part of partsOfLink.values()) parts.push(part)
    for (const [day, ofDay] of link.visitorsByDay) {
      for (const visitor of ofDay) visitors.push({ day, link_id, visitor })
    }
  }
  return { counters, visitors, parts }
}

function groupByLink(batches: Iterable<JournalVisits>): Map<number, LinkVisits> {
  const links = new Map<number, LinkVisits>()
  const known = new Map<string, VisitProfile>()
  for (const { profiles, visits } of batches) {
    const shared = profiles.map((profile) => {
      const name = profile.join(' ')
      if (!known.has(name)) known.set(name, profile)
      return known.get(name)!
    })
    for (let i = 0; i < visits.length; i += numbersPerVisit) {
      const linkId = visits[i]!
      const profile = shared[visits[i + 1]!]!
      let link = links.get(linkId)
      if (link === undefined) {
        link = { clicks: new Map(), visitorsByDay: new Map() }
        links.set(linkId, link)
      }
      link.clicks.set(profile, (link.clicks.get(profile) ?? 0) + visits[i + 2]!)
      const visitor = visits[i + 3]
      if (typeof visitor === 'number') addVisitor(link.visitorsByDay, dayOfHour(profile[0]), visitor)
    }
  }
  return links
}

function addClicks(
  counters: ClickCounter[],
  link_id: number,
  profile: VisitProfile,
  clicks: number,
  referrer: string,
): void {
  const [hour, kind, device, browser] = profile
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
    addClicks(counters, link_id, profile, clicks, otherReferrers)
  } else counters.push({ link_id, hour, kind, device, browser, referrer, clicks })
}

function addParts(
  parts: Map<string, ClickPartCounter>,
  link_id: number,
  profile: VisitProfile,
  clicks: number,
): void {
  const [hour, , , , , os, app, country, province] = profile
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
