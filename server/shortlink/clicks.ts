// Clicks on their way: counted in memory, written together. Counting never waits and never fails a redirect.
import type { Agent, AgentClass } from './agents.ts'
import type { ClickBatch } from './click-store.ts'
import type { ClickWriter } from './click-writer.ts'
import { dayOfHour, hourOf } from './hours.ts'

/** What a crash can lose. */
const flushMs = 500
/** So many clicks are written without waiting for the time. */
const flushClicks = 1_000
/** While the database is away counters wait in memory, but no more than these; then clicks are lost, and counted as lost. */
const mostCounters = 50_000
const mostVisitors = 50_000
/** A link whose clicks come from more places than this at a time has the rest counted together. */
const mostPerLink = 50
export const otherReferrers = '*'

interface Counter {
  readonly agent: AgentClass
  readonly referrer: string
  clicks: number
}

/** Most links have one counter and one visitor at a time: nothing is made for more until there are more. */
interface LinkPage {
  readonly counters: Counter[]
  visitor: Visitor | undefined
  others: Map<string, Visitor> | undefined
}

interface Visitor {
  readonly address: string
  readonly agent: string
}

/** The clicks of one hour. */
interface Page {
  readonly hour: number
  readonly links: Map<number, LinkPage>
}

export interface Visit {
  readonly linkId: number
  readonly agent: Agent
  readonly isLookingAhead: boolean
  readonly referrer: string
  readonly address: string
}

export interface Clicks {
  count(visit: Visit): void
  /** Writes what was counted before the call; at once when nothing of this link waits. */
  flush(linkId?: number): Promise<void>
  start(): void
  stop(): Promise<void>
  readonly lost: () => number
}

export function openClicks(writer: ClickWriter, onError: (error: unknown) => void): Clicks {
  let pages: Page[] = []
  let written: readonly Page[] | undefined
  let lastWrite: Promise<void> = Promise.resolve()
  let unwritten = 0
  let counters = 0
  let visitors = 0
  let lost = 0
  let waiting = false
  let hasFailed = false
  let timer: NodeJS.Timeout | undefined

  function pageOf(hour: number): Page {
    // Pages are one, or two around the full hour: the latest is the one that is wanted.
    for (let index = pages.length - 1; index >= 0; index -= 1) {
      if (pages[index]!.hour === hour) return pages[index]!
    }
    const page: Page = { hour, links: new Map() }
    pages.push(page)
    return page
  }

  function linkPageOf(page: Page, linkId: number): LinkPage {
    let link = page.links.get(linkId)
    if (link === undefined) {
      link = { counters: [], visitor: undefined, others: undefined }
      page.links.set(linkId, link)
    }
    return link
  }

  function add(link: LinkPage, agent: AgentClass, referrer: string, clicks: number): void {
    for (const counter of link.counters) {
      if (counter.agent === agent && counter.referrer === referrer) {
        counter.clicks += clicks
        return
      }
    }
    if (counters >= mostCounters) {
      lost += clicks
    } else if (link.counters.length >= mostPerLink && referrer !== otherReferrers) {
      add(link, agent, otherReferrers, clicks)
    } else {
      link.counters.push({ agent, referrer, clicks })
      counters += 1
    }
  }

  function addVisitor(link: LinkPage, address: string, agent: string): void {
    const first = link.visitor
    if (first !== undefined && first.address === address && first.agent === agent) return
    if (visitors >= mostVisitors) return
    if (first === undefined) {
      link.visitor = { address, agent }
    } else {
      link.others ??= new Map()
      const text = visitorText({ address, agent })
      if (link.others.has(text)) return
      link.others.set(text, { address, agent })
    }
    visitors += 1
  }

  /** Takes what waits and writes it. What could not be written waits again, beside what came meanwhile. */
  async function write(): Promise<void> {
    if (pages.length === 0) return
    const taken = pages
    unwritten = 0
    const takenCounters = counters
    const takenVisitors = visitors
    pages = []
    written = taken
    try {
      await writer.run({ kind: 'add', batch: batchOf(taken) })
      counters -= takenCounters
      visitors -= takenVisitors
    } catch (error) {
      counters -= takenCounters
      visitors -= takenVisitors
      for (const page of taken) putBack(page)
      throw error
    } finally {
      written = undefined
    }
  }

  function putBack(page: Page): void {
    const target = pageOf(page.hour)
    for (const [linkId, link] of page.links) {
      const targetLink = linkPageOf(target, linkId)
      for (const { agent, referrer, clicks } of link.counters) add(targetLink, agent, referrer, clicks)
      for (const { address, agent } of visitorsOf(link)) addVisitor(targetLink, address, agent)
    }
  }

  /** One write at a time, each after the one before, however that ended. */
  function writeNext(): Promise<void> {
    lastWrite = lastWrite.then(write, write)
    return lastWrite
  }

  function writeOnTime(): void {
    if (pages.length === 0 || waiting) return
    waiting = true
    writeNext()
      .then(() => (hasFailed = false))
      .catch((error: unknown) => {
        hasFailed = true
        onError(error)
      })
      .finally(() => (waiting = false))
  }

  /** A full buffer does not wait for the time, unless the database has just refused: then only time may help. */
  function writeWhenFull(): void {
    if (unwritten >= flushClicks && !waiting && !hasFailed) writeOnTime()
  }

  const waits = (list: readonly Page[], linkId: number | undefined) =>
    linkId === undefined ? list.length > 0 : list.some((page) => page.links.has(linkId))

  return {
    count({ linkId, agent, isLookingAhead, referrer, address }) {
      const page = pageOf(hourOf(Date.now()))
      if (counters >= mostCounters && !page.links.has(linkId)) {
        lost += 1
        return
      }
      const link = linkPageOf(page, linkId)
      const agentClass = isLookingAhead ? agent.lookingAhead : agent.usual
      add(link, agentClass, referrer, 1)
      unwritten += 1
      if (agentClass.kind === 'person') addVisitor(link, address, agent.text)
      writeWhenFull()
    },
    async flush(linkId) {
      if (waits(pages, linkId) || (written && waits(written, linkId))) await writeNext()
    },
    start() {
      timer = setInterval(writeOnTime, flushMs).unref()
    },
    async stop() {
      clearInterval(timer)
      await this.flush().catch(onError)
    },
    lost: () => lost,
  }
}

