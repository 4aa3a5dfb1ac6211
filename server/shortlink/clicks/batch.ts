// Clicks that travel together, as columns: cheap to collect, to hand to a thread, to put into a row, and what `unnest` wants.
import type { Agent, AgentClass } from './user-agents.ts'
import { dayOfHour } from './hours.ts'

export type Column = Float64Array | readonly number[]

/**
 * Counters and visitors. Texts are few and stand in tables of their own; the columns hold their places. A visitor is a text
 * (address and browser) only in memory; what is stored is a hash, a number.
 */
export interface ClickBatch<Visitor extends string | number> {
  readonly linkIds: Column
  readonly hours: Column
  readonly agents: Column
  readonly referrers: Column
  readonly clicks: Column
  readonly agentTable: readonly AgentClass[]
  readonly referrerTable: readonly string[]
  readonly visitorLinkIds: Column
  readonly visitorDays: Column
  readonly visitors: Column
  readonly visitorTable: readonly Visitor[]
}

/** Several times as fast as `Array.from`, which asks an iterator for each number. */
export function listOf(column: Column): readonly number[] {
  if (!(column instanceof Float64Array)) return column
  const list: number[] = []
  for (let at = 0; at < column.length; at += 1) list.push(column[at]!)
  return list
}

/** A link whose clicks come from more places than this at a time has the rest counted together. */
const mostPerLink = 50
export const otherReferrers = '*'

/** Each thing once, with the place where it stands. */
function openTable<Key, Item>() {
  const items: Item[] = []
  const places = new Map<Key, number>()
  return {
    items,
    placeOf(key: Key, item: Item): number {
      let place = places.get(key)
      if (place === undefined) {
        place = items.push(item) - 1
        places.set(key, place)
      }
      return place
    },
  }
}

/** Of so many links the draft knows where their last row stands; others that share the place only cost a row more. */
const recentLinks = 256

/** Clicks as they come. This is on every visitor's way: only what is like the last of its link is added to it, the rest is a row. */
export function openDraft() {
  const linkIds: number[] = []
  const hours: number[] = []
  const agents: number[] = []
  const referrers: number[] = []
  const counts: number[] = []
  const visitorLinkIds: number[] = []
  const visitorDays: number[] = []
  const visitors: number[] = []
  const agentTable = openTable<AgentClass, AgentClass>()
  const referrerTable = openTable<string, string>()
  const visitorTable: string[] = []
  const places = new Map<string, Map<Agent, number>>()
  const lastRow = new Int32Array(recentLinks).fill(-1)
  const lastVisitor = new Int32Array(recentLinks).fill(-1)
  let clicks = 0

  /** By address and browser apart: their text is made once, not at every visit. */
  function placeOfVisitor(address: string, agent: Agent): number {
    let fromAddress = places.get(address)
    if (fromAddress === undefined) {
      fromAddress = new Map()
      places.set(address, fromAddress)
    }
    let place = fromAddress.get(agent)
    if (place === undefined) {
      place = visitorTable.push(`${address}\n${agent.text}`) - 1
      fromAddress.set(agent, place)
    }
    return place
  }

  return {
    clicks: () => clicks,
    has: (linkId: number) => linkIds.includes(linkId),
    add(linkId: number, hour: number, agent: AgentClass, referrer: string): void {
      clicks += 1
      const agentPlace = agentTable.placeOf(agent, agent)
      const referrerPlace = referrerTable.placeOf(referrer, referrer)
      const row = lastRow[linkId % recentLinks]!
      if (
        row !== -1 &&
        linkIds[row] === linkId &&
        agents[row] === agentPlace &&
        referrers[row] === referrerPlace &&
        hours[row] === hour
      ) {
        counts[row]! += 1
        return
      }
      lastRow[linkId % recentLinks] = linkIds.push(linkId) - 1
      hours.push(hour)
      agents.push(agentPlace)
      referrers.push(referrerPlace)
      counts.push(1)
    },
    addVisitor(linkId: number, hour: number, address: string, agent: Agent): void {
      const place = placeOfVisitor(address, agent)
      const day = dayOfHour(hour)
      const row = lastVisitor[linkId % recentLinks]!
      if (
        row !== -1 &&
        visitors[row] === place &&
        visitorLinkIds[row] === linkId &&
        visitorDays[row] === day
      ) {
        return
      }
      lastVisitor[linkId % recentLinks] = visitors.push(place) - 1
      visitorLinkIds.push(linkId)
      visitorDays.push(day)
    },
    batch: (): ClickBatch<string> => ({
      linkIds: new Float64Array(linkIds),
      hours: new Float64Array(hours),
      agents: new Float64Array(agents),
      referrers: new Float64Array(referrers),
      clicks: new Float64Array(counts),
      agentTable: agentTable.items,
      referrerTable: referrerTable.items,
      visitorLinkIds: new Float64Array(visitorLinkIds),
      visitorDays: new Float64Array(visitorDays),
      visitors: new Float64Array(visitors),
      visitorTable,
    }),
  }
}

