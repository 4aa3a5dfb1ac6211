// The differences between the two engines' SQL: each function returns text, or runs statements, for one of them.
import type { Engine, PostgresArray, Queries, Tx, Value } from './database.ts'

export type ArrayType = 'bigint' | 'text'

/** A list of ids as one value: `WHERE id IN ${list.sql}`, or `FROM ${list.sql} AS list` with the column `id`. */
export function idList(
  queries: Queries,
  ids: readonly number[],
): { readonly sql: string; readonly value: Value } {
  return queries.engine === 'sqlite'
    ? { sql: '(SELECT value AS id FROM json_each(?))', value: JSON.stringify(ids) }
    : { sql: '(SELECT unnest(CAST(? AS bigint[])) AS id)', value: ids }
}

/**
 * Rows of values as a table: `FROM ${table.sql} AS t`, for an update or a join of many rows with one statement. There
 * are a few texts for the same columns, so each is prepared once.
 */
export function valueTable<C extends string>(
  queries: Queries,
  columns: Readonly<Record<C, ArrayType>>,
  rows: readonly Readonly<Record<C, string | number | null>>[],
): { readonly sql: string; readonly values: readonly Value[] } {
  const names = Object.keys(columns) as C[]
  if (queries.engine === 'postgres') return unnest(columns, rows)
  const [first] = rows
  if (first && rows.length === 1) {
    const select = names.map((name) => `? AS ${name}`).join(', ')
    return { sql: `(SELECT ${select})`, values: names.map((name) => first[name]) }
  }
  const [column, ...others] = names.filter((name) => rows.some((row) => row[name] !== first?.[name]))
  if (first && column !== undefined && others.length === 0) {
    // The most frequent list, such as balances of one API type. A list of lists takes twice as long.
    const select = names.map((name) => `${name === column ? 'value' : '?'} AS ${name}`).join(', ')
    const same = names.filter((name) => name !== column).map((name) => first[name])
    const list = JSON.stringify(rows.map((row) => row[column]))
    // The limit keeps the list a table of its own: SQLite would otherwise start a join with all rows that equal the constants,
    // and search the list for each.
    return { sql: `(SELECT ${select} FROM json_each(?) LIMIT -1)`, values: [...same, list] }
  }
  const select = names.map((name, index) => `value ->> ${index} AS ${name}`).join(', ')
  const list = rows.map((row) => names.map((name) => row[name]))
  return { sql: `(SELECT ${select} FROM json_each(?))`, values: [JSON.stringify(list)] }
}

/**
 * PostgreSQL only: each column is one array. The arrays are expanded in the list of the SELECT: in its FROM, each of them would
 * be copied into a buffer of its own first, which takes longer than writing a few rows.
 */
export function unnest<C extends string>(
  columns: Readonly<Record<C, ArrayType>>,
  rows: readonly Readonly<Record<C, string | number | null>>[],
): { readonly sql: string; readonly values: PostgresArray[] } {
  const names = Object.keys(columns) as C[]
  const lists = names.map((name) => `unnest(CAST(? AS ${columns[name]}[])) AS ${name}`)
  return {
    sql: `(SELECT ${lists.join(', ')})`,
    values: names.map((name) => rows.map((row) => row[name])),
  }
}

/** An expression: the JSON text of an object with these names and expressions. Described once, as a constant of a store. */
export function jsonObject(members: Readonly<Record<string, string>>): (queries: Queries) => string {
  const list = Object.entries(members)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')
  const texts = {
    sqlite: `json_object(${list})`,
    postgres: `CAST(json_build_object(${list}) AS text)`,
  } satisfies Record<Engine, string>
  return ({ engine }) => texts[engine]
}

export interface OrderedUpdate {
  /** Comes before `UPDATE`. */
  readonly with: string
  /** The list, as `t`. */
  readonly from: string
  readonly where: string
  readonly values: readonly Value[]
}

/**
 * The parts of an update of many rows: `${u.with} UPDATE operation SET … FROM ${u.from} WHERE ${u.where}`. PostgreSQL locks the
 * rows in the order of their key first, so that two transactions with the same rows cannot wait for each other. `key` has
 * the column of the list by column of the table.
 */
