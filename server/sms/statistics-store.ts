// Counts messages of one day by template, gateway, outcome and reason. Reads a bounded number of rows.
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

const outcome = `CASE WHEN s.state = 'accepted' THEN 'sent' WHEN s.state = 'delivered' THEN 'delivered'
  WHEN s.problem = 'cancelled' THEN 'cancelled'
  WHEN s.state IN ('sending', 'unknown') AND s.charged = 1 THEN 'undecided' ELSE 'failed' END`
const problem = `CASE WHEN s.state IN ('accepted', 'delivered') OR s.problem = 'cancelled'
  OR (s.state IN ('sending', 'unknown') AND s.charged = 1) THEN '' ELSE s.problem END`

export async function countDay(
  queries: Queries,
  { accountId, templateCode, start, end }: DayFilter,
  maxRows: number,
): Promise<SmsDayCount[]> {
  const conditions = ['created_at >= ?', 'created_at < ?']
  const values: (string | number)[] = [start, end]
  if (accountId === undefined) {
    // No index has the time alone; the ids follow it.
    const table = { table: 'sms_send', time: 'created_at' } as const
    conditions.push('id >= ?', 'id < ?')
    values.push(await firstIdAtOrAfter(queries, table, start), await firstIdAtOrAfter(queries, table, end))
  } else {
    conditions.push('account_id = ?')
    values.push(accountId)
  }
  if (templateCode !== undefined) {
    conditions.push('template_code = ?')
    values.push(templateCode)
  }
  return queries.all<SmsDayCount>(
    `SELECT s.template_code, s.gateway, ${outcome} AS outcome, ${problem} AS problem, COUNT(*) AS count
     FROM (SELECT template_code, gateway, state, charged, problem FROM sms_send
       WHERE ${conditions.join(' AND ')} LIMIT ${maxRows}) AS s
     GROUP BY 1, 2, 3, 4 ORDER BY count DESC LIMIT ${maxGroups}`,
    values,
  )
}
