// The queries of `list`: links of an account, the newest first, by tag, state and text.
import { type RawBuilder, sql } from 'kysely'
import type { LinkState } from '../../../contract/shortlink.ts'
import type { Queries } from '../../db/database.ts'
import { containsText } from '../../db/text-search.ts'
import { type Link, storedColumns, usedClicks } from '../store.ts'

export interface RecordFilter {
  readonly tag: string | undefined
  readonly state: LinkState | undefined
  /** Part of title, target or code. */
  readonly text: string | undefined
}

/** As the index `link_with_state` has it: links in any other state than `active` are in this index. */
const hasState = sql<boolean>`(l.paused = 1 OR l.banned <> 0 OR l.expires_at IS NOT NULL OR l.max_clicks IS NOT NULL)`
const isFree = sql`l.banned = 0 AND l.paused = 0`
const isUsedUp = sql`(l.max_clicks IS NOT NULL
  AND COALESCE((SELECT u.used FROM link_usage u WHERE u.link_id = l.id), 0) >= l.max_clicks)`

/** Of the table `link l`. The same order as `stateOf`; a test compares them. */
export function stateCondition(state: LinkState, now: number): RawBuilder<boolean> {
  const isOver = sql`(l.expires_at IS NOT NULL AND l.expires_at <= ${now})`
  const conditions: Readonly<Record<LinkState, RawBuilder<boolean>>> = {
    banned: sql`${hasState} AND l.banned <> 0`,
    paused: sql`${hasState} AND l.banned = 0 AND l.paused = 1`,
    expired: sql`${hasState} AND ${isFree} AND ${isOver}`,
    exhausted: sql`${hasState} AND ${isFree} AND NOT ${isOver} AND ${isUsedUp}`,
    active: sql`${isFree} AND NOT ${isOver} AND NOT ${isUsedUp}`,
  }
  return conditions[state]
}

/** Links of an account, or of one of its tags, below `before`, the newest first. */
function selectLinks(queries: Queries, accountId: number, { tag }: RecordFilter, before: number) {
  const id = sql.ref<number>(tag === undefined ? 'l.id' : 't.link_id')
  const links = queries.kysely
    .selectFrom('link as l')
    .$if(tag === undefined, (all) => all.where('l.account_id', '=', accountId))
    .$if(tag !== undefined, (all) =>
      all
        .innerJoin('link_tag as t', 't.link_id', 'l.id')
        .where('t.account_id', '=', accountId)
        .where('t.tag', '=', tag!),
    )
    .where(id, '<', before)
    .orderBy(id, 'desc')
  return { links, id }
}

/** The id of the link that is `count` links before `before`; undefined when there are fewer. */
export async function findIdBefore(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
  before: number,
  count: number,
): Promise<number | undefined> {
  const { links, id } = selectLinks(queries, accountId, filter, before)
  let query = links.select(id.as('id')).limit(1).offset(count)
  if (filter.state !== undefined && filter.state !== 'active') query = query.where(hasState)
  const row = await query.executeTakeFirst()
  return row?.id
}

/** Matching links below `before` and from `from` on, the newest first. */
export function findRecords(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
  range: { readonly from: number; readonly before: number; readonly limit: number; readonly now: number },
): Promise<Link[]> {
  const { state, text } = filter
  const { links, id } = selectLinks(queries, accountId, filter, range.before)
  let query = links
    .select([...storedColumns, sql<number | null>`${sql.raw(usedClicks)}`.as('used_clicks')])
    .where(id, '>=', range.from)
    .limit(range.limit)
  if (state !== undefined) query = query.where(stateCondition(state, range.now))
  if (text !== undefined) {
    const columns = ['l.title', 'l.target_url', 'l.code']
    query = query.where(({ or }) => or(columns.map((column) => containsText(queries, column, text))))
  }
  return query.execute()
}
