// Statements for PostgreSQL: numbered parameters, prepared once per connection, errors of the connection by one name.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Queries, Value } from './database.ts'
import { kyselyForConnection } from './kysely-connection.ts'
import { codeOf, isConnectionLoss, unavailable } from './postgres-errors.ts'

const now = `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`

interface QueryOptions {
  /** Outside of a transaction, a statement whose plan is stale runs again at once; a transaction runs again as a whole. */
  readonly repeatsStalePlans: boolean
}

export function queriesFor(
  send: (query: pg.QueryConfig) => Promise<pg.QueryResult>,
  { repeatsStalePlans }: QueryOptions = { repeatsStalePlans: false },
): Queries {
  async function prepared(sql: string, values: readonly Value[]): Promise<pg.QueryResult> {
    const { name, text } = numbered(sql)
    try {
      return await send({ name, text, values: values.map(toParameter) })
    } catch (error) {
      if (isStalePlan(error)) {
        renameStatement(sql, name)
        if (repeatsStalePlans) return prepared(sql, values)
      }
      throw isConnectionLoss(error) ? unavailable(error) : error
    }
  }
  return {
    engine: 'postgres',
    now,
    kysely: kyselyForConnection('postgres', async (text, values) => {
      const result = await send({ text, values: values as unknown[] })
      return { rows: result.rows, changed: result.rowCount ?? 0 }
    }),
    all: async <R>(sql: string, values: readonly Value[] = []) => (await prepared(sql, values)).rows as R[],
    one: async <R>(sql: string, values: readonly Value[] = []) =>
      (await prepared(sql, values)).rows[0] as R | undefined,
    run: async (sql, values = []) => (await prepared(sql, values)).rowCount ?? 0,
    insert: async (sql, values = []) => {
      const row = (await prepared(`${sql} RETURNING id`, values)).rows[0] as { id: number } | undefined
      if (!row) throw new Error('the row was not inserted')
      return row.id
    },
  }
}

/** Escapes that JSON has and PostgreSQL does not: control characters and lone surrogates. May also match after a backslash. */
const foreignEscape = /\\[bfnrtu]/

/**
 * The text form of an array: apart from the outer brackets, and with few exceptions, that of JSON. The driver runs two
 * regular expressions over every element.
 */
function toParameter(value: Value): Value {
  if (!Array.isArray(value)) return value
  const json = JSON.stringify(value)
  return foreignEscape.test(json) ? value : `{${json.slice(1, -1)}}`
}

interface NumberedSql {
  readonly name: string
  readonly text: string
  readonly generation: number
}

const numberedTexts = new Map<string, NumberedSql>()

/** Replaces `?` by `$1`, `$2` …, and names the text, so that the server prepares it once per connection. */
function numbered(sql: string): NumberedSql {
  let found = numberedTexts.get(sql)
  if (!found) {
    let count = 0
    const text = sql.replace(/\?/g, () => `$${++count}`)
    found = { name: nameOf(text, 0), text, generation: 0 }
    numberedTexts.set(sql, found)
  }
  return found
}

function nameOf(text: string, generation: number): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 24)
  return generation === 0 ? `t_${digest}` : `t_${digest}_${generation}`
}

/** The next use prepares the statement again, on every connection. */
function renameStatement(sql: string, staleName: string): void {
  const { name, text, generation } = numbered(sql)
  // Another connection may have reported the same statement already.
  if (name !== staleName) return
  numberedTexts.set(sql, { name: nameOf(text, generation + 1), text, generation: generation + 1 })
}

/** A migration of a newer version added a column to a table that a prepared statement reads with `*`. */
export function isStalePlan(error: unknown): boolean {
  return codeOf(error) === '0A000' && (error as { routine?: string }).routine === 'RevalidateCachedQuery'
}
