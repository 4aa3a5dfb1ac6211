// Counts rows.
import type { Queries, Value } from './database.ts'

/** `from` is what follows FROM: a table, with its conditions. */
export async function countRows(
  queries: Queries,
  from: string,
  values: readonly Value[] = [],
): Promise<number> {
  const row = await queries.one<{ count: number }>(`SELECT COUNT(*) AS count FROM ${from}`, values)
  return row?.count ?? 0
}
