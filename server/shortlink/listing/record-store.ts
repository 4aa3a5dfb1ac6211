// The queries of `list`: links of an account, the newest first, by tag, state and text.
import type { LinkState } from '../../../contract/shortlink.ts'
import type { Queries, Value } from '../../db/database.ts'
import { searchableText, searchPattern } from '../../db/text-search.ts'
import { type Link, linkColumns } from '../store.ts'

export interface RecordFilter {
  readonly tag: string | undefined
  readonly state: LinkState | undefined
  /** Part of title, target or code. */
  readonly text: string | undefined
}

/** As the index `link_with_state` has it: links in any other state than `active` are in this index. */
const hasState = '(l.paused = 1 OR l.banned <> 0 OR l.expires_at IS NOT NULL OR l.max_clicks IS NOT NULL)'

const isOver = 'l.expires_at IS NOT NULL AND l.expires_at <= ?'
const isUsedUp =
  'l.max_clicks IS NOT NULL AND COALESCE((SELECT u.used FROM link_usage u WHERE u.link_id = l.id), 0) >= l.max_clicks'

/** The same order as `stateOf`; a test compares them. */
const stateConditions: Readonly<Record<LinkState, readonly string[]>> = {
  banned: [hasState, 'l.banned <> 0'],
  paused: [hasState, 'l.banned = 0', 'l.paused = 1'],
  expired: [hasState, 'l.banned = 0', 'l.paused = 0', isOver],
  exhausted: [hasState, 'l.banned = 0', 'l.paused = 0', `NOT (${isOver})`, isUsedUp],
  active: ['l.banned = 0', 'l.paused = 0', `NOT (${isOver})`, `NOT (${isUsedUp})`],
}

/** Of the table `link l`, as one text. */
export function stateCondition(state: LinkState, now: number): string {
  return stateConditions[state].join(' AND ').replaceAll('?', String(Math.trunc(now)))
}

/** The links of an account, or of one of its tags. */
function sourceOf({ tag }: RecordFilter, accountId: number): { from: string; values: Value[]; id: string } {
  if (tag === undefined) return { from: 'link l WHERE l.account_id = ?', values: [accountId], id: 'l.id' }
  return {
    from: 'link_tag t JOIN link l ON l.id = t.link_id WHERE t.account_id = ? AND t.tag = ?',
    values: [accountId, tag],
    id: 't.link_id',
  }
}

/** The id of the link that is `count` links before `before`; undefined when there are fewer. */
export async function findIdBefore(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
  before: number,
  count: number,
): Promise<number | undefined> {
  const { from, values, id } = sourceOf(filter, accountId)
  const restricted = filter.state === undefined || filter.state === 'active' ? '' : ` AND ${hasState}`
  const row = await queries.one<{ id: number }>(
    `SELECT ${id} AS id FROM ${from} AND ${id} < ?${restricted} ORDER BY ${id} DESC LIMIT 1 OFFSET ${count}`,
    [...values, before],
  )
  return row?.id
}

/** Matching links below `before` and from `from` on, the newest first. */
export function findRecords(
  queries: Queries,
  accountId: number,
  filter: RecordFilter,
  range: { readonly from: number; readonly before: number; readonly limit: number; readonly now: number },
): Promise<Link[]> {
  const source = sourceOf(filter, accountId)
  const conditions = [`${source.id} < ?`, `${source.id} >= ?`]
  const values: Value[] = [...source.values, range.before, range.from]
  for (const condition of filter.state === undefined ? [] : stateConditions[filter.state]) {
    conditions.push(condition)
    if (condition.includes('?')) values.push(range.now)
  }
  if (filter.text !== undefined) {
    const pattern = searchPattern(filter.text)
    const columns = ['l.title', 'l.target_url', 'l.code']
    const found = columns.map((column) => `${searchableText(queries, column)} LIKE ? ESCAPE '!'`)
    conditions.push(`(${found.join(' OR ')})`)
    values.push(...columns.map(() => pattern))
  }
  return queries.all<Link>(
    `SELECT ${linkColumns} FROM ${source.from} AND ${conditions.join(' AND ')}
     ORDER BY ${source.id} DESC LIMIT ${range.limit}`,
    values,
  )
}
