// Pages of an account's links for `list`. A page reads a bounded number of links, however few of them match.
import { linkLimits } from '../../../contract/shortlink.ts'
import type { Queries } from '../../db/database.ts'
import type { Link } from '../store.ts'
import { findIdBefore, findRecords, type RecordFilter } from './record-store.ts'

/** Links that one query reads: few at first, because most filters find enough of them there. */
const slices = { first: 1_000, growth: 4, max: 20_000 }

export interface RecordPage {
  readonly links: readonly Link[]
  /** Where the next page continues: links below this id. Undefined after the last page. */
  readonly next: number | undefined
}

/** A page that has read `maxRead` links without enough matches ends early, with an id to continue from. */
export async function findRecordPage(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
  {
    before,
    limit,
    maxRead = linkLimits.searchedLinks,
  }: { readonly before: number; readonly limit: number; readonly maxRead?: number },
): Promise<RecordPage> {
  const links: Link[] = []
  const now = Date.now()
  let end = before
  const isUnfiltered = filter.state === undefined && filter.text === undefined
  let size = Math.min(slices.first, maxRead)
  for (let read = 0; read < maxRead; read += size) {
    if (read > 0) size = Math.min(size * slices.growth, slices.max, maxRead - read)
    const last = isUnfiltered ? undefined : await findIdBefore(queries, accountId, filter, end, size)
    const range = {
      from: last === undefined ? 0 : last + 1,
      before: end,
      limit: limit + 1 - links.length,
      now,
    }
    links.push(...(await findRecords(queries, accountId, filter, range)))
    if (links.length > limit) return { links: links.slice(0, limit), next: links[limit - 1]!.id }
    if (last === undefined) return { links, next: undefined }
    end = last + 1
  }
  return { links, next: end }
}
