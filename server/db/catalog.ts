// What the engines' system catalogs know about our tables.
import type { Engine, Queries, Tx } from './database.ts'
import type { Tables } from './schema.ts'

/** In the order of creation, so that a table follows those it references. Unlogged tables need no backup. */
const tableQueries: Readonly<Record<Engine, string>> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid`,
  postgres: `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relpersistence = 'p'
    AND relnamespace = current_schema()::regnamespace ORDER BY oid`,
}

/** Facts about the installation itself, which no backup contains. */
const excluded = new Set(['migration', 'service_process'])

/** The tables of a backup. */
export async function listTables(queries: Pick<Queries, 'engine' | 'all'>): Promise<string[]> {
  const rows = await queries.all<{ name: string }>(tableQueries[queries.engine])
  return rows.map(({ name }) => name).filter((name) => !excluded.has(name))
}

const columnQueries: Readonly<Record<Engine, string>> = {
  sqlite: 'SELECT name FROM pragma_table_info(?)',
  postgres: `SELECT column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ?`,
}

export async function listColumns(
  queries: Pick<Queries, 'engine' | 'all'>,
  table: string,
): Promise<string[]> {
  const rows = await queries.all<{ name: string }>(columnQueries[queries.engine], [table])
  return rows.map(({ name }) => name)
}

export async function listMigrations(queries: Pick<Queries, 'all'>): Promise<string[]> {
  const rows = await queries.all<Pick<Tables['migration'], 'name'>>(
    'SELECT name FROM migration ORDER BY name',
  )
  return rows.map(({ name }) => name)
}

/** After ids were inserted explicitly: the next generated id follows the largest. SQLite does this itself. */
export async function advanceIdentities(tx: Tx, tables: readonly string[]): Promise<void> {
  if (tx.engine === 'sqlite') return
  for (const table of tables) {
    const column = await tx.one<{ sequence: string | null }>(
      `SELECT pg_get_serial_sequence(CAST(? AS text), 'id') AS sequence FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name = ? AND column_name = 'id'`,
      [table, table],
    )
    if (!column?.sequence) continue
    await tx.all(
      `SELECT setval(CAST(? AS regclass), COALESCE((SELECT MAX(id) FROM "${table}"), 0) + 1, false)`,
      [column.sequence],
    )
  }
}
