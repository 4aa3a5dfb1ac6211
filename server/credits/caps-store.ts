// The caps of an account and what it has used, in the rows of its balances.
import { type ApiType, apiTypes, type CapPeriod } from '../../contract/credits.ts'
import { formatDay } from '../../contract/time.ts'
import type { Queries, Tx } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'

/** Replaces all caps of the period. Balances are updated in the order in which charges lock them. */
export async function updateCaps(
  tx: Tx,
  accountId: number,
  period: CapPeriod,
  caps: Partial<Readonly<Record<ApiType, number>>>,
): Promise<void> {
  const column = period === 'day' ? 'daily_cap' : 'monthly_cap'
  for (const apiType of apiTypes.toSorted()) {
    await tx.run(`UPDATE credit SET ${column} = ? WHERE account_id = ? AND api_type = ?`, [
      caps[apiType] ?? null,
      accountId,
      apiType,
    ])
  }
}

export interface Usage {
  readonly apiType: ApiType
  readonly dailyCap: number | null
  readonly monthlyCap: number | null
  readonly usedToday: number
  readonly usedThisMonth: number
}

/** Of all four types, in the order of `apiTypes`. */
export async function findUsage(queries: Queries, accountId: number): Promise<Usage[]> {
  type Row = Pick<
    Tables['credit'],
    'api_type' | 'daily_cap' | 'monthly_cap' | 'usage_day' | 'used_on_day' | 'used_in_month'
  > & { readonly now: number }
  const rows = await queries.all<Row>(
    `SELECT api_type, daily_cap, monthly_cap, usage_day, used_on_day, used_in_month, ${queries.now} AS now
     FROM credit WHERE account_id = ?`,
    [accountId],
  )
  return apiTypes.flatMap((apiType) => {
    const row = rows.find(({ api_type: type }) => type === apiType)
    if (!row) return []
    const today = formatDay(row.now)
    const isThisMonth = row.usage_day.slice(0, 7) === today.slice(0, 7)
    return {
      apiType,
      dailyCap: row.daily_cap,
      monthlyCap: row.monthly_cap,
      usedToday: row.usage_day === today ? row.used_on_day : 0,
      usedThisMonth: isThisMonth ? row.used_in_month : 0,
    }
  })
}
