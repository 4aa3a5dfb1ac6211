// Inserts many rows with few statements: executing a statement costs more than inserting a row.
//
// A job in which an insert fails has failed: some of its rows may exist until the job is rolled back.
import type { Tx, Value } from './database.ts'
import { type ArrayType, unnest } from './dialect.ts'
import type { Tables } from './schema.ts'

export interface BulkInsert<R extends object> {
  readonly columns: Readonly<Record<string, ArrayType>>
  /** The row type; no value. */
  readonly row?: R
  readonly names: readonly (keyof R & string)[]
  /** The statement by number of rows; PostgreSQL needs one for any number. */
  sqliteText(rows: number): string
  readonly postgresText: string
}

/** Describes the insert once, as a constant of a store: its statements are prepared once. */
export function bulkInsert<T extends keyof Tables, C extends keyof Tables[T] & string>(
  table: T,
  columns: Readonly<Record<C, ArrayType>>,
  onConflict = '',
): BulkInsert<Pick<Tables[T], C>> {
  const names = Object.keys(columns) as C[]
  const into = `INTO ${table} (${names.join(', ')})`
  const row = `(${names.map(() => '?').join(', ')})`
  const texts: string[] = []
  return {
    columns,
    names,
    sqliteText: (rows) =>
      // To be able to undo one statement, SQLite copies every page it changes; OR FAIL leaves that to the job.
      (texts[rows] ??=
        `INSERT OR FAIL ${into} VALUES ${Array<string>(rows).fill(row).join(', ')} ${onConflict}`),
    postgresText: `INSERT ${into} SELECT * FROM ${unnest(columns, []).sql} AS list ${onConflict}`,
  }
}

/** Each size is a statement to prepare, so there are only some. */
const sqliteSizes = [64, 56, 48, 40, 32, 24, 16, 8, 4, 2, 1]

/** Returns how many rows were inserted. */
export async function insertRows<R extends object>(
  tx: Tx,
  insert: BulkInsert<R>,
  rows: readonly R[],
): Promise<number> {
  if (rows.length === 0) return 0
  if (tx.engine === 'postgres') return tx.run(insert.postgresText, arraysOf(insert, rows))
  let inserted = 0
  for (const { sql, values } of sqliteStatements(insert, rows)) inserted += await tx.run(sql, values)
  return inserted
}

/** For a table with an identity `id`: returns the ids, in the order of the rows. */
export async function insertRowsReturningIds<R extends object>(
  tx: Tx,
  insert: BulkInsert<R>,
  rows: readonly R[],
): Promise<number[]> {
  if (rows.length === 0) return []
  if (tx.engine === 'postgres') {
    const inserted = await tx.all<{ id: number }>(
      `${insert.postgresText} RETURNING id`,
      arraysOf(insert, rows),
    )
    return inserted.map(({ id }) => id)
  }
  const ids: number[] = []
  for (const { sql, values, size } of sqliteStatements(insert, rows)) {
    // There is one writer, so the ids of one statement are consecutive.
    const last = await tx.insert(sql, values)
    for (let id = last - size + 1; id <= last; id += 1) ids.push(id)
  }
  return ids
}

function arraysOf<R extends object>({ columns }: BulkInsert<R>, rows: readonly R[]): readonly Value[] {
  return unnest(columns, rows as readonly Readonly<Record<string, string | number | null>>[]).values
}

function* sqliteStatements<R extends object>(insert: BulkInsert<R>, rows: readonly R[]) {
  for (let start = 0; start < rows.length;) {
    const size = sqliteSizes.find((candidate) => candidate <= rows.length - start) ?? 1
    const values: Value[] = []
    for (let i = start; i < start + size; i += 1) {
      for (const name of insert.names) values.push(rows[i]![name] as Value)
    }
    yield { sql: insert.sqliteText(size), values, size }
    start += size
  }
}
