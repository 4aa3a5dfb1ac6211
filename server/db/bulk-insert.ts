// Many rows into one table with few statements: stepping through a statement for each row costs more than the row does.
//
// A job in which one of these fails has failed: some of the rows may be there until the job is rolled back.
import type { Tx, Value } from './database.ts'

export interface Insertion {
  /** `INSERT INTO link_code (place, link_id)`. */
  readonly into: string
  /** One row as SQL: `(?, ?)`. */
  readonly row: string
  /** What follows the rows: `ON CONFLICT (code) DO NOTHING`. */
  readonly end?: string
}

/** Texts are prepared once, so there are not all sizes; two or three statements carry what one commit brings. */
const sizes = [64, 56, 48, 40, 32, 24, 16, 8, 4, 2, 1]

/** Tells how many rows went in. */
export async function insertRows(
  tx: Tx,
  insertion: Insertion,
  rows: readonly (readonly Value[])[],
): Promise<number> {
  let inserted = 0
  for (const { sql, values } of statements(tx, insertion, rows)) inserted += await tx.run(sql, values)
  return inserted
}

/** For a table with an identity `id`: tells the ids, in the order of the rows. */
export async function insertRowsWithIds(
  tx: Tx,
  insertion: Insertion,
  rows: readonly (readonly Value[])[],
): Promise<number[]> {
  const ids: number[] = []
  for (const { sql, values, size } of statements(tx, insertion, rows)) {
    if (tx.engine === 'postgres') {
      for (const { id } of await tx.all<{ id: number }>(`${sql} RETURNING id`, values)) ids.push(id)
    } else {
      // One statement, one writer: the ids follow one another.
      const last = await tx.insert(sql, values)
      for (let id = last - size + 1; id <= last; id += 1) ids.push(id)
    }
  }
  return ids
}

function* statements({ engine }: Tx, insertion: Insertion, rows: readonly (readonly Value[])[]) {
  for (let at = 0; at < rows.length;) {
    const size = sizes.find((one) => one <= rows.length - at) ?? 1
    const values: Value[] = []
    for (let i = at; i < at + size; i += 1) for (const value of rows[i]!) values.push(value)
    yield { sql: textOf(engine, insertion, size), values, size }
    at += size
  }
}

const texts = {
  sqlite: new WeakMap<Insertion, Map<number, string>>(),
  postgres: new WeakMap<Insertion, Map<number, string>>(),
}

function textOf(engine: Tx['engine'], insertion: Insertion, size: number): string {
  let ofThis = texts[engine].get(insertion)
  if (!ofThis) {
    ofThis = new Map()
    texts[engine].set(insertion, ofThis)
  }
  let text = ofThis.get(size)
  if (text === undefined) {
    // Being ready to undo one statement by itself, SQLite copies every page it touches, and into a file when they are many.
    const into = engine === 'sqlite' ? insertion.into.replace('INSERT', 'INSERT OR FAIL') : insertion.into
    text = `${into} VALUES ${Array<string>(size).fill(insertion.row).join(', ')} ${insertion.end ?? ''}`
    ofThis.set(size, text)
  }
  return text
}
