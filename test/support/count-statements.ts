// Counts the statements that are transactions of their own.
import type { Database, NextStatement, Value } from '../../server/db/database.ts'

export interface Statements {
  readonly db: Database
  /** Statements that succeeded, and those that failed. */
  done: number
  failed: number
}

export function countStatements(db: Database): Statements {
  const counts: Statements = {
    done: 0,
    failed: 0,
    db: {
      ...db,
      async writeStatement<R>(sql: string, values: readonly Value[], next?: NextStatement<R>) {
        try {
          const rows = await db.writeStatement!<R>(sql, values, next)
          counts.done += 1
          return rows
        } catch (error) {
          counts.failed += 1
          throw error
        }
      },
    },
  }
  return counts
}