export function orderedUpdate(
  { engine }: Pick<Queries, 'engine'>,
  table: string,
  key: Readonly<Record<string, string>>,
  list: { readonly sql: string; readonly values: readonly Value[] },
): OrderedUpdate {
  const matches = (name: string) =>
    Object.entries(key)
      .map(([column, listed]) => `${name}.${column} = t.${listed}`)
      .join(' AND ')
  const where = matches(table)
  const { values } = list
  if (engine === 'sqlite') return { with: `WITH t AS ${list.sql}`, from: 't', where, values }
  const columns = Object.keys(key).map((column) => `${table}.${column}`)
  return {
    with: `WITH t AS MATERIALIZED ${list.sql}, locked AS MATERIALIZED (SELECT ${columns.join(', ')} FROM ${table}
      JOIN t ON ${where} ORDER BY ${columns.join(', ')} FOR UPDATE OF ${table})`,
    from: `t JOIN locked ON ${matches('locked')}`,
    where,
    values,
  }
}

/** The end of a SELECT that locks its rows until the transaction ends. SQLite's write transaction is the lock. */
export function forUpdate({ engine }: Tx, clause = 'FOR UPDATE'): string {
  return engine === 'sqlite' ? '' : ` ${clause}`
}

/** Changes with every update of the row; locking does not change it. NULL where the engine has none. */
export function rowVersion({ engine }: Pick<Queries, 'engine'>, table: string): string {
  return engine === 'sqlite' ? 'NULL' : `CAST(${table}.xmin AS text)`
}

/** Waits until no other transaction holds this lock, and holds it until the transaction ends. */
export async function lock(tx: Tx, key: number): Promise<void> {
  if (tx.engine === 'postgres') await tx.all(`SELECT pg_advisory_xact_lock(${key})`)
}

/** Like `lock`, but returns false when another transaction holds it. */
export async function tryLock(tx: Tx, key: number): Promise<boolean> {
  if (tx.engine === 'sqlite') return true
  const row = await tx.one<{ locked: boolean }>(`SELECT pg_try_advisory_xact_lock(${key}) AS locked`)
  return row?.locked === true
}

/** A text column compared and sorted by bytes, whatever the language of the database. */
export function byteOrder({ engine }: Queries, column: string): string {
  return engine === 'sqlite' ? column : `${column} COLLATE "C"`
}

/** Picks the implementation for the engine, where one statement for both would be too slow. */
export function byEngine<T>({ engine }: Queries, choices: Readonly<Record<Engine, T>>): T {
  return choices[engine]
}

/** How many transactions can usefully write at the same time. */
export function parallelWriters({ engine }: Queries): number {
  return engine === 'sqlite' ? 1 : 4
}

export interface RowMove {
  /** The table, the rows (`hour < ?`) and their columns. */
  readonly from: string
  readonly where: string
  readonly columns: string
  readonly values: readonly Value[]
  /** Builds the INSERT that reads the removed rows from `source`. */
  readonly insert: (source: string) => string
}

/** Deletes rows and inserts what is computed from them. Two processes never process the same row. */
export async function moveRows(tx: Tx, { from, where, columns, values, insert }: RowMove): Promise<void> {
  if (tx.engine === 'postgres') {
    const moved = `WITH moved AS (DELETE FROM ${from} WHERE ${where} RETURNING ${columns})`
    await tx.run(`${moved} ${insert('moved')}`, values)
    return
  }
  await tx.run(insert(`(SELECT ${columns} FROM ${from} WHERE ${where})`), values)
  await tx.run(`DELETE FROM ${from} WHERE ${where}`, values)
}

/** SQLite: too big, constraint, wrong type. PostgreSQL: classes 22 (data) and 23 (constraint). */
const rejectedBySqlite = new Set([18, 19, 20])
const rejectedByPostgres = /^2[23]/

/** Whether a statement failed because of its values, as distinct from the state of the database. */
export function isRejectedData(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error) return rejectedBySqlite.has(Number(error.errcode) & 0xff)
  return 'code' in error && rejectedByPostgres.test(String(error.code))
}
