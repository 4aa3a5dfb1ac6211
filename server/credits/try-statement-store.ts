// Runs a statement, or two, that either write everything or fail.
import type { Database, NextStatement, SqlStatement } from '../db/database.ts'
import { isServerError } from '../db/postgres-errors.ts'

/**
 * Returns its row. Undefined when the server has refused the statement, for whatever reason: a transaction finds out which item
 * is the cause.
 */
export async function tryStatement<R>(
  write: NonNullable<Database['writeStatement']>,
  [sql, values]: SqlStatement,
  next?: NextStatement<R>,
): Promise<R | undefined> {
  try {
    const [row] = await write<R>(sql, values, next)
    return row
  } catch (error) {
    // After any other error the statement may have been committed.
    if (isServerError(error)) return undefined
    throw error
  }
}
