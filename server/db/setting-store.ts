// Facts about the installation, by name.
import type { Queries, Tx } from './database.ts'
import type { Tables } from './schema.ts'

export async function findSetting(queries: Queries, name: string): Promise<string | undefined> {
  const row = await queries.one<Pick<Tables['setting'], 'value'>>(
    'SELECT value FROM setting WHERE name = ?',
    [name],
  )
  return row?.value
}

/** Keeps an existing value. */
export async function insertSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx.run('INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING', [name, value])
}

export async function putSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx.run(
    'INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    [name, value],
  )
}
