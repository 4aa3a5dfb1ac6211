// Inserts a row into any table: columns without a default get some value.
import type { Tx, Value } from '../../server/db/database.ts'

interface Column {
  readonly name: string
  readonly type: string
}

const requiredColumns = {
  sqlite: `SELECT name, type FROM pragma_table_info(?)
    WHERE dflt_value IS NULL AND ("notnull" = 1 OR pk > 0) AND name || lower(type) <> 'idinteger'`,
  postgres: `SELECT column_name AS name, data_type AS type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ? AND is_nullable = 'NO' AND column_default IS NULL
      AND is_identity = 'NO'`,
}

/** Texts are the label, times are `at`, other numbers the length of the label; the account is 1. */
export async function insertRow(
  tx: Tx,
  table: string,
  row: { readonly label: string; readonly at: number; readonly values?: Readonly<Record<string, Value>> },
): Promise<void> {
  const { label, at } = row
  const all: Record<string, Value> = {}
  for (const { name, type } of await tx.all<Column>(requiredColumns[tx.engine], [table])) {
    const isTime = name === 'at' || name.endsWith('_at')
    const number = name === 'account_id' ? 1 : label.length
    all[name] = /text|char/i.test(type) ? label : isTime ? at : number
  }
  Object.assign(all, row.values)
  const names = Object.keys(all)
  await tx.run(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(all),
  )
}