export interface Combined<V extends string | number> {
  readonly batch: ClickBatch<V>
  /** Clicks beyond the bound. */
  readonly lost: number
}

/** Adds up: every counter and every visitor stands once, in the order of the links. */
export function combine<V extends string | number>(
  batches: readonly ClickBatch<V>[],
  most = Number.POSITIVE_INFINITY,
): Combined<V> {
  const tables = {
    agents: openTable<string, AgentClass>(),
    referrers: openTable<string, string>(),
    visitors: openTable<V, V>(),
  }
  const { counters, lost } = addUp(batches, tables.agents, tables.referrers, most)
  return {
    batch: {
      ...counters,
      ...meetOnce(batches, tables.visitors, most),
      agentTable: tables.agents.items,
      referrerTable: tables.referrers.items,
      visitorTable: tables.visitors.items,
    },
    lost,
  }
}

type Table<Key, Item> = ReturnType<typeof openTable<Key, Item>>

function addUp(
  batches: readonly ClickBatch<string | number>[],
  agentTable: Table<string, AgentClass>,
  referrerTable: Table<string, string>,
  most: number,
) {
  const linkIds: number[] = []
  const hours: number[] = []
  const agents: number[] = []
  const referrers: number[] = []
  const clicks: number[] = []
  let lost = 0

  /** Adds to the counter among those of this link, which begin at `from`. */
  function count(
    from: number,
    linkId: number,
    hour: number,
    agent: number,
    referrer: number,
    more: number,
  ): void {
    for (let at = from; at < linkIds.length; at += 1) {
      if (agents[at] !== agent || referrers[at] !== referrer || hours[at] !== hour) continue
      clicks[at]! += more
      return
    }
    if (linkIds.length >= most) {
      lost += more
    } else if (linkIds.length - from >= mostPerLink && referrerTable.items[referrer] !== otherReferrers) {
      count(from, linkId, hour, agent, referrerTable.placeOf(otherReferrers, otherReferrers), more)
    } else {
      linkIds.push(linkId)
      hours.push(hour)
      agents.push(agent)
      referrers.push(referrer)
      clicks.push(more)
    }
  }

  const agentAt = batches.map((batch) =>
    newPlaces(batch.agentTable, (one) => agentTable.placeOf(`${one.kind} ${one.device} ${one.browser}`, one)),
  )
  const referrerAt = batches.map((batch) =>
    newPlaces(batch.referrerTable, (one) => referrerTable.placeOf(one, one)),
  )
  let from = 0
  let lastLink = -1
  eachByLink(
    batches.map((batch) => batch.linkIds),
    (linkId, which, row) => {
      if (linkId !== lastLink) {
        lastLink = linkId
        from = linkIds.length
      }
      const batch = batches[which]!
      const agent = agentAt[which]!(batch.agents[row]!)
      const referrer = referrerAt[which]!(batch.referrers[row]!)
      count(from, linkId, batch.hours[row]!, agent, referrer, batch.clicks[row]!)
    },
  )
  return { counters: { linkIds, hours, agents, referrers, clicks }, lost }
}

/** More visitors of one link at a time than this are told apart by a set, not by looking through the list. */
const listedVisitors = 16

