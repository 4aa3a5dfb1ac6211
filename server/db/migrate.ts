// Brings the schema up to date at start: the same list for both engines, one transaction, under a lock.
import type { Text } from '../../contract/text.ts'
import project from '../../package.json' with { type: 'json' }
import type { Database, Queries } from './database.ts'
import { byEngine, lock } from './dialect.ts'
import { migrations } from './migrations/list.ts'
import { columnTypes, type Migration } from './migrations/migration.ts'
import type { Tables } from './schema.ts'

/** Any number, as long as every process uses the same one. */
export const migrationLock = 7_402_318

/** Applies the missing migrations and returns their names. Without any it only reads: then a role needs no right to create. */
export async function migrate(db: Database): Promise<readonly string[]> {
  return db.write(async (tx) => {
    // An index of a large table takes longer than any other statement, and other processes wait for it here.
    await tx.removeTimeLimit()
    await lock(tx, migrationLock)
    const applied = await findAppliedMigrations(tx)
    if (!applied) {
      await tx.run('CREATE TABLE migration (name text PRIMARY KEY, applied_at bigint NOT NULL)')
    }
    const problem = await findSchemaProblem(tx, applied ?? [])
    if (problem) throw new SchemaMismatch(problem)
    const missing = migrations.filter(({ name }) => !applied?.includes(name))
    for (const migration of missing) await migration.run(tx, columnTypes[tx.engine])
    // Afterwards, because one of them adds the column.
    for (const { name } of missing) {
      await tx.run('INSERT INTO migration (name, applied_at, oldest_version) VALUES (?, ?, ?)', [
        name,
        Date.now(),
        oldestVersionAt(migrations, name),
      ])
    }
    return missing.map(({ name }) => name)
  })
}

/** The names in the database, or undefined when it has no schema yet. */
export async function findAppliedMigrations(queries: Queries): Promise<readonly string[] | undefined> {
  const found = await queries.one<{ name: string | null }>(
    byEngine(queries, {
      sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migration'`,
      postgres: `SELECT CAST(to_regclass('migration') AS text) AS name`,
    }),
  )
  if (!found?.name) return undefined
  const rows = await queries.all<Pick<Tables['migration'], 'name'>>('SELECT name FROM migration')
  return rows.map(({ name }) => name)
}

/** The first version of the present list of migrations. */
const firstVersion = '0.2.0'

/** The oldest version that works with the schema after this migration. */
export function oldestVersionAt(list: readonly Migration[], name: string): string {
  const upTo = list.slice(0, list.findIndex((migration) => migration.name === name) + 1)
  return upTo.findLast(({ oldestVersion }) => oldestVersion !== undefined)?.oldestVersion ?? firstVersion
}

/** The first migration of the development versions before 0.2.0, which started over with the present list. */
const firstOldMigration = '0001-foundation'

/** Why this version cannot work on a database with these migrations; undefined when it can. */
export async function findSchemaProblem(
  queries: Queries,
  applied: readonly string[],
): Promise<Text | undefined> {
  if (applied.includes(firstOldMigration)) {
    return {
      zh: '数据库由开发版本创建，最后能读取它的版本是 0.1.0',
      en: 'the database was created by a development version; the last version that can read it is 0.1.0',
    }
  }
  const known = new Set(migrations.map(({ name }) => name))
  if (applied.every((name) => known.has(name))) return undefined
  const rows = await queries.all<Pick<Tables['migration'], 'name' | 'oldest_version'>>(
    'SELECT name, oldest_version FROM migration ORDER BY name',
  )
  const breaking = rows.filter(
    ({ name, oldest_version: oldest }) =>
      !known.has(name) && (oldest === null || isNewer(oldest, project.version)),
  )
  if (breaking.length === 0) return undefined
  const names = breaking.map(({ name }) => name).join(', ')
  return {
    zh: `数据库由更新的版本升级过：${names}`,
    en: `the database was migrated by a newer version (${names})`,
  }
}

/** Compares `1.2.3` by its numbers. */
export function isNewer(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split(/[.+-]/).slice(0, 3).map(Number))
  const index = [0, 1, 2].find((part) => a![part] !== b![part])
  return index !== undefined && !(a![index]! < b![index]!)
}

export class SchemaMismatch extends Error {
  readonly text: Text

  constructor(text: Text) {
    super(text.en)
    this.name = 'SchemaMismatch'
    this.text = text
  }
}
