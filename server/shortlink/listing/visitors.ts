// Distinct visitors of a link or of a tag. A person who opens several links of the tag on one day counts once.
import type { Queries } from '../../db/database.ts'
import { createVisitorUnion, type VisitorUnion } from '../clicks/visitor-sketch.ts'
import {
  countVisitorDays,
  listHashedDays,
  listVisitorDays,
  listVisitorHashes,
  type StatRange,
  sumVisitorDays,
} from './stat-store.ts'

export interface VisitorCount {
  /** Each link once. */
  add(ids: readonly number[]): Promise<void>
  /** Distinct people per day, summed over the days. */
  total(): number
}

/** Hashes in memory, of all days together. With more visitors, the number is an estimate. Its standard error is below 6 %. */
const maxHashes = 131_072
const minHashesPerDay = 300

/** Rows that one query reads: decoding their sketches takes a few milliseconds. */
const rowsPerQuery = 500

/** Rows that one count reads, a row being a link on a day. The people of further links are added up. */
const maxRows = 100_000

export function createVisitorCount(
  queries: Queries,
  range: StatRange,
  isTag: boolean,
  rowLimit = maxRows,
): VisitorCount {
  return isTag ? countOfTag(queries, range, rowLimit) : countOfLink(queries, range)
}

function countOfLink(queries: Queries, range: StatRange): VisitorCount {
  let visitors = 0
  return {
    async add(ids) {
      for (const id of ids) visitors += await countVisitorDays(queries, id, range)
    },
    total: () => visitors,
  }
}

function countOfTag(queries: Queries, range: StatRange, rowLimit: number): VisitorCount {
  const days = Math.max(1, range.toDay - range.fromDay)
  const hashesPerDay = Math.max(minHashesPerDay, Math.floor(maxHashes / days))
  const linksPerQuery = Math.max(1, Math.floor(rowsPerQuery / days))
  const unions = new Map<number, VisitorUnion>()
  let rowsLeft = rowLimit
  let addedUp = 0

  function unionOf(day: number): VisitorUnion {
    const known = unions.get(day)
    if (known) return known
    const created = createVisitorUnion(hashesPerDay)
    unions.set(day, created)
    return created
  }
  async function addDays(ids: readonly number[]): Promise<void> {
    for (let start = 0; start < ids.length; start += linksPerQuery) {
      const some = ids.slice(start, start + linksPerQuery)
      for (const { day, visitors, sketch } of await listVisitorDays(queries, some, range))
        unionOf(day).addCounted(visitors, sketch)
    }
  }
  return {
    async add(ids) {
      const { rows, visitors } = await sumVisitorDays(queries, ids, range)
      if (rows > rowsLeft) addedUp += visitors
      else await addDays(ids)
      rowsLeft = Math.max(0, rowsLeft - rows)
      for (const day of await listHashedDays(queries, range)) {
        const union = unionOf(day)
        const limit = hashesPerDay + 1
        const hashes = await listVisitorHashes(queries, ids, { day, below: union.below, limit })
        union.addHashes(hashes, hashes.length === limit)
      }
    },
    total: () => unions.values().reduce((sum, union) => sum + union.count(), addedUp),
  }
}