function visitorText({ address, agent }: Visitor): string {
  return `${address}\n${agent}`
}

function* visitorsOf({ visitor, others }: LinkPage): Generator<Visitor> {
  if (visitor) yield visitor
  if (others) yield* others.values()
}

function batchOf(pages: readonly Page[]): ClickBatch {
  const linkIds: number[] = []
  const hours: number[] = []
  const agents: number[] = []
  const referrers: number[] = []
  const clicks: number[] = []
  const visitorLinkIds: number[] = []
  const visitorDays: number[] = []
  const visitors: number[] = []
  const agentTable = openTable<AgentClass>()
  const referrerTable = openTable<string>()
  const visitorTable = openTable<string>()
  for (const { hour, links } of pages) {
    const day = dayOfHour(hour)
    // In the order of the tables: neighbours are written together, and two processes never wait for each other in a ring.
    for (const linkId of Float64Array.from(links.keys()).sort()) {
      const link = links.get(linkId)!
      for (const counter of link.counters) {
        linkIds.push(linkId)
        hours.push(hour)
        agents.push(agentTable.placeOf(counter.agent))
        referrers.push(referrerTable.placeOf(counter.referrer))
        clicks.push(counter.clicks)
      }
      for (const visitor of visitorsOf(link)) {
        visitorLinkIds.push(linkId)
        visitorDays.push(day)
        visitors.push(visitorTable.placeOf(visitorText(visitor)))
      }
    }
  }
  return {
    linkIds: Float64Array.from(linkIds),
    hours: Int32Array.from(hours),
    agents: Int32Array.from(agents),
    referrers: Int32Array.from(referrers),
    clicks: Float64Array.from(clicks),
    agentTable: agentTable.items,
    referrerTable: referrerTable.items,
    visitorLinkIds: Float64Array.from(visitorLinkIds),
    visitorDays: Int32Array.from(visitorDays),
    visitors: Int32Array.from(visitors),
    visitorTable: visitorTable.items,
  }
}

/** Each thing once, with the place where it stands. */
function openTable<T>() {
  const items: T[] = []
  const places = new Map<T, number>()
  return {
    items,
    placeOf(item: T): number {
      let place = places.get(item)
      if (place === undefined) {
        place = items.push(item) - 1
        places.set(item, place)
      }
      return place
    },
  }
}
