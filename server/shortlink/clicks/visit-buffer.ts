// Visits in memory until they are appended to the click journal: equal ones merged, and bounded.
import { clientOf, type UserAgent } from './user-agents.ts'

export interface Visit {
  readonly linkId: number
  readonly agent: UserAgent
  readonly isPrefetch: boolean
  readonly referrer: string
  /** Empty when this visitor is not counted. */
  readonly address: string
}

export interface VisitRow extends Visit {
  readonly hour: number
  clicks: number
}

/** The rows as one list for each column: copying them to another thread takes a third of the time. */
export type VisitColumns = { readonly [C in keyof VisitRow]: readonly VisitRow[C][] }

export function toColumns(rows: readonly VisitRow[]): VisitColumns {
  return {
    linkId: rows.map(({ linkId }) => linkId),
    hour: rows.map(({ hour }) => hour),
    agent: rows.map(({ agent }) => agent),
    isPrefetch: rows.map(({ isPrefetch }) => isPrefetch),
    referrer: rows.map(({ referrer }) => referrer),
    address: rows.map(({ address }) => address),
    clicks: rows.map(({ clicks }) => clicks),
  }
}

export function toRows({
  linkId,
  hour,
  agent,
  isPrefetch,
  referrer,
  address,
  clicks,
}: VisitColumns): VisitRow[] {
  return linkId.map((id, i) => ({
    linkId: id,
    hour: hour[i]!,
    agent: agent[i]!,
    isPrefetch: isPrefetch[i]!,
    referrer: referrer[i]!,
    address: address[i]!,
    clicks: clicks[i]!,
  }))
}

/** What is appended together, with an id that is the same when the append is repeated. */
export interface VisitBatch {
  readonly id: string
  readonly visits: VisitColumns
}

/** While the database is unavailable the buffer merges equal rows, at the latest after this many new ones. */
const mergeAfterRows = 10_000
const maxRows = 50_000

export interface VisitBuffer {
  add(visit: Visit, hour: number): void
  /** Returns all rows and empties the buffer. */
  take(): VisitRow[]
  has(linkId: number): boolean
  clicks(): number
  /** Clicks that did not fit. */
  lost(): number
}

export function createVisitBuffer(): VisitBuffer {
  let rows: VisitRow[] = []
  let lastRowOfLink = new Map<number, VisitRow>()
  let clicks = 0
  let lost = 0
  let mergeAt = mergeAfterRows

  function replaceRows(next: VisitRow[]): void {
    rows = next
    lastRowOfLink = new Map(rows.map((row) => [row.linkId, row]))
    clicks = rows.reduce((sum, row) => sum + row.clicks, 0)
    mergeAt = rows.length + mergeAfterRows
  }

  function merge(): void {
    const merged = mergeRows(rows, maxRows)
    lost += merged.lost
    replaceRows(merged.rows)
  }

  return {
    // This runs for every visitor, so a visit is compared only with the last one of its link.
    add({ linkId, agent, isPrefetch, referrer, address }, hour) {
      clicks += 1
      const last = lastRowOfLink.get(linkId)
      if (
        last !== undefined &&
        last.agent === agent &&
        last.address === address &&
        last.referrer === referrer &&
        last.isPrefetch === isPrefetch &&
        last.hour === hour
      ) {
        last.clicks += 1
        return
      }
      const row = { linkId, hour, agent, isPrefetch, referrer, address, clicks: 1 }
      rows.push(row)
      lastRowOfLink.set(linkId, row)
      if (rows.length >= mergeAt) merge()
    },
    take() {
      const taken = rows
      replaceRows([])
      return taken
    },
    has: (linkId) => lastRowOfLink.has(linkId),
    clicks: () => clicks,
    lost: () => lost,
  }
}

/**
 * Merges equal rows. The first half of the limit is for rows with a visitor. Beyond it clicks are counted without a visitor, and
 * beyond the limit they are lost.
 */
export function mergeRows(
  rows: readonly VisitRow[],
  limit: number,
): { readonly rows: VisitRow[]; readonly lost: number } {
  const merged = new Map<string, VisitRow>()
  let lost = 0
  for (const row of rows) {
    const { kind, device, browser } = clientOf(row.agent, row.isPrefetch)
    const { os, app } = row.agent
    const counter = `${row.linkId} ${row.hour} ${kind} ${device} ${browser} ${os} ${app} ${row.referrer}`
    const visitor = row.address === '' ? counter : `${counter} ${row.address} ${row.agent.text}`
    const isHalfFull = merged.size >= limit / 2
    const known = merged.get(visitor) ?? (isHalfFull ? merged.get(counter) : undefined)
    if (known) known.clicks += row.clicks
    else if (!isHalfFull) merged.set(visitor, row)
    else if (merged.size < limit) merged.set(counter, { ...row, address: '' })
    else lost += row.clicks
  }
  return { rows: [...merged.values()], lost }
}
