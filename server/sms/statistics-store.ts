// Counts messages of one day by template, gateway, outcome and reason. Reads a bounded number of rows.
import { sql } from 'kysely'
import type { Queries } from '../db/database.ts'
import { firstIdAtOrAfter } from '../db/time-ordered.ts'

export interface SmsDayCount {
  readonly template_code: string
  readonly gateway: string
  readonly outcome: 'sent' | 'delivered' | 'failed' | 'undecided' | 'cancelled'
  /** Of failed messages. */
  readonly problem: string
  readonly count: number
}

export interface DayFilter {
  /** Undefined: all accounts. */
  readonly accountId: number | undefined
  readonly templateCode: string | undefined
  readonly start: number
  readonly end: number
}

/** More groups than these have few messages each. */
const maxGroups = 5_000

const outcome = sql<
  SmsDayCount['outcome']
>`CASE WHEN state = 'accepted' THEN 'sent' WHEN state = 'delivered' THEN 'delivered'
  WHEN problem = 'cancelled' THEN 'cancelled'
  WHEN state IN ('sending', 'unknown') AND charged = 1 THEN 'undecided' ELSE 'failed' END`
const problem = sql<string>`CASE WHEN state IN ('accepted', 'delivered') OR problem = 'cancelled'
  OR (state IN ('sending', 'unknown') AND charged = 1) THEN '' ELSE problem END`

export async function countDay(
  queries: Queries,
  { accountId, templateCode, start, end }: DayFilter,
  maxRows: number,
): Promise<SmsDayCount[]> {
  let messages = queries.kysely
    .selectFrom('sms_send')
    .select(['template_code', 'gateway', outcome.as('outcome'), problem.as('problem')])
    .where('created_at', '>=', start)
    .where('created_at', '<', end)
    .limit(maxRows)
  if (accountId === undefined) {
    // No index has the time alone; the ids follow it.
    const table = { table: 'sms_send', time: 'created_at' } as const
    messages = messages
      .where('id', '>=', await firstIdAtOrAfter(queries, table, start))
      .where('id', '<', await firstIdAtOrAfter(queries, table, end))
  } else messages = messages.where('account_id', '=', accountId)
  if (templateCode !== undefined) messages = messages.where('template_code', '=', templateCode)
  const groups = ['template_code', 'gateway', 'outcome', 'problem'] as const
  return queries.kysely
    .selectFrom(messages.as('message'))
    .select(({ fn }) => [...groups, fn.countAll<number>().as('count')])
    .groupBy(groups)
    .orderBy('count', 'desc')
    .limit(maxGroups)
    .execute()
}