function meetOnce<V extends string | number>(
  batches: readonly ClickBatch<V>[],
  table: Table<V, V>,
  most: number,
) {
  const visitorLinkIds: number[] = []
  const visitorDays: number[] = []
  const visitors: number[] = []
  let crowd: Set<string> | undefined
  let from = 0
  let lastLink = -1

  function isKnown(day: number, place: number): boolean {
    if (visitors.length - from < listedVisitors) {
      for (let at = from; at < visitors.length; at += 1) {
        if (visitors[at] === place && visitorDays[at] === day) return true
      }
      return false
    }
    crowd ??= new Set(visitors.slice(from).map((one, index) => `${visitorDays[from + index]} ${one}`))
    const { size } = crowd
    return crowd.add(`${day} ${place}`).size === size
  }

  const visitorAt = batches.map((batch) => newPlaces(batch.visitorTable, (one) => table.placeOf(one, one)))
  eachByLink(
    batches.map((batch) => batch.visitorLinkIds),
    (linkId, which, row) => {
      if (linkId !== lastLink) {
        lastLink = linkId
        from = visitors.length
        crowd = undefined
      }
      if (visitors.length >= most) return
      const day = batches[which]!.visitorDays[row]!
      const place = visitorAt[which]!(batches[which]!.visitors[row]!)
      if (isKnown(day, place)) return
      visitorLinkIds.push(linkId)
      visitorDays.push(day)
      visitors.push(place)
    },
  )
  return { visitorLinkIds, visitorDays, visitors }
}

/**
 * Goes through the rows of all columns link by link, in the order of the links. The rows of a link are a chain: a number for
 * each, where an object for each link would keep the garbage collector busy.
 */
function eachByLink(
  columns: readonly Column[],
  visit: (linkId: number, column: number, row: number) => void,
): void {
  const starts: number[] = []
  let total = 0
  for (const { length } of columns) {
    starts.push(total)
    total += length
  }
  const first = new Map<number, number>()
  const next = new Int32Array(total)
  const columnOf = new Uint16Array(total)
  // From the end, so that each chain begins with what came first.
  for (let index = columns.length - 1; index >= 0; index -= 1) {
    const column = columns[index]!
    for (let row = column.length - 1; row >= 0; row -= 1) {
      const at = starts[index]! + row
      columnOf[at] = index
      next[at] = first.get(column[row]!) ?? -1
      first.set(column[row]!, at)
    }
  }
  for (const linkId of Float64Array.from(first.keys()).sort()) {
    for (let at = first.get(linkId)!; at !== -1; at = next[at]!) {
      visit(linkId, columnOf[at]!, at - starts[columnOf[at]!]!)
    }
  }
}

/** From a place in one table to the place in the common one, which gets only what is used. */
function newPlaces<Item>(table: readonly Item[], add: (item: Item) => number): (place: number) => number {
  const known: number[] = Array.from(table, () => -1)
  return (place) => {
    if (known[place] === -1) known[place] = add(table[place]!)
    return known[place]!
  }
}

/** Cuts what was combined into pieces of so many counters, each with the visitors of its links. */
export function* cut<V extends string | number>(
  batch: ClickBatch<V>,
  counters: number,
): Generator<ClickBatch<V>> {
  const { linkIds, visitorLinkIds } = batch
  let visitor = 0
  for (let from = 0; from < linkIds.length; from += counters) {
    const until = Math.min(from + counters, linkIds.length)
    const next = linkIds[until] ?? Number.POSITIVE_INFINITY
    const firstVisitor = visitor
    while (visitor < visitorLinkIds.length && visitorLinkIds[visitor]! < next) visitor += 1
    const piece = {
      ...batch,
      linkIds: linkIds.slice(from, until),
      hours: batch.hours.slice(from, until),
      agents: batch.agents.slice(from, until),
      referrers: batch.referrers.slice(from, until),
      clicks: batch.clicks.slice(from, until),
      visitorLinkIds: visitorLinkIds.slice(firstVisitor, visitor),
      visitorDays: batch.visitorDays.slice(firstVisitor, visitor),
      visitors: batch.visitors.slice(firstVisitor, visitor),
    }
    // Its tables still hold everything; combining keeps what is used.
    yield combine([piece]).batch
  }
}
